"""Managed sessions: their queue, and the decisions about their states."""
