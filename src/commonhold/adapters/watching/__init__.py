"""Watching a working tree: which files became other, whoever did it."""

from commonhold.adapters.watching.watcher import Burst, Changed, Watcher

__all__ = ["Burst", "Changed", "Watcher"]
