"""Queries to git: always by its own commands, never by reading its files."""
