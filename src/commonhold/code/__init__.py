"""The code of files. Pure: bytes in, regions and their dependencies out."""
