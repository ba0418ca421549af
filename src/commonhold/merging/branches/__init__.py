"""Merge and check whole branches."""
