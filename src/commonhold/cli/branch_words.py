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
    "forwarded": "fast-forward: only that branch has new commits, so it is taken as it is, without a merge commit",
    "up_to_date": "already up to date",
}


def branch_merged(value: BranchMerge, call: str = "", check: str = "") -> Iterator[str]:
    """Yield the verdict on a branch, and the next step; see `branch_step`."""
    yield from branch_verdict(value)
    hint, step = branch_step(value, call, check)
    if hint:
        yield f"hint: {hint}"
    if step:
        yield f"next: {step}"


def branch_verdict(value: BranchMerge) -> Iterator[str]:
    """Yield the verdict on a branch, both sides, and each file that is not simply proven."""
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


def branch_step(value: BranchMerge, call: str = "", check: str = "") -> tuple[str, str]:
    """Return advice, and the next command to run; each is empty if there is none.

    `call` is the command line that merged the branch, unless it was `commonhold merge`; `check` is a known check of it.
    """
    if value.is_standing:
        hint, step = _ending(value)
        return "; ".join(filter(None, (hint, "`git merge --abort` takes it back"))), step
    if value.outcome != "refused":
        return "", ""
    if value.in_the_way:
        return "commit or stash these changes, then repeat the call", "git status"
    if value.held:
        return "repeat the call when they are released", "commonhold leases"
    return _after_conflict(value, call, check)


def _ending(value: BranchMerge) -> tuple[str, str]:
    """Return how to end a merge that is left in the working tree."""
    if _has_refused(value):
        return "fix the unmerged files, `git add` them, then `git commit`", "git status"
    if value.outcome == "refused":
        hint = "no file has markers: change the places named above, `git add` their files, then `git commit`"
        return hint, "git status"
    return "", "git commit"


def _after_conflict(value: BranchMerge, call: str, check: str) -> tuple[str, str]:
    merge = f"commonhold merge {shlex.quote(value.meeting.theirs.name)}"
    has_markers = any(each.marked is not None for each in value.files)
    has_candidates = (has_markers or bool(value.met)) and value.trial is None and not value.blocked
    if not (has_candidates or _has_refused(value) or value.blocked or value.met or value.trial is not None):
        return "finish or abort the operation in progress, then repeat the call", "git status"
    if has_candidates and check:
        return "the check decides between the candidates", f"{call or merge} --check {shlex.quote(check)}"
    tries = f"`{call or merge} --check COMMAND` tries the candidates; " if has_candidates else ""
    keep = "leaves conflict markers" if has_markers else "leaves the merge in the working tree, for you"
    then = f"; when you have committed the merge, repeat `{call}`" if call else ""
    return f"{tries}--keep-conflicts {keep} to resolve{then}", f"{merge} --keep-conflicts"


def _has_refused(value: BranchMerge) -> bool:
    return any(each.verdict is Verdict.REFUSED for each in value.files)
