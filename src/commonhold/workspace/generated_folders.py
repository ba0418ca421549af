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
"""Their names. Tracked files in such a folder count all the same, and so do files that a rule names with `!`."""
PATTERNS: Final = tuple(f"{name}/" for name in sorted(FOLDERS))
"""The same, as in `.gitignore`."""
TOLD_TO_GIT: Final = tuple(f"--exclude={pattern}" for pattern in PATTERNS)
"""The same for `git ls-files`, to which later words take precedence over these."""


def not_made(folders: Iterable[str]) -> list[str]:
    """Return those of some folders that are no such folder, and in none."""
    return [path for path in folders if FOLDERS.isdisjoint(path.split("/"))]
