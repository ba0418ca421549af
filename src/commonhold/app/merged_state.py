"""What comes of two sides that are merged: a tree, and the files of which that is not what both mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.app.histories import BothChanged, Meeting, Revisions
from commonhold.app.merging import Merge
from commonhold.merging.gate import fault_in
from commonhold.merging.verdict import Proven, Spot

_OPEN: Final = "both sides changed the same lines, and it cannot be shown what both mean"


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A file, or something else of the tree, of which nothing came that both sides mean. `spots` say where and why."""

    path: str
    why: str
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place in a file whose lines were joined without a conflict, which cannot be shown to be right."""

    path: str
    spot: Spot


@dataclass(frozen=True, slots=True)
class MergedState:
    """The state that has both sides: `tree` with `settled` files in place of what it has; `left_out` are in none.

    `texts` has the merged bytes of the files that both sides changed, but for those left out.
    """

    tree: str
    settled: Mapping[str, bytes]
    texts: Mapping[str, bytes]
    unmerged: tuple[Unmerged, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def left_out(self) -> frozenset[str]:
        """The paths of which nothing came."""
        return frozenset(each.path for each in self.unmerged)


def merged_state(revisions: Revisions, meeting: Meeting, merge: Merge) -> MergedState:
    """Merge by structure, as far as that is proven; else by lines, where these do not conflict."""
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
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A file that both sides changed: its merged `text`, None where there is none; what speaks against it."""

    path: str
    text: bytes | None
    is_settled: bool = False
    spots: tuple[Spot, ...] = ()
    why: str = ""

    @classmethod
    def of(cls, file: BothChanged, blobs: Mapping[str, bytes], meeting: Meeting, merge: Merge) -> "_Judged":
        """The judgement of one file."""
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
