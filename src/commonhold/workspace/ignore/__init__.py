"""Ignored paths: build output, caches, generated files."""

from commonhold.workspace.ignore.everywhere import Ignoring, IsIgnored
from commonhold.workspace.ignore.tree import IgnoredPaths

__all__ = ["IgnoredPaths", "Ignoring", "IsIgnored"]
