"""Commands as words: what a line of shell, or a call of git, reads and writes. Pure."""
