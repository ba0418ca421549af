"""Commonhold inside the frameworks that agents are built with: each needs an extra and is loaded by its users."""
