"""The ignored paths of one working tree."""

from collections.abc import Sequence

from commonhold.adapters.files.locating import RESERVED
from commonhold.adapters.git.running import Git
from commonhold.adapters.ignoring.git import GitIgnored
from commonhold.adapters.ignoring.own import OwnRules
from commonhold.adapters.ignoring.rules import Says, walked


class IgnoredPaths:
    """What is nobody's concern in the working tree at `root`.

    The file `.commonholdignore` decides, then `patterns`, both as in `.gitignore`; of what they do not name, what git
    ignores is ignored. So a pattern that begins with `!` makes a concern of what git ignores.
    """

    def __init__(self, root: str, git: Git | None, patterns: Sequence[str] = ()) -> None:
        """Decide for `root`; `git` is None where there is none."""
        self._git = GitIgnored(git) if git else None
        self._own = OwnRules(root, patterns, ignores_case=self._git is not None and self._git.ignores_case)

    def is_ignored(self, path: str) -> bool:
        """Whether a path from the root is nobody's concern. A folder's ends in `/`. It need not be there."""
        if path.split("/", 1)[0].casefold() in RESERVED or self._own.is_ignored(path):
            return True
        return self._git is not None and self._is_left_to_git(path, self._git.on_the_way_to(path))

    def _is_left_to_git(self, path: str, of_git: Says) -> bool:
        def says(each: str) -> bool | None:
            found = self._own.verdict(each)
            return of_git(each) if found is None else found

        return bool(walked(path, says)) and self._git is not None and not self._git.is_tracked(path)
