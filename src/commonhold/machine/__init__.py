"""The machine that this process runs on: its clock, its files, its other processes."""
