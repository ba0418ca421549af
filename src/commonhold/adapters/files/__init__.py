"""The working tree: safe paths, durable replacement, undo."""

from commonhold.adapters.files.working_tree import WorkingTree

__all__ = ["WorkingTree"]
