"""The embedded store: SQLite in the repository's own state folder."""

from commonhold.adapters.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
