"""The only room that knows JSON."""
