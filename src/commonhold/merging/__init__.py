"""Merge three versions of a file into one program, or give the reasons against it. Pure: nothing here opens a file."""
