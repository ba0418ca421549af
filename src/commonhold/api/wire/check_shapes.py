"""The JSON form of the outcome of a check of two branches."""

from commonhold.api.wire.merge_shapes import side, spot
from commonhold.api.wire.places import key_of
from commonhold.api.wire.text import Json, sound
from commonhold.code.analysis.repository.impacted_tests import ImpactedTest
from commonhold.merging.branches.check_branches import Checked, TestRun
from commonhold.merging.branches.merged_state import Unmerged
from commonhold.merging.branches.semantic_conflicts import Finding, Place


def checked(value: Checked) -> Json:
    """The answer. Lines count from 1, but in `spots`, as in those of a merge, from 0."""
    return {
        "outcome": value.outcome,
        "ours": side(value.meeting.ours),
        "theirs": side(value.meeting.theirs),
        "bases": list(value.meeting.bases),
        "contained": value.is_contained,
        "unmerged": [_unmerged(each) for each in value.unmerged],
        "findings": [_finding(each) for each in value.findings],
        "notices": [sound(each) for each in value.notices],
        "tests": [impacted(each) for each in value.tests],
        "check": _run(value.run),
    }


def impacted(value: ImpactedTest) -> Json:
    """A file of tests that a change concerns."""
    return {
        "path": sound(value.path),
        "names": list(value.names),
        "distance": value.distance,
        "why": sound(value.why),
    }


def _unmerged(value: Unmerged) -> Json:
    return {"path": sound(value.path), "why": sound(value.why), "spots": [spot(each) for each in value.spots]}


def _finding(value: Finding) -> Json:
    return {
        "evidence": value.evidence.value,
        "why": sound(value.why),
        "by": value.by.value,
        "place": _place(value.place),
        "cause": _place(value.cause),
    }


def _place(value: Place) -> Json:
    return {
        "key": key_of(value.path, value.qualname),
        "path": sound(value.path),
        "line": value.line,
        "ours_line": value.ours_line,
        "theirs_line": value.theirs_line,
    }


def _run(value: TestRun | None) -> Json | None:
    if value is None:
        return None
    return {"command": sound(value.command), "passed": value.passed, "printed": sound(value.tail)}
