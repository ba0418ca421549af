"""The ports to the version history for merging two branches, and their values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from commonhold.merging.tree import Changed
from commonhold.merging.verdict import Sides


class Obstacle(StrEnum):
    """Why files or trees cannot be merged for a reason other than the text of a file."""

    DELETED = "DELETED"
    RENAMED = "RENAMED"
    MODE = "MODE"
    LINK = "LINK"
    SUBMODULE = "SUBMODULE"
    PLACE = "PLACE"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its name, its commit, and that commit's purpose (the first line of its message)."""

    name: str
    commit: str
    intent: str

    @property
    def label(self) -> str:
        """Return branch and intent in one line, for the conflict markers."""
        return f"{self.name}: {self.intent}" if self.intent else self.name


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two sides and their common ancestors. `branch` is the name of theirs in the message of a merge commit.

    `is_told`: the caller named the common ancestor, regardless of the history.
    """

    ours: Side
    theirs: Side
    bases: tuple[str, ...]
    branch: str
    is_told: bool = False

    @property
    def sides(self) -> Sides:
        """Return the names of the sides in conflict markers."""
        return Sides(self.ours.label, self.theirs.label)


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in a tree: its permission bits as the history writes them, and the id of its bytes."""

    mode: str
    id: str


@dataclass(frozen=True, slots=True)
class BothChanged:
    """A file that both sides changed.

    Without a `base` both sides made it. `merged` is the result of a merge by lines; None if lines conflict. `path` is
    the path of the result.
    """

    path: str
    base: Blob | None
    ours: Blob
    theirs: Blob
    merged: Blob | None

    @property
    def versions(self) -> tuple[Blob, ...]:
        """Return the existing versions: base, ours, theirs."""
        return tuple(blob for blob in (self.base, self.ours, self.theirs) if blob is not None)

    @property
    def mode(self) -> str:
        """Return the permission bits of the merged file: those of the side that changed them."""
        if self.merged is not None:
            return self.merged.mode
        is_theirs = self.base is not None and self.ours.mode == self.base.mode
        return self.theirs.mode if is_theirs else self.ours.mode


@dataclass(frozen=True, slots=True)
class Blocked:
    """A path with a conflict outside the text of a file; `why` describes the obstacle."""

    path: str
    obstacle: Obstacle
    why: str


@dataclass(frozen=True, slots=True)
class LineMerge:
    """The result of merging two trees by lines: a tree, the files that both sides changed, and the obstacles."""

    tree: str
    files: tuple[BothChanged, ...]
    blocked: tuple[Blocked, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A file that another session has leased in whole or in part: the key, the holder, and its task."""

    path: str
    key: str
    holder: str
    task: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A file of the result: its bytes and permission bits."""

    source: bytes
    mode: str


class History(Protocol):
    """The history around one working tree. Only `advance` and `stand` change the working tree or a branch."""

    def meeting(self, name: str) -> Meeting:
        """Return the meeting of the current branch and the one named `name`. Raises InputError `REVISION_UNKNOWN`."""
        ...

    def base_of(self, meeting: Meeting) -> str:
        """Return one tree or commit that both sides descend from."""
        ...

    def merge_lines(self, meeting: Meeting) -> LineMerge:
        """Return the merge by lines."""
        ...

    def read(self, ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return bytes by id."""
        ...

    def changed(self, meeting: Meeting, concerns: Callable[[str], bool]) -> tuple[Changed, ...]:
        """Return the files that either side changed and for whose path `concerns` is true, in base, ours and theirs."""
        ...

    def holds(self, blob: Blob, content: bytes) -> bool:
        """Whether the bytes of `blob` are these; nothing is read for the answer."""
        ...

    def tree_with(self, tree: str, files: Mapping[str, Settled]) -> str:
        """Return a tree with other bytes in these files."""
        ...

    def under_way(self) -> str | None:
        """Return the operation under way here that blocks a merge; None if there is none."""
        ...

    def touched(self, meeting: Meeting, tree: str) -> tuple[str, ...]:
        """Return the paths that `tree` would change."""
        ...

    def in_the_way(self, meeting: Meeting, tree: str) -> tuple[str, ...]:
        """Return the uncommitted paths of the working tree that `tree` would change."""
        ...

    def commit(self, meeting: Meeting, tree: str, message: str | None) -> str:
        """Return a new commit of `tree` with both sides as its parents; no branch contains it yet."""
        ...

    def advance(self, meeting: Meeting, commit: str) -> str | None:
        """Move branch and files to `commit`, all or nothing; return why not if something has changed meanwhile."""
        ...

    def stand(
        self,
        meeting: Meeting,
        settled: Mapping[str, Settled],
        conflicts: Mapping[BothChanged, bytes | None],
        message: str | None,
    ) -> str | None:
        """Leave a merge under way in the working tree: `settled` files ready to commit, `conflicts` as unmerged.

        The bytes of a conflict are the text with markers; None leaves ours there. Return why the merge was not begun,
        or None.
        """
        ...


class Revisions(Protocol):
    """The history of a repository, to compare any two revisions. Nothing is ever changed."""

    def meeting_of(self, ours: str, theirs: str, base: str | None = None) -> Meeting:
        """Return two revisions and their common ancestor: `base`, or that of the history. Raises `REVISION_UNKNOWN`."""
        ...

    def base_of(self, meeting: Meeting) -> str:
        """Return one tree or commit that both sides descend from."""
        ...

    def merge_lines(self, meeting: Meeting) -> LineMerge:
        """Return the merge by lines."""
        ...

    def read(self, ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return bytes by id."""
        ...

    def changed(self, meeting: Meeting, concerns: Callable[[str], bool]) -> tuple[Changed, ...]:
        """Return the files that either side changed and for whose path `concerns` is true, in base, ours and theirs."""
        ...


class Leases(Protocol):
    """The leases on files of the working tree."""

    def on(self, paths: Sequence[str]) -> tuple[Held, ...]:
        """Return the leases of other holders on these files."""
        ...
