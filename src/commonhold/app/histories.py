"""What merging two branches asks of a version history, and the values that they speak of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from commonhold.merging.tree import Changed
from commonhold.merging.verdict import Sides


class Obstacle(StrEnum):
    """Why files or trees cannot be merged, where it is not the text of a file that stands in the way."""

    DELETED = "DELETED"
    RENAMED = "RENAMED"
    MODE = "MODE"
    LINK = "LINK"
    SUBMODULE = "SUBMODULE"
    PLACE = "PLACE"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Side:
    """One side: what it was called, the commit, and what that commit is for (its first line)."""

    name: str
    commit: str
    intent: str

    @property
    def label(self) -> str:
        """Branch and intent in one line: what stands at a conflict marker."""
        return f"{self.name}: {self.intent}" if self.intent else self.name


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two sides and the commits that both come from. `branch` is what theirs is called in the message of a merge.

    `is_told`: the caller said what both come from, whatever the history knows.
    """

    ours: Side
    theirs: Side
    bases: tuple[str, ...]
    branch: str
    is_told: bool = False

    @property
    def sides(self) -> Sides:
        """What the sides are called in conflict markers."""
        return Sides(self.ours.label, self.theirs.label)


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in a tree: its permission bits as the history writes them, and the id of its bytes."""

    mode: str
    id: str


@dataclass(frozen=True, slots=True)
class BothChanged:
    """A file that both sides changed.

    Without a `base` both made it. `merged` is what a merge by lines makes of it; None where lines conflict. `path` is
    where the result goes.
    """

    path: str
    base: Blob | None
    ours: Blob
    theirs: Blob
    merged: Blob | None

    @property
    def versions(self) -> tuple[Blob, ...]:
        """The versions that there are: base, ours, theirs."""
        return tuple(blob for blob in (self.base, self.ours, self.theirs) if blob is not None)


@dataclass(frozen=True, slots=True)
class Blocked:
    """A path that is no matter of text: what is in the way, in words."""

    path: str
    obstacle: Obstacle
    why: str


@dataclass(frozen=True, slots=True)
class LineMerge:
    """What a merge by lines makes of the trees: a tree, the files that both sides changed, and what blocks it."""

    tree: str
    files: tuple[BothChanged, ...]
    blocked: tuple[Blocked, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A file that another session holds, or a part of it: the key, who, and what for."""

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
    """The history around one working tree. Nothing but `advance` and `stand` touches the working tree or a branch."""

    def meeting(self, name: str) -> Meeting:
        """The current branch and the one named `name`. Raises InputError `REVISION_UNKNOWN`."""
        ...

    def base_of(self, meeting: Meeting) -> str:
        """One tree or commit that both sides come from."""
        ...

    def merge_lines(self, meeting: Meeting) -> LineMerge:
        """The merge by lines."""
        ...

    def read(self, ids: Sequence[str]) -> Mapping[str, bytes]:
        """Bytes by id."""
        ...

    def changed(self, meeting: Meeting, concerns: Callable[[str], bool]) -> tuple[Changed, ...]:
        """The files that either side changed and whose path `concerns` us, as base, ours and theirs have them."""
        ...

    def holds(self, blob: Blob, content: bytes) -> bool:
        """Whether the bytes of `blob` are these; nothing is read for it."""
        ...

    def tree_with(self, tree: str, files: Mapping[str, Settled]) -> str:
        """A tree with other bytes in these files."""
        ...

    def under_way(self) -> str | None:
        """What has been begun here and stands in the way of a merge; None where nothing has."""
        ...

    def touched(self, meeting: Meeting, tree: str) -> tuple[str, ...]:
        """The paths that `tree` would change."""
        ...

    def in_the_way(self, meeting: Meeting, tree: str) -> tuple[str, ...]:
        """The paths of the working tree that are not as committed and that `tree` would change."""
        ...

    def commit(self, meeting: Meeting, tree: str, message: str | None) -> str:
        """A commit of `tree` with both sides as its parents, which no branch has yet."""
        ...

    def advance(self, meeting: Meeting, commit: str) -> str | None:
        """Bring branch and files to `commit`, all or nothing; why not, where something has changed meanwhile."""
        ...

    def stand(
        self,
        meeting: Meeting,
        settled: Mapping[str, Settled],
        conflicts: Mapping[BothChanged, bytes | None],
        message: str | None,
    ) -> str | None:
        """Leave a merge under way in the working tree: `settled` files ready to commit, `conflicts` as unmerged.

        The bytes of a conflict are the text with markers; None leaves ours there. Why not, where it was not begun.
        """
        ...


class Revisions(Protocol):
    """The history of a repository, of which any two revisions can be compared. Nothing is ever changed."""

    def meeting_of(self, ours: str, theirs: str, base: str | None = None) -> Meeting:
        """Two revisions and what both come from: `base`, or what the history knows. Raises `REVISION_UNKNOWN`."""
        ...

    def base_of(self, meeting: Meeting) -> str:
        """One tree or commit that both sides come from."""
        ...

    def merge_lines(self, meeting: Meeting) -> LineMerge:
        """The merge by lines."""
        ...

    def read(self, ids: Sequence[str]) -> Mapping[str, bytes]:
        """Bytes by id."""
        ...

    def changed(self, meeting: Meeting, concerns: Callable[[str], bool]) -> tuple[Changed, ...]:
        """The files that either side changed and whose path `concerns` us, as base, ours and theirs have them."""
        ...


class Leases(Protocol):
    """The leases on files of the working tree."""

    def on(self, paths: Sequence[str]) -> tuple[Held, ...]:
        """What others than the caller hold of these files."""
        ...
