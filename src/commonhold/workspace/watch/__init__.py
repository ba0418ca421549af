"""Watch a working tree for changed files, whatever program changes them."""

from commonhold.workspace.watch.watcher import Burst, Changed, Watcher

__all__ = ["Burst", "Changed", "Watcher"]
