"""Coding agents: for each a data entry and a small adapter that reads what its hooks send and writes what they want."""
