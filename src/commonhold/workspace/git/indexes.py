"""Indexes beside the shared one: a session's own, which follows HEAD and no other session."""

import errno
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Final

from commonhold.merging.branches.histories import Blob
from commonhold.workspace.git.objects import INDEX, Change, changes, index_line, put_in_index, removal_line
from commonhold.workspace.git.process import Git

Entries = Mapping[str, Blob | None]
"""The entry of each path; None for one that is unmerged."""
Conflict = Callable[[str, Change, Blob | None], Blob | None]
"""Returns the new entry for a staged one whose entry in HEAD changed, by the path, that change and the staged one."""

_FEW: Final = 500
"""The number of files that can be named to git at once."""
_LITERAL: Final = {"GIT_LITERAL_PATHSPECS": "1"}
_LOCK_SECONDS: Final = 3.0
_LOCK_PAUSE_SECONDS: Final = 0.02


class Listed(Mapping[str, Blob | None]):
    """The entries of an index as git lists them: each is parsed on demand, since usually few are needed."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        """Take the lines of `git ls-files --stage -z`."""
        self.lines = lines

    @cached_property
    def _about(self) -> dict[bytes, bytes]:
        """Return git's entry for each path; for an unmerged one, the last entry."""
        return {path: about for about, _, path in (line.partition(b"\t") for line in self.lines)}

    def __getitem__(self, path: str) -> Blob | None:
        mode, blob_id, stage = self._about[os.fsencode(path)].decode("ascii").split(" ")
        return Blob(mode, blob_id) if stage == "0" else None

    def __iter__(self) -> Iterator[str]:
        return map(os.fsdecode, self._about)

    def __len__(self) -> int:
        return len(self._about)

    def without(self, other: "Listed") -> "Listed":
        """The entries that another index lacks, or has with another value."""
        return Listed([*{*self.lines}.difference(other.lines)])


def differing(before: Entries, after: Entries) -> tuple[Entries, Entries]:
    """The entries of the files in which two indexes differ."""
    if isinstance(before, Listed) and isinstance(after, Listed):
        return before.without(after), after.without(before)
    both = {*before, *after}
    paths = {path for path in both if before.get(path) != after.get(path) or (path in before) != (path in after)}
    return _among(before, paths), _among(after, paths)


def _among(entries: Entries, paths: Collection[str]) -> Entries:
    return {path: entries[path] for path in paths if path in entries}


class Index:
    """One index of a working tree, at a path of its own."""

    def __init__(self, git: Git, path: str) -> None:
        """Use the index at `path` with the working tree of `git`."""
        self.git = git
        self.path = path

    @property
    def settings(self) -> dict[str, str]:
        """The environment in which git uses it."""
        return {INDEX: self.path}

    @property
    def exists(self) -> bool:
        """Whether it was made."""
        return os.path.exists(self.path)

    def begin(self, commit: str, like: str) -> None:
        """Make it again from a commit (empty: none yet); cached file stamps are copied from the index at `like`."""
        with suppress(FileNotFoundError):
            _copy(like, self.path)
        if not commit:
            self.git.ask("read-tree", "--empty", settings=self.settings)
        elif self.git.run("read-tree", "--reset", commit, settings=self.settings).returncode:
            os.unlink(self.path)  # the copy must not be used (it may be of a newer git)
            self.git.ask("read-tree", commit, settings=self.settings)

    def copied_to(self, path: str) -> "Index":
        """A copy at another path."""
        _copy(self.path, path)
        return Index(self.git, path)

    def refresh(self) -> None:
        """Update the stamps of files that equal their staged entries; it is no error that others differ."""
        self.git.run("update-index", "-q", "--refresh", settings=self.settings)

    def tree(self) -> str:
        """Return the tree that a commit of it would have; empty if it cannot have one."""
        done = self.git.run("write-tree", settings=self.settings)
        return "" if done.returncode else done.stdout.decode().strip()

    def entries(self) -> Entries:
        """All entries."""
        return self._listed()

    def _listed(self, *paths: str) -> Listed:
        told = self.git.ask("ls-files", "--stage", "-z", "--", *paths, settings=self.settings | _LITERAL)
        return Listed(told.split(b"\0")[:-1])

    def put(self, entries: Entries) -> None:
        """Set entries; None removes one."""
        if entries:
            like = next((blob.id for blob in entries.values() if blob), "") or empty_tree(self.git)
            lines = [removal_line(path, like) if not blob else index_line(path, blob) for path, blob in entries.items()]
            put_in_index(self.git, lines, self.settings)
            # The stamps of these files are refreshed, of those that are there.
            kept = (path for path, blob in entries.items() if blob)
            there = [path for path in kept if os.path.lexists(os.path.join(self.git.root, path))]
            if len(there) > _FEW:
                self.refresh()
            elif there:
                self.git.run("add", "--refresh", "--", *there, settings=self.settings | _LITERAL)

    def follow(self, old: str, new: str, on_conflict: Conflict) -> None:
        """Follow HEAD from the tree `old` to `new`; entries that are staged in addition stay staged."""
        changed = changes(self.git, old, new)
        here = self._listed(*changed) if len(changed) <= _FEW else self._listed()
        wanted: dict[str, Blob | None] = {}
        for path, change in changed.items():
            staged = here.get(path)
            if path in here and staged is None:
                continue
            settled = change.new if staged == change.old else on_conflict(path, change, staged)
            if settled != staged:
                wanted[path] = settled
        self.put(wanted)


def staged_stays(_path: str, _change: Change, staged: Blob | None) -> Blob | None:
    """Leave a staged entry as it is."""
    return staged


@contextmanager
def locked(git: Git, path: str) -> Iterator[Index | None]:
    """Yield the index at `path` under git's own lock: a copy that replaces it at the end. None if it stays locked."""
    lock = f"{path}.lock"
    if not _took(lock):
        yield None
        return
    try:
        copy = Index(git, f"{path}.commonhold-{os.getpid()}-{time.monotonic_ns()}")
        try:
            with suppress(FileNotFoundError):
                _copy(path, copy.path)
            yield copy
            if os.path.exists(copy.path):
                os.replace(copy.path, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(copy.path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(lock)


def _copy(path: str, to: str) -> None:
    """Copy an index with its time: git compares that with the times of files to see which may have changed since."""
    shutil.copy2(path, to)


def _took(lock: str) -> bool:
    """Whether the lock file could be made within some seconds."""
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except OSError as fault:
            if fault.errno != errno.EEXIST:
                return False
        else:
            return True
        if time.monotonic() > until:
            return False
        time.sleep(_LOCK_PAUSE_SECONDS)


def empty_tree(git: Git) -> str:
    """The id of a tree without files."""
    return git.ask("mktree").decode().strip()
