"""Ignored paths: build output, caches, generated files."""

from commonhold.adapters.ignoring.everywhere import Ignoring, IsIgnored
from commonhold.adapters.ignoring.tree import IgnoredPaths

__all__ = ["IgnoredPaths", "Ignoring", "IsIgnored"]
