"""The JSON form of the outcome of a merge. Names that are not valid UTF-8 are written with escapes."""

from commonhold.api.wire.text import Json, sound
from commonhold.merging.branches.candidate_verification import Failed, Passed
from commonhold.merging.branches.histories import Side
from commonhold.merging.branches.merge_branch import BranchMerge
from commonhold.merging.branches.merge_file import FileMerge
from commonhold.merging.verdict import Spot


def file_merge(value: FileMerge) -> Json:
    """One file. Lines are counted from 0; each pair is the first line and the line after the last."""
    return {
        "outcome": "refused" if value.source is None else "merged",
        "verdict": value.verdict.value,
        "path": sound(value.path),
        "notes": list(value.notes),
        "how": value.how,
        "spots": [spot(each) for each in value.spots],
        "check": _check(value.trial),
    }


def branch_merge(value: BranchMerge) -> Json:
    """A branch."""
    return {
        "outcome": value.outcome,
        "verdict": value.verdict.value,
        "ours": side(value.meeting.ours),
        "theirs": side(value.meeting.theirs),
        "why": sound(value.why),
        "files": [_part(each) for each in value.files],
        "blocked": [
            {"path": sound(each.path), "obstacle": each.obstacle.value, "why": sound(each.why)}
            for each in value.blocked
        ],
        "met": [
            {"ours_path": sound(each.ours_path), "theirs_path": sound(each.theirs_path), **spot(each.spot)}
            for each in value.met
        ],
        "in_the_way": [sound(path) for path in value.in_the_way],
        "held": [
            {"path": sound(each.path), "key": each.key, "holder": each.holder, "task": each.task} for each in value.held
        ],
        "check": _check(value.trial),
        "commit": value.commit,
        "standing": value.is_standing,
        "dry_run": value.is_dry_run,
    }


def _part(value: FileMerge) -> Json:
    shape = file_merge(value)
    del shape["outcome"], shape["check"]
    return shape


def side(value: Side) -> Json:
    """One side of a merge."""
    return {"name": value.name, "commit": value.commit, "intent": sound(value.intent)}


def spot(value: Spot) -> Json:
    """One place that cannot be shown to merge."""
    lines = {"base": list(value.base), "ours": list(value.ours), "theirs": list(value.theirs)}
    return {"reason": value.reason.value, "why": sound(value.why), **lines}


def _check(value: Passed | Failed | None) -> Json | None:
    if value is None:
        return None
    failure = value if isinstance(value, Failed) else None
    return {
        "command": sound(value.check),
        "passed": failure is None,
        "tried": value.tried,
        "why": sound(failure.why) if failure else "",
        "printed": sound(failure.tail) if failure else "",
    }
