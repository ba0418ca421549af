"""Check whether two branches would work together. Nothing is written: no branch, no index and no file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.changes import contract_changes
from commonhold.code.analysis.repository.contract_conflicts import SideName
from commonhold.code.analysis.repository.impacted_tests import ImpactedTest, impacted_tests
from commonhold.code.indexes import Index, Progress, silent
from commonhold.kernel.keys import FILE, Key, parse_names
from commonhold.kernel.policy import Policies, Suspicion
from commonhold.merging.branches.candidate_verification import CHECK_SECONDS
from commonhold.merging.branches.histories import Meeting, Revisions
from commonhold.merging.branches.merge_file import Merge
from commonhold.merging.branches.merged_state import MergedState, Unmerged, merged_state
from commonhold.merging.branches.semantic_conflicts import Finding, Sides, findings, is_linked, sides_of
from commonhold.merging.branches.type_conflicts import TypesOf, typed, with_types
from commonhold.merging.branches.verification import Check
from commonhold.merging.merge import merge

Outcome = Literal["admitted", "escalated", "refused"]
CheckOf = Callable[[str, Sequence[str]], Check | None]
"""A function that returns the check of a tree by the tests at some paths; None if there is nothing to run."""


@dataclass(frozen=True, slots=True)
class CheckWish:
    """The revisions to check, how to run the affected tests, and for how long. Without a `base` git finds it.

    A finding that the project's `policies` only report does not escalate. Without `types_of` no type checker runs.
    """

    theirs: str
    ours: str = "HEAD"
    base: str | None = None
    check_of: CheckOf | None = None
    seconds: float = CHECK_SECONDS
    policies: Policies = field(default_factory=Policies)
    types_of: TypesOf | None = None


@dataclass(frozen=True, slots=True)
class TestRun:
    """The result of the affected tests on the merged state, and the end of their output."""

    command: str
    passed: bool
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer.

    `unmerged` are the files that cannot be merged, `findings` the failures, or possible ones, of both sides together.
    `tests` are the tests that the changes affect, and `run` is their result. `is_contained`: one side contains all of
    the other; otherwise `state` is the merged state.
    """

    outcome: Outcome
    meeting: Meeting
    unmerged: tuple[Unmerged, ...] = ()
    findings: tuple[Finding, ...] = ()
    notices: tuple[str, ...] = ()
    tests: tuple[ImpactedTest, ...] = ()
    run: TestRun | None = None
    is_contained: bool = False
    state: MergedState | None = None


def check_branches(
    revisions: Revisions, index: Index, wish: CheckWish, progress: Progress = silent, *, merge: Merge = merge
) -> Checked:
    """Merge two revisions in memory, and examine the result."""
    meeting = revisions.meeting_of(wish.ours, wish.theirs, wish.base)
    if {meeting.ours.commit, meeting.theirs.commit} & set(meeting.bases):
        return Checked("admitted", meeting, is_contained=True)
    state = merged_state(revisions, meeting, merge)
    changed = revisions.changed(meeting, is_linked)
    sides = sides_of(revisions, index, meeting, state, changed, progress)
    found, notices = _found(sides, meeting, wish)
    tests = impacted_tests(sides.merged, _names(sides))
    minded = tuple(each for each in found if _is_minded(each, wish.policies))
    checked = Checked(_outcome(state.unmerged, minded, None), meeting, state.unmerged, found, notices, tests)
    run = _tried(state, checked, wish) if checked.outcome != "refused" else None
    return replace(checked, outcome=_outcome(state.unmerged, minded, run), run=run, state=state)


def _found(sides: Sides, meeting: Meeting, wish: CheckWish) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    found, notices = findings(sides)
    if wish.types_of is None:
        return found, notices
    by_types, said = typed(sides, meeting.ours.commit, wish.types_of)
    return with_types(found, by_types), (*notices, *said)


def _names(sides: Sides) -> Mapping[str, frozenset[str]]:
    """Return the bodies and contracts that either side changed, by path."""
    found: dict[str, set[str]] = {}
    for side in SideName:
        for path in sides.changed_by(side):
            names = found.setdefault(path, set())
            names.update(each.qualname for each in sides.touches[side].get(path, ()))
            changes = contract_changes(sides.base.summary(path), sides.of(side).summary(path))
            names.update(each.qualname for each in changes)
    return {path: frozenset(names) for path, names in found.items()}


def _tried(state: MergedState, checked: Checked, wish: CheckWish) -> TestRun | None:
    if wish.check_of is None:
        return None
    check = wish.check_of(state.tree, [each.path for each in checked.tests])
    if check is None:
        return None
    result = check.passes(state.settled, wish.seconds)
    return TestRun(check.name, result.passed, result.tail)


def _is_minded(each: Finding, policies: Policies) -> bool:
    """Whether a finding counts for the outcome: a mere suspicion does not if the project only reports those."""
    names = parse_names(each.place.qualname) if each.place.qualname else ()
    key = Key(FILE, tuple(each.place.path.split("/")), names)
    return each.evidence is not Evidence.SUSPICION or policies.on_suspicion(key) is not Suspicion.NOTICE


def _outcome(unmerged: Sequence[Unmerged], found: Sequence[Finding], run: TestRun | None) -> Outcome:
    """Return the outcome. Conflicts refuse; on mere suspicions the tests decide, or a person."""
    if unmerged or any(each.evidence is not Evidence.SUSPICION for each in found):
        return "refused"
    if run is not None:
        return "admitted" if run.passed else "refused"
    return "escalated" if found else "admitted"
