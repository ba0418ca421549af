"""The working tree of a repository: its files, its git, the paths that count and their changes."""
