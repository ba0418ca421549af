"""Coding agents: for each a data entry and a small adapter that reads its hooks' payloads and writes the replies."""
