"""Commonhold inside frameworks for building agents: each needs an extra, and its users import it."""
