"""The ignored paths of all working trees that a process looks after."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.errors import InputError
from commonhold.machine import file_stamps
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore.tree import IgnoredPaths

IsIgnored = Callable[[str, str], bool]
"""Whether a path in the working tree at a root is ignored."""
_SETTINGS: Final = ("commonhold.toml", "pyproject.toml")


@dataclass(slots=True)
class _Known:
    """The paths that the settings ignore. `seen`: the stamps of their files then; None: stamps show no change."""

    patterns: tuple[str, ...]
    paths: IgnoredPaths
    seen: file_stamps.Stamps | None = None


class Ignoring:
    """Decides for any working tree. Many threads may ask at once."""

    def __init__(self, patterns_of: Callable[[str], Sequence[str]]) -> None:
        """Read from `patterns_of` the patterns that the settings of the working tree at a root ignore."""
        self._patterns_of = patterns_of
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}

    def is_ignored(self, root: str, path: str) -> bool:
        """Whether the path inside the working tree at `root` is ignored."""
        with self._lock:
            return self._paths(root).is_ignored(path)

    def _paths(self, root: str) -> IgnoredPaths:
        known = self._known.get(root)
        now = file_stamps.behind(os.path.join(root, name) for name in _SETTINGS)
        if known is None or known.seen != now:
            at = time.time_ns()
            patterns = tuple(self._patterns(root))
            if known is None or known.patterns != patterns:
                git = Git(root) if os.path.exists(os.path.join(root, ".git")) else None
                known = self._known[root] = _Known(patterns, IgnoredPaths(root, git, patterns))
            known.seen = file_stamps.all_settled(now, at)
        return known.paths

    def _patterns(self, root: str) -> Sequence[str]:
        try:
            return self._patterns_of(root)
        except InputError:  # settings that cannot be read ignore nothing: a session must be able to repair them
            return ()
