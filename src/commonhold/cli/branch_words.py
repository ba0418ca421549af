"""The outcome of merging a branch, in words: verdict, both sides, each file not simply proven, the next step."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from commonhold.cli.describe import who
from commonhold.cli.merge_words import file_merged, printed
from commonhold.cli.output import shown, some
from commonhold.kernel.texts import counted
from commonhold.merging.branches.candidate_verification import Failed, Passed
from commonhold.merging.branches.histories import Side
from commonhold.merging.branches.merge_branch import BranchMerge
from commonhold.merging.branches.merge_file import FileMerge
from commonhold.merging.verdict import Verdict

_OUTCOMES: Final = {
    "forwarded": "fast-forward: only that branch has new commits, so nothing was merged",
    "up_to_date": "already up to date",
}


def branch_merged(value: BranchMerge) -> Iterator[str]:
    """Yield the verdict on a branch, both sides, each file that is not simply proven, and the next step."""
    yield from _head(value)
    for each in value.files:
        if each.verdict is not Verdict.PROVEN or each.notes:
            yield from file_merged(_alone(each))
    yield from (f"{each.obstacle.value}: {shown(each.path)}: {shown(each.why)}" for each in value.blocked)
    yield from (f"{each.spot.reason.value}: {shown(each.spot.why)}" for each in value.met)
    if value.in_the_way:
        yield f"in the way: {some(value.in_the_way)}"
    for held in value.held:
        task = f': "{shown(held.task)}"' if held.task else ""
        yield f"  {shown(held.key)} is held by {who(held.holder)}{task}"
    yield from printed(value.trial)
    if hint := branch_hint(value):
        yield f"next: {hint}"


def _alone(value: FileMerge) -> FileMerge:
    """Return the file without the output of the check, which is printed once."""
    return replace(value, trial=None) if isinstance(value.trial, Failed) else value


def _head(value: BranchMerge) -> Iterator[str]:
    trial = " (dry run: nothing is changed)" if value.is_dry_run else ""
    if value.outcome == "refused":
        yield f"refused: {shown(value.why)}{trial}"
        yield f"  ours:   {_side(value.meeting.ours)}"
        yield f"  theirs: {_side(value.meeting.theirs)}"
    elif value.outcome in _OUTCOMES:
        yield f"{_OUTCOMES[value.outcome]}{trial}"
    else:
        where = f" as {value.commit[:12]}" if value.commit else ""
        count = f"{counted(len(value.files), 'file')} changed on both sides"
        yield f"merged{where}: {value.verdict.value}, {count}{_checked(value)}{trial}"


def _checked(value: BranchMerge) -> str:
    return f"; the whole passes {shown(value.trial.check)}" if isinstance(value.trial, Passed) else ""


def _side(side: Side) -> str:
    return f"{shown(side.name)} {side.commit[:12]} {shown(side.intent)}".rstrip()


def branch_hint(value: BranchMerge) -> str:
    """Return the next step; empty if none remains."""
    if value.is_standing:
        return f"{_ending(value)}; `git merge --abort` takes it back"
    if value.outcome != "refused":
        return ""
    if value.in_the_way:
        return "commit or stash these changes, then repeat the call"
    if value.held:
        return "repeat the call when they are released; `commonhold leases` says until when they are held"
    return _after_conflict(value)


def _ending(value: BranchMerge) -> str:
    """Return how to end a merge that is left in the working tree."""
    if _has_refused(value):
        return "fix the unmerged files, `git add` them, then `git commit`"
    if value.outcome == "refused":
        return "no file has markers: change the places named above, `git add` their files, then `git commit`"
    return "`git commit`"


def _after_conflict(value: BranchMerge) -> str:
    call = f"commonhold merge {shlex.quote(value.meeting.theirs.name)}"
    has_markers = any(each.marked is not None for each in value.files)
    keep = "leaves conflict markers" if has_markers else "leaves the merge in the working tree, for you"
    if (has_markers or value.met) and value.trial is None and not value.blocked:
        return f"{call} --check COMMAND tries the candidates; --keep-conflicts {keep} to resolve"
    if _has_refused(value) or value.blocked or value.met or value.trial is not None:
        return f"{call} --keep-conflicts {keep} to resolve"
    return "see `git status`, finish or abort the operation in progress, then repeat the call"


def _has_refused(value: BranchMerge) -> bool:
    return any(each.verdict is Verdict.REFUSED for each in value.files)
