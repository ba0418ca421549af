"""The outcome of a check of two branches, in words: the answer, each finding with both places, the next step."""

import shlex
from collections.abc import Iterator

from commonhold.cli.output import shown, shown_text, some
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.contract_conflicts import SideName
from commonhold.merging.branches.check_branches import Checked
from commonhold.merging.branches.histories import Side
from commonhold.merging.branches.merged_state import Unmerged
from commonhold.merging.branches.semantic_conflicts import Finding, Place
from commonhold.merging.verdict import NOWHERE
from commonhold.workspace.checks import TESTS


def branches_checked(value: Checked) -> Iterator[str]:
    """Yield the answer, the sides, conflicts, failures and possible failures, the tests, and the next step."""
    yield f"{value.outcome}: {_head(value)}"
    yield f"  ours:   {_side(value.meeting.ours)}"
    yield f"  theirs: {_side(value.meeting.theirs)}"
    for unmerged in value.unmerged:
        yield from _unmerged(unmerged)
    for finding in value.findings:
        yield from _finding(finding)
    yield from (f"notice: {shown(each)}" for each in value.notices)
    yield from _tests(value)
    hint, step = check_step(value)
    if hint:
        yield f"hint: {hint}"
    if step:
        yield f"next: {step}"


def _head(value: Checked) -> str:
    if value.is_contained:
        return "one side has all that the other has, so there is nothing that could clash"
    if value.run is not None and not value.run.passed:
        return "the tests fail with both sides together"
    counts = [_count(len(value.unmerged), "not merged"), *(_of_evidence(value, each) for each in Evidence)]
    told = ", ".join(filter(None, counts))
    if not told:
        return "nothing is found that would not work together"
    return f"{told}; the tests pass with both sides together" if value.run is not None else told


def _of_evidence(value: Checked, evidence: Evidence) -> str:
    return _count(sum(each.evidence is evidence for each in value.findings), f"by {evidence.value}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number else ""


def _side(side: Side) -> str:
    return f"{shown(side.name)} {side.commit[:12]} {shown(side.intent)}".rstrip()


def _unmerged(value: Unmerged) -> Iterator[str]:
    yield f"not merged: {shown(value.path)}: {shown(value.why)}"
    for spot in value.spots:
        sides = ((spot.ours, "ours"), (spot.theirs, "theirs"))
        places = ", ".join(f"line {lines[0] + 1} of {side}" for lines, side in sides if lines != NOWHERE)
        yield f"  {spot.reason.value}{f' at {places}' if places else ''}: {shown(spot.why)}"


def _finding(value: Finding) -> Iterator[str]:
    yield f"{value.evidence.value}: {shown(value.why)}"
    yield f"  {value.by.value} changed {_place(value.cause, value.by)}"
    yield f"  {value.by.other.value} has {_place(value.place, value.by.other)}"


def _place(place: Place, side: SideName) -> str:
    """Return the place as that side has it, since it can be repaired there."""
    own = place.ours_line if side is SideName.OURS else place.theirs_line
    line = own or place.line or place.ours_line or place.theirs_line
    name = f" ({shown(place.qualname)})" if place.qualname else ""
    return f"{shown(place.path)}{f':{line}' if line else ''}{name}"


def _tests(value: Checked) -> Iterator[str]:
    if value.tests:
        yield f"impacted tests: {some([each.path for each in value.tests])}"
    if value.run is not None and not value.run.passed:
        yield f"what {shown(value.run.command)} printed:"
        yield from (f"  {line}" for line in shown_text(value.run.tail).splitlines())


def check_step(value: Checked) -> tuple[str, str]:
    """Return advice, and the next command to run; each is empty if there is none."""
    ours, theirs = (shlex.quote(_stable(each)) for each in (value.meeting.ours, value.meeting.theirs))
    if value.outcome == "admitted":
        return "", ""
    # Git switches to a local branch only.
    switch = f"git switch {theirs} && " if value.meeting.branch.startswith("branch ") else ""
    if value.unmerged:
        hint = f"on {theirs}, merge {ours} and resolve the conflicts named above"
        return hint, switch and f"{switch}commonhold merge {ours} --keep-conflicts"
    if value.outcome == "refused":
        hint = f"on {theirs}, merge {ours} and fix the places named above, then check again"
        return hint, switch and f"{switch}git merge {ours}"
    call = f"commonhold check {theirs} --ours {ours}"
    if value.tests:
        return f"look at both places, or let the tests decide: {call} --tests 'COMMAND {TESTS}'", ""
    return f"look at both places: no test is known that would decide; {call} --tests COMMAND runs any", ""


def _stable(side: Side) -> str:
    """Return a name that means the same commit after a switch."""
    return side.commit if side.name == "HEAD" else side.name
