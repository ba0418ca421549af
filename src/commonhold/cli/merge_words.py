"""What came of a merge, in words: the verdict, each spot with its reason, and the next step."""

import shlex
from collections.abc import Iterator
from typing import Final

from commonhold.app.branches import BranchMerge
from commonhold.app.histories import Side
from commonhold.app.merging import FileMerge
from commonhold.app.trying import Failed, Passed
from commonhold.cli.describe import some
from commonhold.cli.output import shown, shown_text
from commonhold.merging.verdict import Lines, Spot, Verdict

_OUTCOMES: Final = {
    "forwarded": "fast-forward: only that branch has new commits, so nothing was merged",
    "up_to_date": "already up to date",
}


def file_merged(value: FileMerge) -> Iterator[str]:
    """One file: the verdict, what was joined or could not be, what the check said."""
    yield f"{value.verdict.value}: {shown(value.path)}{_why_trusted(value)}"
    yield from (f"  joined: {shown(note)}" for note in value.notes)
    yield from map(_spot, value.spots)
    yield from _printed(value.trial)


def _why_trusted(value: FileMerge) -> str:
    if value.verdict is Verdict.VERIFIED and isinstance(value.trial, Passed):
        return f" passes {shown(value.trial.check)} after {value.trial.tried} tried: {shown(value.how)}"
    if value.verdict is not Verdict.REFUSED:
        return ""
    count = "1 spot" if len(value.spots) == 1 else f"{len(value.spots)} spots"
    tried = f"; {shown(value.trial.why)}" if isinstance(value.trial, Failed) else ""
    return f": {count} cannot be shown to merge{tried}"


def _spot(spot: Spot) -> str:
    return f"  {spot.reason.value} at {_lines(spot.ours)} of ours, {_lines(spot.theirs)} of theirs: {shown(spot.why)}"


def _lines(lines: Lines) -> str:
    first, end = lines
    if end <= first + 1:
        return f"line {first + 1}"
    return f"lines {first + 1}-{end}"


def _printed(trial: Passed | Failed | None) -> Iterator[str]:
    if isinstance(trial, Failed) and trial.tail:
        yield f"what {shown(trial.check)} printed about the first of them:"
        yield from (f"  {line}" for line in shown_text(trial.tail).splitlines())


def file_hint(value: FileMerge, out: str) -> str:
    """The next step for a refused file."""
    mend = "mend what differs" if value.marked is None else f"mend {shown(out)} between the markers"
    if value.trial is not None:
        return mend
    return f"{mend}, or repeat the call with --check COMMAND, which decides what may be right"


def branch_merged(value: BranchMerge) -> Iterator[str]:
    """A branch: the verdict, both sides, each file that is not simply proven, and what to do."""
    yield from _head(value)
    for each in value.files:
        if each.verdict is not Verdict.PROVEN or each.notes:
            yield from file_merged(_alone(each))
    yield from (f"{each.obstacle.value}: {shown(each.path)}: {shown(each.why)}" for each in value.blocked)
    if value.in_the_way:
        yield f"in the way: {some(value.in_the_way)}"
    yield from _printed(value.trial)
    if hint := branch_hint(value):
        yield f"next: {hint}"


def _alone(value: FileMerge) -> FileMerge:
    """The file without what the check printed, which is told once."""
    if not isinstance(value.trial, Failed):
        return value
    return FileMerge(value.path, value.verdict, value.source, value.notes, value.spots, value.marked)


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
        count = f"{len(value.files)} file(s) changed on both sides"
        yield f"merged{where}: {value.verdict.value}, {count}{_checked(value)}{trial}"


def _checked(value: BranchMerge) -> str:
    return f"; the whole passes {shown(value.trial.check)}" if isinstance(value.trial, Passed) else ""


def _side(side: Side) -> str:
    return f"{shown(side.name)} {side.commit[:12]} {shown(side.intent)}".rstrip()


def branch_hint(value: BranchMerge) -> str:
    """The next step; empty where nothing is left to be done."""
    if value.is_standing:
        begun = "mend the unmerged files, `git add` them, then `git commit`" if _has_refused(value) else "`git commit`"
        return f"{begun}; `git merge --abort` takes it back"
    if value.outcome != "refused":
        return ""
    if value.in_the_way:
        return "commit or stash these changes, then repeat the call"
    name = shlex.quote(value.meeting.theirs.name)
    if _has_refused(value) and value.trial is None and not value.blocked:
        return (
            f"commonhold merge {name} --check COMMAND tries what may be right; --keep-conflicts leaves markers to mend"
        )
    if _has_refused(value) or value.blocked or value.trial is not None:
        return f"commonhold merge {name} --keep-conflicts leaves the merge in the working tree to be mended"
    return "see `git status`, end what is under way, then repeat the call"


def _has_refused(value: BranchMerge) -> bool:
    return any(each.verdict is Verdict.REFUSED for each in value.files)
