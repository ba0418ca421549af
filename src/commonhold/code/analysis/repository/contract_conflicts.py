"""Contracts that hold on each of two sides and break in the merged state.

The same code answers for one file and for whole branches, so that a merge proves nothing that a check of the same
branches refuses.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from commonhold.code.analysis.repository.examination import examine_throughout
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.library import Library, Overlay


class SideName(StrEnum):
    """One of the two sides."""

    OURS = "ours"
    THEIRS = "theirs"

    @property
    def other(self) -> "SideName":
        """The other one."""
        return SideName.THEIRS if self is SideName.OURS else SideName.OURS


LineOf = Callable[[str, int], int | None]
"""Returns the line of a side for a line of the merged state, counted from 1; None if the side has no such line."""


@dataclass(frozen=True, slots=True)
class SideState:
    """The files of one side.

    `changed` are the paths that differ from the base. `brought` are those that differ between the merged state and the
    other side: the contribution of this side.
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
        """Return the state of one side."""
        return self.ours if name is SideName.OURS else self.theirs

    def merged_as_by(self, name: SideName) -> Library:
        """Return the merged state, with this side's version of the files that could not be merged."""
        side = self.of(name).library
        return Overlay(self.merged, {path: side.summary(path) for path in self.left_out})


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place in the merged state that one side broke for the other; `by` is the side that changed the contract."""

    concern: Concern
    by: SideName


def contract_conflicts(states: JoinedStates) -> tuple[tuple[Conflict, ...], tuple[str, ...]]:
    """Return the conflicts, those of ours first, and notices about parts that could not be examined."""
    looked = [_broken_by(states, by) for by in SideName]
    notices = dict.fromkeys(notice for _, notices in looked for notice in notices)
    return tuple(conflict for found, _ in looked for conflict in found), tuple(notices)


def _broken_by(states: JoinedStates, by: SideName) -> tuple[list[Conflict], tuple[str, ...]]:
    """Return the conflicts of one side's changes with the other side's part of the merged state, and notices."""
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
    """Return the places that a side's changes affect on that side itself, by its own lines, with their targets."""
    side = states.of(by)
    concerns: Iterator[Concern] = iter(examine_throughout(states.base, side.library, side.changed).concerns)
    return frozenset((each.path, each.line, each.target_path, each.target) for each in concerns)


def _changer(states: JoinedStates, each: Concern, by: SideName) -> SideName:
    """Return the side that changed the contract: a use that only the examined side has was broken by the other."""
    own, others = (states.of(side).line_of(each.path, each.line) for side in (by, by.other))
    return by.other if others is None and own is not None else by
