"""The working tree as a library: what changed since the last look is read, all else is known by its stamp."""

import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

import apsw

from commonhold.adapters.files.working_tree import WorkingTree
from commonhold.adapters.git.running import Git
from commonhold.adapters.index import stamps
from commonhold.adapters.index.cache import NONE
from commonhold.adapters.index.census import Census
from commonhold.adapters.index.git_rules import GitRules
from commonhold.adapters.index.plain_rules import PlainRules
from commonhold.adapters.index.shelves import Shelved, SteadyLibrary
from commonhold.adapters.index.state import File, Tree
from commonhold.adapters.index.stock import Stock, maker_of, makers
from commonhold.adapters.index.work import Source
from commonhold.app.indexes import Progress
from commonhold.domain.errors import Code, InputError, StoreError

_UNREADABLE: Final = "it cannot be read: "

Steady = Callable[[Shelved], SteadyLibrary]
"""Makes a library that outlives its cache."""


class Reader:
    """The files of one working tree. Raises apsw.Error where the cache cannot be used any more."""

    def __init__(
        self, root: str, git: Git | None, max_file_bytes: int, stock: Stock, steady: Steady, *, keeps: bool = True
    ) -> None:
        """Read what is below `root`, whose links are followed, as far as `git` counts it; it `keeps` what it found."""
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

    def library(self, progress: Progress) -> SteadyLibrary:
        """The working tree as it is now; the same object as long as nothing changed."""
        now = self._census()
        stale = stamps.changed(self._root, ((path, file.stamp) for path, file in now.files.items()))
        if stale:
            now = self._read(now, stale, progress)
        if now is not self._known:
            self._known = now
            self._library = self._shelved(now.files, self._library)
        self._keep()
        return self._library

    def _census(self) -> Tree:
        if self._git is not None:
            try:
                return self._counted(GitRules(self._git))
            except StoreError as fault:
                # Without git more files count than would with it. It is asked for everything as soon as it can be.
                if fault.code != Code.GIT_FAILED:
                    raise
        counted = self._counted(PlainRules())
        return replace(counted, rules=b"") if counted.rules else counted

    def _counted(self, rules: GitRules | PlainRules) -> Tree:
        return Census(self._root, rules, concerns).taken(self._known)

    def _read(self, tree: Tree, stale: list[str], progress: Progress) -> Tree:
        """The tree with these files as they are now; without those that are gone."""
        read: dict[str, File] = {}
        numbers = self._stock.numbers(self._sources(stale, read), lambda done: progress(done, len(stale)))
        read |= {path: replace(read[path], summary=number) for path, number in numbers.items()}
        if all(tree.files[path] == read.get(path) for path in stale):
            return tree
        again = set(stale)
        files = {path: file for path, file in tree.files.items() if path not in again or path in read}
        return replace(tree, files=files | read)

    def _sources(self, stale: Iterable[str], read: dict[str, File]) -> Iterator[tuple[str, Source]]:
        """What is in these files. `read` gets their stamps, which are older than what is read."""
        for path in stale:
            now = time.time_ns()
            with suppress(OSError):
                status = os.lstat(f"{self._root}/{path}")
                if stat.S_ISREG(status.st_mode):
                    read[path] = File(stamps.settled(stamps.of_status(status), now), NONE)
                    content = self._content(path, status.st_size, read)
                    if content is not None:
                        yield path, (path, content)

    def _content(self, path: str, size: int, read: dict[str, File]) -> bytes | None:
        if size > self._max_file_bytes:
            # Looked at again each time: the next process may have another limit.
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
        numbers = {canonical(path): file.summary for path, file in files.items() if file.summary != NONE}
        if before is not None and numbers == before.numbers:
            return before
        is_same = before is not None and numbers.keys() == before.paths
        paths = before.paths if before is not None and is_same else frozenset(numbers)
        return self._steady(Shelved(numbers, paths, self._stock))

    def _keep(self) -> None:
        """Write down what is known, if nobody else is writing; else the next time."""
        if self._keeps and self._kept is not self._known:
            with suppress(apsw.BusyError):
                self._kept = self._known = self._stock.cache.keep_tree(
                    self._root, self._makers, self._kept, self._known
                )


def concerns(name: str) -> bool:
    """Whether a file of this name may have a summary."""
    return maker_of(name) is not None


def canonical(path: str) -> str:
    """The path as keys have it."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)
