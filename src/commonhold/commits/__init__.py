"""Commits: validated at the write, all or nothing; and the records of all other writes."""
