"""Leases: the decisions, and the use cases around them."""
