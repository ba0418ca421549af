"""The embedded store: SQLite in the repository's own state folder."""
