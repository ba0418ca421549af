"""Conflicts that only the merged state of two sides has: broken contracts, and bodies that interact."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.changed_bodies import touched
from commonhold.code.analysis.repository.contract_conflicts import (
    Conflict,
    JoinedStates,
    SideName,
    SideState,
    contract_conflicts,
)
from commonhold.code.analysis.repository.interacting_changes import InteractingChange, Touches, crossings
from commonhold.code.analysis.repository.languages import LINKED
from commonhold.code.analysis.repository.library import Library, Overlay
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.indexes import Index, Progress, silent
from commonhold.code.regions.languages import language_for
from commonhold.merging.branches.histories import History, Meeting, Revisions
from commonhold.merging.branches.merged_state import Doubt, MergedState
from commonhold.merging.line_maps import LineMap
from commonhold.merging.tree import Changed
from commonhold.merging.verdict import NOWHERE


@dataclass(frozen=True, slots=True)
class Place:
    """A line in the merged state and in each side; None if there is none. `qualname` is its innermost definition."""

    path: str
    qualname: str
    line: int | None
    ours_line: int | None
    theirs_line: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A failure, or a possible one, of both sides together.

    `by` is the side that changed the definition at `cause`; the other side relies on it at `place`.
    """

    evidence: Evidence
    why: str
    place: Place
    cause: Place
    by: SideName


@dataclass(frozen=True)
class Sides:
    """Summaries of the two sides, their base and their merge; `changed` are the changed files in all versions."""

    base: Library
    ours: Library
    theirs: Library
    merged: Library
    state: MergedState
    changed: Mapping[str, Changed]

    def of(self, name: SideName) -> Library:
        """Return the summaries of a side."""
        return self.ours if name is SideName.OURS else self.theirs

    def changed_by(self, name: SideName) -> frozenset[str]:
        """Return the paths that a side changed relative to the base, except those that could not be merged."""
        return frozenset(path for path, each in self.changed.items() if each.base != _text(each, name)) - self._left_out

    def brought_by(self, name: SideName) -> frozenset[str]:
        """Return the paths whose merged content differs from that of the other side."""
        found = {path for path, each in self.changed.items() if self.merged_text(each) != _text(each, name.other)}
        return frozenset(found) - self._left_out

    @property
    def joined(self) -> JoinedStates:
        """Return the same states in the form that the contract analysis takes."""
        ours, theirs = (
            SideState(self.of(name), self.changed_by(name), self.brought_by(name), self.maps[name].to_side)
            for name in SideName
        )
        return JoinedStates(self.base, ours, theirs, self.merged, self._left_out)

    @property
    def _left_out(self) -> frozenset[str]:
        return self.state.left_out

    @cached_property
    def touches(self) -> Mapping[SideName, Touches]:
        """Return the bodies that each side changed."""
        return {name: self._touches(name) for name in SideName}

    def _touches(self, name: SideName) -> Touches:
        found = {
            path: touched(path, self.changed[path].base, _text(self.changed[path], name))
            for path in sorted(self.changed_by(name))
        }
        return {path: each for path, each in found.items() if each}

    @cached_property
    def maps(self) -> Mapping[SideName, LineMap]:
        """Return the maps from lines of the merged state to lines of each side."""
        return {name: LineMap(lambda path, name=name: self._texts(path, name)) for name in SideName}  # type: ignore[misc]

    def _texts(self, path: str, name: SideName) -> tuple[bytes | None, bytes | None] | None:
        each = self.changed.get(path)
        return None if each is None else (self.merged_text(each), _text(each, name))

    def merged_text(self, each: Changed) -> bytes | None:
        """Return the merged bytes of a file; for one that is left out the value has no meaning."""
        if each.path in self.state.texts:
            return self.state.texts[each.path]
        if each.ours in (each.base, each.theirs):
            return each.theirs
        # Both changed it, and it is not among the texts: one of them renamed the file.
        return each.ours if each.theirs == each.base else None

    def place(self, path: str, line: int, qualname: str | None = None) -> Place:
        """Return the place of a line of the merged state."""
        name = _around(self.merged, path, line) if qualname is None else qualname
        lines = (self.maps[side].to_side(path, line) for side in SideName)
        return Place(path, name, line, *lines)

    def definition(self, path: str, qualname: str, by: SideName) -> Place:
        """Return the place of a definition, even if the side deleted it."""
        if found := _line(self.merged.summary(path), qualname):
            return self.place(path, found, qualname)
        lines = {side: _line(self.of(side).summary(path), qualname) for side in (by, by.other)}
        return Place(path, qualname, None, lines[SideName.OURS], lines[SideName.THEIRS])


def is_linked(path: str) -> bool:
    """Whether files with this name are linked to others."""
    language = language_for(path, b"")
    return language is not None and language.name in LINKED


def sides_of(
    revisions: Revisions | History,
    index: Index,
    meeting: Meeting,
    state: MergedState,
    changed: Iterable[Changed],
    progress: Progress = silent,
) -> Sides:
    """Return the sides of a merged state; `changed` are the files of linked languages that either side changed."""
    names = (revisions.base_of(meeting), meeting.ours.commit, meeting.theirs.commit, state.tree)
    base, ours, theirs, joined = (index.of_revision(name, progress) for name in names)
    settled = {path: index.summary(path, text) for path, text in state.settled.items()}
    return Sides(base, ours, theirs, Overlay(joined, settled), state, {each.path: each for each in changed})


def _text(each: Changed, name: SideName) -> bytes | None:
    return each.ours if name is SideName.OURS else each.theirs


def _line(summary: Summary | None, qualname: str) -> int | None:
    offer = summary.offered.get(qualname) if summary else None
    return offer.line if offer else None


def _around(library: Library, path: str, line: int) -> str:
    summary = library.summary(path)
    return summary.definition_at(line) if summary else ""


def findings(sides: Sides) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return all findings, the most certain first, and notices. A broken pair is not reported again as interacting."""
    conflicts, notices = contract_conflicts(sides.joined)
    listed = [_finding(sides, each) for each in conflicts]
    broken = {_identity(each): each for each in reversed(listed)}
    met = crossings(sides.merged, sides.touches[SideName.OURS], sides.touches[SideName.THEIRS])
    told = {pair_of(each) for each in broken.values()}
    crossed = [each for each in (_met(sides, each) for each in met) if pair_of(each) not in told]
    told |= {pair_of(each) for each in crossed}
    doubts = {(pair_of(each), each.why): each for each in _doubts(sides) if pair_of(each) not in told}.values()
    return tuple(sorted((*broken.values(), *crossed, *doubts), key=_rank)), notices


def _identity(each: Finding) -> tuple[object, ...]:
    return each.evidence, each.place.path, each.place.line, each.cause.path, each.cause.qualname


def pair_of(each: Finding) -> frozenset[tuple[str, str]]:
    """Return the two definitions of a finding."""
    return frozenset({(each.place.path, each.place.qualname), (each.cause.path, each.cause.qualname)})


_RANKS: Final = tuple(Evidence)


def _rank(each: Finding) -> tuple[int, str, int, str]:
    return _RANKS.index(each.evidence), each.place.path, each.place.line or 0, each.why


def _finding(sides: Sides, each: Conflict) -> Finding:
    concern = each.concern
    place = sides.place(concern.path, concern.line)
    cause = sides.definition(concern.target_path, concern.target, each.by)
    return Finding(concern.evidence, concern.why(f"`{place.qualname or concern.path}`"), place, cause, each.by)


def _met(sides: Sides, each: InteractingChange) -> Finding:
    by = SideName.THEIRS if each.is_ours else SideName.OURS
    place = sides.place(each.path, each.line, each.qualname)
    cause = sides.place(each.target_path, each.target_line, each.target)
    return Finding(Evidence.SUSPICION, each.why, place, cause, by)


def _doubts(sides: Sides) -> Iterator[Finding]:
    """Yield a finding for each spot within a file that is not proven to merge correctly."""
    for doubt in sides.state.doubts:
        ours, theirs = (_spot_place(sides, doubt, name) for name in SideName)
        yield Finding(Evidence.SUSPICION, doubt.spot.why, theirs, ours, SideName.OURS)


def _spot_place(sides: Sides, doubt: Doubt, name: SideName) -> Place:
    """Return the place of a spot on one side."""
    lines = doubt.spot.ours if name is SideName.OURS else doubt.spot.theirs
    own = lines[0] + 1 if lines != NOWHERE else None
    merged = sides.maps[name].to_merged(doubt.path, own) if own else None
    if merged is not None:
        return sides.place(doubt.path, merged)
    qualname = _around(sides.of(name), doubt.path, own) if own else ""
    both = {name: own, name.other: None}
    return Place(doubt.path, qualname, None, both[SideName.OURS], both[SideName.THEIRS])
