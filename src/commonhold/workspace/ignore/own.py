"""A project's own rules, beside git: the file of ignored paths, and the patterns in its settings."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from commonhold.workspace.ignore.rules import Patterns, RuleFile, walked

IGNORE_FILE: Final = ".commonholdignore"
MOST_BYTES: Final = 100_000
"""A longer file is no list of patterns; this much can be passed to git."""


class OwnRules:
    """The rules of the working tree at `root`: the file decides before the settings, both as in `.gitignore`."""

    def __init__(self, root: str, patterns: Sequence[str] = (), *, ignores_case: bool = False) -> None:
        """Take `patterns` from the settings."""
        self._file = RuleFile(os.path.join(root, IGNORE_FILE), ignores_case=ignores_case, most_bytes=MOST_BYTES)
        self._patterns = Patterns(patterns, ignores_case=ignores_case)

    def verdict(self, path: str) -> bool | None:
        """Return their verdict on one path alone, whatever folder it is in. A folder's path ends in `/`."""
        found = self._file.patterns().verdict(path)
        return self._patterns.verdict(path) if found is None else found

    def is_ignored(self, path: str) -> bool:
        """Whether they ignore a path, or a folder that it lies in."""
        return bool(walked(path, self.verdict))

    def has_exceptions(self) -> bool:
        """Whether a pattern may include a file that git ignores."""
        return any(line.startswith("!") for line in (*self._patterns.lines, *self._file.patterns().lines))

    def told_to_git(self) -> Iterator[str]:
        """Yield the same rules, so that git applies them before its own: of those that match, the last decides."""
        for line in (*self._patterns.lines, *self._file.patterns().lines):
            yield f"--exclude={line}"
