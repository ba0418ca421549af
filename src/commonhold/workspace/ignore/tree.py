"""The ignored paths of one working tree."""

from collections.abc import Sequence
from typing import Final

from commonhold.workspace import generated_folders
from commonhold.workspace.files.canonical_paths import RESERVED
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore.git import GitIgnored
from commonhold.workspace.ignore.own import OwnRules
from commonhold.workspace.ignore.rules import Patterns, Says, walked

_MADE: Final = Patterns(generated_folders.PATTERNS)


class IgnoredPaths:
    """The ignored paths of the working tree at `root`.

    The file `.commonholdignore` decides, then `patterns`, both as in `.gitignore`; of paths that they do not name,
    those that git ignores are ignored, and folders that tools fill, unless git tracks their content. So a pattern that
    begins with `!` includes those.
    """

    def __init__(self, root: str, git: Git | None, patterns: Sequence[str] = ()) -> None:
        """Decide for `root`; `git` is None if there is none."""
        self._git = GitIgnored(git) if git else None
        self._own = OwnRules(root, patterns, ignores_case=self._git is not None and self._git.ignores_case)

    def is_ignored(self, path: str) -> bool:
        """Whether a path from the root is ignored. A folder's ends in `/`. It need not exist."""
        if path.split("/", 1)[0].casefold() in RESERVED or self._own.is_ignored(path):
            return True
        if self._git is None:
            return bool(walked(path, self._says(_MADE.verdict)))
        of_git = self._git.on_the_way_to(path)
        return bool(walked(path, self._says(_MADE.verdict, of_git))) and not self._git.is_tracked(path)

    def _says(self, *others: Says) -> Says:
        """The verdict of the project's own rules, else the first of others."""

        def says(path: str) -> bool | None:
            verdicts = (each(path) for each in (self._own.verdict, *others))
            return next((found for found in verdicts if found is not None), None)

        return says
