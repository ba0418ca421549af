"""Coordinate the git calls of agents' sessions."""
