"""The ignored paths of one working tree."""

import os
from collections.abc import Sequence
from functools import partial

from commonhold.adapters.files.locating import RESERVED
from commonhold.adapters.git.running import Git
from commonhold.adapters.ignoring.git import GitIgnored
from commonhold.adapters.ignoring.rules import Patterns, RuleFile, walked
from commonhold.adapters.survey.listed import IGNORE_FILE


class IgnoredPaths:
    """What is nobody's concern in the working tree at `root`.

    The file `.commonholdignore` decides, then `patterns`, both as in `.gitignore`; of what they do not name, what git
    ignores is ignored. So a pattern that begins with `!` makes a concern of what git ignores.
    """

    def __init__(self, root: str, git: Git | None, patterns: Sequence[str] = ()) -> None:
        """Decide for `root`; `git` is None where there is none."""
        self._file = RuleFile(os.path.join(root, IGNORE_FILE))
        self._patterns = Patterns(patterns)
        self._git = GitIgnored(git) if git else None

    def is_ignored(self, path: str) -> bool:
        """Whether a path from the root is nobody's concern. A folder's ends in `/`. It need not be there."""
        if path.split("/", 1)[0].casefold() in RESERVED:
            return True
        verdict = walked(path, partial(self._own, self._file.patterns()))
        if verdict is None and self._git is not None:
            return self._git.is_ignored(path)
        return bool(verdict)

    def _own(self, first: Patterns, path: str) -> bool | None:
        found = first.verdict(path)
        return self._patterns.verdict(path) if found is None else found
