"""Bytes in, regions out. Pure; nothing here opens a file."""
