"""Tasks: the units of work that agents share, and which of them is whose."""
