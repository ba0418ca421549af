"""The working tree: safe paths, durable replacement, undo."""

from commonhold.workspace.files.working_tree import WorkingTree

__all__ = ["WorkingTree"]
