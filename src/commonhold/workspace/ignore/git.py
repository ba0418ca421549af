"""The paths that git ignores, found without starting git for each path."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Final

from commonhold.machine import file_stamps
from commonhold.workspace import generated_folders
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore.rules import NOTHING, Patterns, RuleFile, Says

_RULES: Final = ".gitignore"


class GitIgnored:
    """The paths that git ignores in one working tree. It ignores no tracked path, whatever the rules say."""

    def __init__(self, git: Git) -> None:
        """Ask `git` for its paths, and for the files that it tracks against its own rules."""
        self._git = git
        asked = ("rev-parse", "--git-path", "index", "--git-path", "info/exclude")
        index, own = (os.path.join(git.root, each) for each in os.fsdecode(git.ask(*asked)).splitlines())
        self._index = index
        self.ignores_case = git.line("config", "--type=bool", "--get", "core.ignoreCase") == "true"
        self._last = [self._file(own), self._file(_users_own(git))]
        self._by_folder: dict[str, RuleFile] = {}
        self._tracked: tuple[file_stamps.Stamp | None, frozenset[str]] | None = None

    def on_the_way_to(self, path: str) -> Says:
        """Return the verdict of git's rules on a path, and on each folder that contains it."""
        # Each with the folder that it counts from; the first to decide wins.
        ends = [index + 1 for index, char in enumerate(path.rstrip("/")) if char == "/"]
        rules: list[tuple[str, Patterns]] = []
        for folder in (path[:end] for end in (*reversed(ends), 0)):
            if folder not in self._by_folder:
                self._by_folder[folder] = self._file(os.path.join(self._git.root, folder, _RULES))
            rules.append((folder, self._by_folder[folder].patterns()))
        rules += [("", last.patterns()) for last in self._last]
        return partial(_verdict, [each for each in rules if each[1] is not NOTHING])

    def is_tracked(self, path: str) -> bool:
        """Whether git tracks a path that is ignored by a rule or its folder's name; of a folder, something in it."""
        tracked = self._tracked_all_the_same()
        return any(each.startswith(path) for each in tracked) if path.endswith("/") else path in tracked

    def _file(self, place: str) -> RuleFile:
        return RuleFile(place, ignores_case=self.ignores_case)

    def _tracked_all_the_same(self) -> frozenset[str]:
        """Return the paths in the index that a rule ignores: seldom any. Git is asked again when the index changed."""
        now = file_stamps.at(self._index)
        if self._tracked is None or now is None or self._tracked[0] != now:
            words = ("ls-files", "-z", "--cached", "--ignored", *generated_folders.TOLD_TO_GIT, "--exclude-standard")
            listed = os.fsdecode(self._git.ask(*words))
            self._tracked = now, frozenset(filter(None, listed.split("\0")))
        return self._tracked[1]


def _verdict(rules: Sequence[tuple[str, Patterns]], path: str) -> bool | None:
    """The nearest folder's rules decide, then those of the repository, then those of the user."""
    for folder, patterns in rules:
        if path.startswith(folder) and path != folder:
            found = patterns.verdict(path.removeprefix(folder))
            if found is not None:
                return found
    return None


def _users_own(git: Git) -> str:
    """Return the file with the user's own ignore rules for all repositories."""
    named = git.line("config", "--type=path", "--get", "core.excludesFile")
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return named or os.path.join(home, "git", "ignore")
