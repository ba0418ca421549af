"""Folders that tools fill: dependencies, environments, caches. No one edits there, ignored by git or not."""

from collections.abc import Iterable
from typing import Final

FOLDERS: Final = frozenset(
    {
        *("node_modules", "bower_components", ".next", ".nuxt", ".gradle", ".terraform"),
        *(".venv", "venv", ".tox", ".nox"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
    }
)
"""Their names. What git tracks in one counts all the same, and so does what the project's own rules name with `!`."""
PATTERNS: Final = tuple(f"{name}/" for name in sorted(FOLDERS))
"""The same, as in `.gitignore`."""
TOLD_TO_GIT: Final = tuple(f"--exclude={pattern}" for pattern in PATTERNS)
"""The same for `git ls-files`, which heeds later words before these."""


def not_made(folders: Iterable[str]) -> list[str]:
    """Those of some folders that are no such folder, and in none."""
    return [path for path in folders if FOLDERS.isdisjoint(path.split("/"))]
