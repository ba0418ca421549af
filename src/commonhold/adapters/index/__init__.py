"""The index on disk: summaries of files by the hash of their content, and which file of which state has which."""

from commonhold.adapters.index.index import SqliteIndex

__all__ = ["SqliteIndex"]
