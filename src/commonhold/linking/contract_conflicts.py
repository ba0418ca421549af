"""Contracts that hold on each of two sides and break in what is merged of both.

One engine answers for one file and for whole branches, so that a merge proves nothing that a check of the same branches
refuses.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from commonhold.linking.examination import examine_throughout
from commonhold.linking.findings import Concern
from commonhold.linking.library import Library, Overlay


class SideName(StrEnum):
    """One of the two sides."""

    OURS = "ours"
    THEIRS = "theirs"

    @property
    def other(self) -> "SideName":
        """The other one."""
        return SideName.THEIRS if self is SideName.OURS else SideName.OURS


LineOf = Callable[[str, int], int | None]
"""The line of a side for a line of the merged state, counted from 1; None where the side has no such line."""


@dataclass(frozen=True, slots=True)
class SideState:
    """The files of one side.

    `changed` are the paths that differ from the base, `brought` those that differ between the merged state and the
    other side: what this side contributes to it.
    """

    library: Library
    changed: frozenset[str]
    brought: frozenset[str]
    line_of: LineOf


@dataclass(frozen=True, slots=True)
class JoinedStates:
    """Two sides, their common base, and the merged state. The files `left_out` could not be merged."""

    base: Library
    ours: SideState
    theirs: SideState
    merged: Library
    left_out: frozenset[str] = field(default_factory=frozenset)

    def of(self, name: SideName) -> SideState:
        """The state of one side."""
        return self.ours if name is SideName.OURS else self.theirs

    def merged_as_by(self, name: SideName) -> Library:
        """The merged state, with the files that could not be merged as this side has them."""
        side = self.of(name).library
        return Overlay(self.merged, {path: side.summary(path) for path in self.left_out})


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place in the merged state that one side broke for the other; `by` is the side that changed the contract."""

    concern: Concern
    by: SideName


def contract_conflicts(states: JoinedStates) -> tuple[tuple[Conflict, ...], tuple[str, ...]]:
    """Return the conflicts, those of ours first, and notices about what could not be looked at."""
    looked = [_broken_by(states, by) for by in SideName]
    notices = dict.fromkeys(notice for _, notices in looked for notice in notices)
    return tuple(conflict for found, _ in looked for conflict in found), tuple(notices)


def _broken_by(states: JoinedStates, by: SideName) -> tuple[list[Conflict], tuple[str, ...]]:
    """What one side changed and the other's part of the merged state counts on."""
    side, other = states.of(by), states.of(by.other)
    links = examine_throughout(other.library, states.merged_as_by(by.other), side.brought)
    links = links.beside(lambda path, line: other.line_of(path, line) is None)
    concerns = [each for each in links.concerns if states.left_out.isdisjoint({each.path, each.target_path})]
    alone = _concerned_alone(states, by) if concerns else frozenset()
    kept = (
        each
        for each in sorted(concerns, key=lambda each: not each.what)
        if (each.path, side.line_of(each.path, each.line), each.target_path, each.target) not in alone
    )
    return [Conflict(each, _changer(states, each, by)) for each in kept], links.notices


def _concerned_alone(states: JoinedStates, by: SideName) -> frozenset[tuple[str, int | None, str, str]]:
    """What a side's changes concern on that side itself: where, by its own lines, and what."""
    side = states.of(by)
    concerns: Iterator[Concern] = iter(examine_throughout(states.base, side.library, side.changed).concerns)
    return frozenset((each.path, each.line, each.target_path, each.target) for each in concerns)


def _changer(states: JoinedStates, each: Concern, by: SideName) -> SideName:
    """A use that only the examined side has is its own use of what the other side changed."""
    own, others = (states.of(side).line_of(each.path, each.line) for side in (by, by.other))
    return by.other if others is None and own is not None else by
