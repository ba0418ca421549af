"""Coordinate running agents: answer their hooks, and restrict and record their shell commands."""
