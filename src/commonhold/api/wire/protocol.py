"""What both ends of the daemon's socket must agree on, whichever codec they use."""

PROTOCOL = 2
HELLO = "hello"
"""The method of the first request."""
