"""Find the files of a working tree that count."""
