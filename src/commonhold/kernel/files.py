"""The port of the use cases to the files of a working tree. Its docstrings are the contract of the adapter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonhold.kernel.keys import Key, Spec


Contents = Callable[[str], bytes]
"""A function that returns bytes by content hash. Raises StoreError if they are gone."""


@dataclass(frozen=True, slots=True)
class Write:
    """One file's part of a commit: content hashes and permission bits before and after, None if it does not exist.

    `source` is the file whose owner and attributes the new one takes over; `made` are the folders to create.
    """

    path: str
    before: str | None
    after: str | None
    mode_before: int | None
    mode_after: int | None
    source: str | None = None
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Journal:
    """A commit that has been decided but has not taken effect: enough to take it back."""

    id: int
    root: str
    holder: str
    intent: str
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class FileState:
    """The present state of a file: its bytes and its permission bits."""

    content: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class Stamp:
    """The identity of a file's state: its content hash and its permission bits."""

    hash: str
    mode: int


class Files(Protocol):
    """The files of one working tree. No path ever leads out of it, even through links."""

    @property
    def root(self) -> str:
        """Return the absolute path of the working tree."""
        ...

    def at(self, root: str) -> Files:
        """Return the files of another working tree of the same repository."""
        ...

    def locate(self, spec: Spec) -> Key:
        """Return the canonical key: links followed, `.` and `..` resolved, letter case as on the disk.

        Raises InputError `PATH_OUTSIDE`, `PATH_RESERVED`, `NOT_A_FILE`.
        """
        ...

    def path_of(self, raw: str) -> str:
        """Return the path that keys use for a file that the disk, git or a program names, in any Unicode form.

        A path that no key can name is returned unchanged.
        """
        ...

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """Return the missing folders above `path`, outermost first.

        Raises InputError `FILE_EXISTS` if something other than a folder is in the way.
        """
        ...

    @property
    def new_file_mode(self) -> int:
        """Return the default permission bits of a new file."""
        ...

    def exists(self, path: str) -> bool:
        """Whether anything is at `path`, taken literally."""
        ...

    def load(self, path: str) -> FileState | None:
        """Return a whole file; None if it does not exist. Raises InputError `FILE_TOO_LARGE`, `NOT_A_FILE`."""
        ...

    def stamp(self, path: str) -> Stamp | None:
        """Return the present stamp of a file; None if it does not exist. Raises as `load`."""
        ...

    def check_size(self, path: str, content: bytes) -> None:
        """Raise InputError `FILE_TOO_LARGE` for content over the limit."""
        ...

    def check_idle(self) -> None:
        """Raise StoreError `REPOSITORY_BUSY` while git is in the middle of rewriting the working tree."""
        ...

    def stage(self, journal: Journal, contents: Contents) -> None:
        """Write every new file beside its place, durably, under a name made from the journal's id.

        Raises ChangedUnderneath if a folder has disappeared.
        """
        ...

    def swap(self, journal: Journal) -> None:
        """Put the staged files in place and remove the deleted ones.

        Raises ChangedUnderneath for a file that no longer has its state in the journal.
        """
        ...

    def flush(self, journal: Journal) -> None:
        """Make the changes of `swap` durable."""
        ...

    def may_come_back(self, root: str) -> bool:
        """Return whether another working tree of the repository, out of reach now, is not gone for good."""
        ...

    def undo(self, journal: Journal, contents: Contents) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Undo `stage` and `swap`, wherever they stopped. Return the paths restored, and the paths left alone.

        A file that has neither its earlier state nor that of the commit was changed from outside: it is left alone.
        """
        ...

    def has_swapped(self, journal: Journal) -> bool:
        """Whether any file already has its state after the commit, so that a reader could see half of it."""
        ...


class ChangedUnderneath(Exception):  # noqa: N818 - it is caught and answered, never shown
    """A file was changed from outside between the check and the write."""
