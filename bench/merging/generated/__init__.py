"""Merges by the thousand: two typed edits of a file are merged, and the front end of its language judges the result."""
