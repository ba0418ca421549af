"""The ignored paths of all working trees that a process looks after."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Final

from commonhold.adapters.git.running import Git
from commonhold.adapters.ignoring.tree import IgnoredPaths
from commonhold.adapters.index import stamps
from commonhold.domain.errors import InputError

_SETTINGS: Final = ("commonhold.toml", "pyproject.toml")


class Ignoring:
    """Decides for any working tree. Many threads may ask at once."""

    def __init__(self, patterns_of: Callable[[str], Sequence[str]]) -> None:
        """Take from `patterns_of` what the settings of the working tree at a root leave out."""
        self._patterns_of = patterns_of
        self._lock = threading.Lock()
        self._known: dict[str, tuple[list[stamps.Stamp | None], IgnoredPaths]] = {}

    def is_ignored(self, root: str, path: str) -> bool:
        """Whether the path inside the working tree at `root` is nobody's concern."""
        with self._lock:
            return self._paths(root).is_ignored(path)

    def _paths(self, root: str) -> IgnoredPaths:
        now = [stamps.at(os.path.join(root, name)) for name in _SETTINGS]
        if root not in self._known or self._known[root][0] != now:
            git = Git(root) if os.path.exists(os.path.join(root, ".git")) else None
            self._known[root] = now, IgnoredPaths(root, git, self._patterns(root))
        return self._known[root][1]

    def _patterns(self, root: str) -> Sequence[str]:
        try:
            return self._patterns_of(root)
        except InputError:  # settings that cannot be read leave nothing out: whoever mends them must be let do so
            return ()
