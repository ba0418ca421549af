"""Links in a private tree to the ignored files of a working tree: kept in step from one commit to the next."""

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

from commonhold.workspace.generated_folders import FOLDERS, TOLD_TO_GIT
from commonhold.workspace.git.process import Git

_LISTED: Final = ("ls-files", "-z", "--others", "--ignored", *TOLD_TO_GIT, "--exclude-standard", "--directory")
_AS_IT_IS: Final = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")
RULES: Final = ".gitignore"


class IgnoredLinks:
    """The links that a private tree must have, for one commit. Paths count from either root."""

    def __init__(self, there: str, here: str, settings_there: Mapping[str, str], settings: Mapping[str, str]) -> None:
        """Link from the tree at `here` to the ignored files of the one at `there`.

        Git uses either tree with the index that its settings name: files in that index are not ignored.
        """
        self._there = there
        self._here = here
        self._settings_there = settings_there
        self._settings = settings

    @cached_property
    def _listed(self) -> list[str]:
        """Return the ignored paths there; for a folder with only such paths, the folder, with a slash at the end."""
        done = Git(self._there).run(*_AS_IT_IS, *_LISTED, settings=self._settings_there)
        return [os.fsdecode(each) for each in done.stdout.split(b"\0") if each]

    @cached_property
    def _wanted(self) -> set[str]:
        """The links that are made at first: in a folder, to each thing that is in it."""
        return {each for path in self._listed for each in self._links(path)}

    @cached_property
    def _folders(self) -> set[str]:
        """The folders that those are in, which are no links themselves."""
        found = {path.rstrip("/") for path in self._listed if path.endswith("/")}
        for path in self._listed:
            found.update(map(str, Path(path).parents))
        return found

    def _links(self, path: str) -> list[str]:
        if not path.endswith("/"):
            return [path]
        try:
            return [f"{path}{name}" for name in os.listdir(os.path.join(self._there, path)) if name != ".git"]
        except OSError:  # it is gone by now
            return []

    def clear(self, others: Iterable[str]) -> None:
        """Remove all files that the index here does not have, except correct links.

        `others` are those files, as git lists them: for a folder without any known file, the folder, with a slash at
        the end.
        """
        for path in others:
            self._clear(path.rstrip("/"))

    def _clear(self, path: str) -> None:
        place = os.path.join(self._here, path)
        if os.path.isdir(place) and not os.path.islink(place):
            if path not in self._folders:
                shutil.rmtree(place)
                return
            for name in os.listdir(place):
                self._clear(f"{path}/{name}")
        elif path not in self._wanted or not self._is_right(path):
            with suppress(FileNotFoundError):
                os.unlink(place)

    def _is_right(self, path: str) -> bool:
        try:
            return os.readlink(os.path.join(self._here, path)) == os.path.join(self._there, path)
        except OSError:
            return False

    def make(self) -> None:
        """Make the missing links. Files that the tree here has itself are not touched."""
        for path in self._listed:
            if path.endswith("/"):
                with suppress(OSError):
                    os.makedirs(os.path.join(self._here, path), exist_ok=True)
                    self._shut(path)
        made = [path for path in self._wanted if self._is_made(path)]
        while made:
            # A rule for folders alone (`build/`) does not ignore a link: then the content of the folder is linked.
            folders = self._not_ignored(made)
            for path in folders:
                os.unlink(os.path.join(self._here, path))
            deeper = (each for path in folders for each in self._links(f"{path}/"))
            made = [each for each in deeper if self._is_made(each)]

    def _shut(self, path: str) -> None:
        """Make git ignore the links in a folder that tools fill, which it may not ignore in the other tree."""
        rules = os.path.join(path, RULES)
        is_made = os.path.basename(path.rstrip("/")) in FOLDERS
        if is_made and not os.path.lexists(os.path.join(self._there, rules)):
            Path(self._here, rules).write_text("*\n", encoding="utf-8")

    def _is_made(self, path: str) -> bool:
        """Whether there is a link now; any other file in its place stays."""
        place, there = os.path.join(self._here, path), os.path.join(self._there, path)
        try:
            if os.path.lexists(place):
                return self._is_right(path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if os.path.basename(path) == RULES:  # git follows no link to these
                shutil.copyfile(there, place)
                return False
            os.symlink(there, place)
        except OSError:  # it is gone by now, or a file of the index is in its place
            return False
        return True

    def _not_ignored(self, links: Iterable[str]) -> list[str]:
        """Return the links that git would take for untracked files."""
        given = b"".join(os.fsencode(path) + b"\0" for path in links)
        done = Git(self._here).run("check-ignore", "-z", "--stdin", given=given, settings=self._settings)
        ignored = {os.fsdecode(each) for each in done.stdout.split(b"\0") if each}
        return [path for path in links if path not in ignored]
