"""The result of merging two sides: a tree, the files with a merge of their own, and the files without one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from commonhold.merging.branches.histories import BothChanged, Meeting, Revisions
from commonhold.merging.branches.merge_file import Merge
from commonhold.merging.result_checks import fault_in
from commonhold.merging.verdict import Proven, Spot

_OPEN: Final = "both sides changed it, and it cannot be shown what both mean"


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A file, or another entry of the tree, that could not be merged. `spots` say where and why."""

    path: str
    why: str
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place in a file whose lines were joined without a conflict, but without proof that the result is correct."""

    path: str
    spot: Spot


@dataclass(frozen=True, slots=True)
class MergedState:
    """The state with both sides' changes: `tree`, its `settled` files replaced; neither has the files `left_out`.

    `texts` has the merged bytes of the files that both sides changed, except for those left out; `modes` their
    permission bits.
    """

    tree: str
    settled: Mapping[str, bytes]
    texts: Mapping[str, bytes]
    unmerged: tuple[Unmerged, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    modes: Mapping[str, str] = field(default_factory=dict)

    @property
    def left_out(self) -> frozenset[str]:
        """Return the paths that could not be merged."""
        return frozenset(each.path for each in self.unmerged)


def merged_state(revisions: Revisions, meeting: Meeting, merge: Merge) -> MergedState:
    """Merge each file by structure if that is proven correct, otherwise by lines if these do not conflict."""
    lines = revisions.merge_lines(meeting)
    blobs = revisions.read([blob.id for file in lines.files for blob in (*file.versions, file.merged) if blob])
    judged = [_Judged.of(file, blobs, meeting, merge) for file in lines.files]
    return MergedState(
        lines.tree,
        {each.path: each.text for each in judged if each.is_settled and each.text is not None},
        {each.path: each.text for each in judged if each.text is not None},
        (
            *(Unmerged(each.path, each.why) for each in lines.blocked),
            *(Unmerged(each.path, each.why, each.spots) for each in judged if each.text is None),
        ),
        tuple(Doubt(each.path, spot) for each in judged if each.text is not None for spot in each.spots),
        {file.path: file.mode for file in lines.files},
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A file that both sides changed: its merged `text` (None if it has none), and the objections to it."""

    path: str
    text: bytes | None
    is_settled: bool = False
    spots: tuple[Spot, ...] = ()
    why: str = ""

    @classmethod
    def of(cls, file: BothChanged, blobs: Mapping[str, bytes], meeting: Meeting, merge: Merge) -> "_Judged":
        """Judge one file."""
        texts = b"" if file.base is None else blobs[file.base.id], blobs[file.ours.id], blobs[file.theirs.id]
        found = merge(*texts, file.path, meeting.sides)
        by_lines = blobs[file.merged.id] if file.merged is not None else None
        if isinstance(found, Proven):
            return cls(file.path, found.source, is_settled=found.source != by_lines)
        if by_lines is None:
            return cls(file.path, None, spots=found.spots, why=_OPEN)
        if fault := fault_in(by_lines, texts, file.path):
            return cls(file.path, None, spots=(fault,), why=f"its lines were joined, but {fault.why}")
        return cls(file.path, by_lines, spots=found.spots)
