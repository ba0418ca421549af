"""The working tree as a library: changed files are read, all others are known by their stamps."""

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

import apsw

from commonhold.code.indexes import Progress, silent
from commonhold.index.cache import NONE
from commonhold.index.snapshot import Shelved, SteadyLibrary
from commonhold.index.summarising import Source
from commonhold.index.summary_cache import SummaryCache, maker_of, makers
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.keys import segment_of
from commonhold.machine import file_stamps
from commonhold.workspace.files.working_tree import WorkingTree
from commonhold.workspace.folder_watch import Changes, FolderWatch
from commonhold.workspace.git.process import Git
from commonhold.workspace.scan.file_scan import FileScan, contents_of
from commonhold.workspace.scan.git_rules import GitRules
from commonhold.workspace.scan.plain_rules import PlainRules
from commonhold.workspace.scan.state import File, Tree

_UNWATCHED_LOOKS: Final = 2
_UNREADABLE: Final = "it cannot be read: "

_MOST_BYTES_AT_ONCE: Final = 400_000
"""Summaries of this much text are made in half a second or so."""
_MOST_FILES_AT_ONCE: Final = 400

Steady = Callable[[Shelved], SteadyLibrary]
"""Makes a library that outlives its cache."""


class _TooMuch(Exception):  # noqa: N818 - no fault: it is read at another time
    """More files must be read than a caller can wait for."""


class Reader:
    """The files of one working tree. Raises apsw.Error if the cache cannot be used any more."""

    def __init__(
        self,
        root: str,
        git: Git | None,
        max_file_bytes: int,
        stock: SummaryCache,
        steady: Steady,
        *,
        keeps: bool = True,
    ) -> None:
        """Read the files below `root`, whose links are followed, if `git` counts them; it `keeps` its results."""
        self._keeps = keeps
        self._root = root
        self._git = git
        self._files = WorkingTree(root, max_file_bytes=max_file_bytes)
        self._max_file_bytes = max_file_bytes
        self._stock = stock
        self._steady = steady
        self._makers = makers()
        self._kept = self._known = stock.cache.tree(root, self._makers)
        self._library = self._shelved(self._known.files)
        self._watch = FolderWatch(root)
        self._looks = 0
        self._is_watched = self._is_behind = self._is_hurried = False
        self._unsure = Changes()
        self._contents: Mapping[str, set[str]] | None = None

    def library(self, progress: Progress) -> SteadyLibrary:
        """Return the working tree as it is now; the same object as long as nothing changed.

        From the third call on the folders are watched, so that only changed ones are read. A command that calls once or
        twice, as one that commits does, is spared the watches.
        """
        changes = self._watch.changes() if self._is_watched else None
        # Until it has succeeded nothing is relied on: the events are read, and will not come again.
        self._is_watched = False
        if changes is None or changes.gone or not self._has_checked(changes, progress):
            self._look_everywhere(progress)
        return self._library

    def library_if_read(self) -> SteadyLibrary | None:
        """Return the same, unless the files were never read, or too many changed since."""
        if not self._known.folders and not self._has_reloaded():
            return None
        self._is_hurried = True
        try:
            return self.library(silent)
        except _TooMuch:
            return None
        finally:
            self._is_hurried = False

    def _has_reloaded(self) -> bool:
        """Load the state that another process may have stored meanwhile; return whether one has read the files."""
        self._kept = self._known = self._stock.cache.tree(self._root, self._makers)
        self._library = self._shelved(self._known.files)
        return bool(self._known.folders)

    def close(self) -> None:
        """Watch nothing any more."""
        self._watch.close()
        self._is_watched = False

    def _look_everywhere(self, progress: Progress) -> None:
        if not self._known.folders:
            self._has_reloaded()
        watched = self._known.folders.keys()
        is_watched = self._looks >= _UNWATCHED_LOOKS and self._watch.begin(watched)
        now, linked = self._census(), set[str]()
        stale = file_stamps.changed(self._root, ((path, file.stamp) for path, file in now.files.items()), linked)
        if stale:
            now = self._read(now, stale, progress)
        if now is not self._known:
            self._known, self._contents = now, None
            self._library = self._shelved(now.files, self._library)
        self._keep(None)
        self._looks += 1
        self._is_watched = is_watched and now.folders.keys() <= watched
        if self._is_watched:
            self._unsure = _unsure(now, now.files, now.folders, linked)

    def _has_checked(self, changes: Changes, progress: Progress) -> bool:
        """Read changed files and those that may have changed unseen; False if everything must be read."""
        known, linked = self._known, set[str]()
        folders = (changes.folders & known.folders.keys()) | self._unsure.folders
        files = (changes.files & known.files.keys()) | self._unsure.files
        if self._contents is None:
            self._contents = contents_of(known)
        try:
            census = FileScan(self._root, GitRules(self._git) if self._git else PlainRules(), concerns)
            checked = census.checked(known, folders, self._contents)
        except StoreError:  # git fails: the full search handles that
            return False
        if checked is None:
            return False
        rules, relisted = checked
        stale = file_stamps.changed(self._root, ((path, known.files[path].stamp) for path in files), linked)
        now = replace(known, folders={**known.folders, **relisted}, rules=rules)
        now = self._read(now, stale, progress) if stale else now
        if len(now.files) != len(known.files):
            return False
        if stale or relisted or rules != known.rules:
            self._known = now
            self._library = self._patched(stale)
        self._keep(Changes(frozenset(stale), frozenset(relisted)))
        self._unsure = _unsure(now, files, folders, linked)
        self._is_watched = True
        return True

    def _patched(self, paths: Iterable[str]) -> SteadyLibrary:
        """Return the library if only these files may have other summaries than before."""
        before = self._library.shelved
        numbers = {path: self._known.files[path].summary for path in paths}
        changed = {path: number for path, number in numbers.items() if before.number(path) != number}
        if not changed:
            return self._library
        if all(before.number(path) != NONE != number and path.isascii() for path, number in changed.items()):
            return self._steady(before.with_others(changed))
        return self._shelved(self._known.files, self._library)

    def _census(self) -> Tree:
        if self._git is not None:
            try:
                return self._counted(GitRules(self._git))
            except StoreError as fault:
                # Without git more files count than with it. It is asked for everything as soon as it can be.
                if fault.code != Code.GIT_FAILED:
                    raise
        counted = self._counted(PlainRules())
        return replace(counted, rules=b"") if counted.rules else counted

    def _counted(self, rules: GitRules | PlainRules) -> Tree:
        return FileScan(self._root, rules, concerns).taken(self._known)

    def _read(self, tree: Tree, stale: list[str], progress: Progress) -> Tree:
        """Return the tree with these files as they are now; without those that are gone."""
        if self._is_hurried and not self._is_little(stale):
            raise _TooMuch
        read: dict[str, File] = {}
        progress(0, len(stale))  # the first files take as long as any: shows an observer that reading has begun
        numbers = self._stock.numbers(self._sources(stale, read), lambda done: progress(done, len(stale)))
        read |= {path: replace(read[path], summary=number) for path, number in numbers.items()}
        if all(tree.files[path] == read.get(path) for path in stale):
            return tree
        files = {**tree.files, **read}
        for path in stale:
            if path not in read:
                del files[path]
        return replace(tree, files=files)

    def _is_little(self, stale: Collection[str]) -> bool:
        """Whether these files are read, and summarised, at once."""
        if len(stale) > _MOST_FILES_AT_ONCE:
            return False
        size = 0
        for path in stale:
            with suppress(OSError):
                size += os.lstat(f"{self._root}/{path}").st_size
        return size <= _MOST_BYTES_AT_ONCE

    def _sources(self, stale: Iterable[str], read: dict[str, File]) -> Iterator[tuple[str, Source]]:
        """The content of these files. `read` gets their stamps, taken before the content was read."""
        for path in stale:
            now = time.time_ns()
            with suppress(OSError):
                status = os.lstat(f"{self._root}/{path}")
                if stat.S_ISREG(status.st_mode):
                    read[path] = File(file_stamps.settled(file_stamps.of_status(status), now), NONE)
                    content = self._content(path, status.st_size, read)
                    if content is not None:
                        yield path, (path, content)

    def _content(self, path: str, size: int, read: dict[str, File]) -> bytes | None:
        if size > self._max_file_bytes:
            # Read again each time: the next process may have another limit.
            read[path] = File(None, NONE)
            return None
        try:
            state = self._files.load(path)
        except InputError:
            state = None
        except StoreError as fault:
            read[path] = File(None, self._stock.problem(path, _UNREADABLE + str(fault)))
            return None
        if state is None:
            del read[path]
        return state.content if state else None

    def _shelved(self, files: Mapping[str, File], before: SteadyLibrary | None = None) -> SteadyLibrary:
        named = named_in_keys(files)
        numbers = {named.get(path, path): file.summary for path, file in files.items() if file.summary != NONE}
        if before is not None and numbers == before.shelved.numbers:
            return before
        is_same = before is not None and numbers.keys() == before.paths
        paths = before.paths if before is not None and is_same else frozenset(numbers)
        return self._steady(Shelved(numbers, paths, self._stock))

    def _keep(self, among: Changes | None) -> None:
        """Store the known state, if no other process is writing; else next time. It changed `among` these paths."""
        if not self._keeps or self._kept is self._known:
            return
        since = None if self._is_behind else among
        self._is_behind = True
        with suppress(apsw.BusyError):
            self._kept = self._known = self._stock.cache.keep_tree(
                self._root, self._makers, self._kept, self._known, since
            )
            self._is_behind = False


def _unsure(tree: Tree, files: Iterable[str], folders: Iterable[str], linked: Collection[str]) -> Changes:
    """Return those of these files and folders that are read each time: their stamps are too young, or incomplete."""
    return Changes(
        frozenset(path for path in files if tree.files[path].stamp is None or path in linked),
        frozenset(path for path in folders if tree.folders[path].stamp is None),
    )


def concerns(name: str) -> bool:
    """Whether a file of this name may have a summary."""
    return maker_of(name) is not None


def named_in_keys(paths: Iterable[str]) -> dict[str, str]:
    """Map file paths to the paths that keys use, if these may differ."""
    odd = [path.split("/") for path in paths if not path.isascii()]
    entries: dict[tuple[str, ...], set[str]] = {}
    for parts in odd:
        for size, name in enumerate(parts):
            entries.setdefault(tuple(parts[:size]), set()).add(name)
    return {
        "/".join(parts): "/".join(segment_of(name, entries[tuple(parts[:size])]) for size, name in enumerate(parts))
        for parts in odd
    }
