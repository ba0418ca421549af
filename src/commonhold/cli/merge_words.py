"""The outcome of a merge, in words: the verdict, each spot with its reason, and the next step."""

from collections.abc import Iterator

from commonhold.cli.output import shown, shown_text
from commonhold.kernel.texts import counted
from commonhold.merging.branches.candidate_verification import Failed, Passed
from commonhold.merging.branches.merge_file import FileMerge
from commonhold.merging.verdict import NOWHERE, Lines, Spot, Verdict


def file_merged(value: FileMerge) -> Iterator[str]:
    """One file: the verdict, joined and refused spots, the output of the check."""
    yield f"{value.verdict.value}: {shown(value.path)}{_why_trusted(value)}"
    yield from (f"  joined: {shown(note)}" for note in value.notes)
    yield from map(_spot, value.spots)
    yield from printed(value.trial)


def _why_trusted(value: FileMerge) -> str:
    if value.verdict is Verdict.VERIFIED and isinstance(value.trial, Passed):
        return f" passes {shown(value.trial.check)} after {value.trial.tried} tried: {shown(value.how)}"
    if value.verdict is not Verdict.REFUSED:
        return ""
    count = counted(len(value.spots), "spot")
    tried = f"; {shown(value.trial.why)}" if isinstance(value.trial, Failed) else ""
    return f": {count} cannot be shown to merge{tried}"


def _spot(spot: Spot) -> str:
    sides = (("ours", spot.ours), ("theirs", spot.theirs))
    places = ", ".join(f"{_lines(lines)} of {side}" for side, lines in sides if lines != NOWHERE)
    return f"  {spot.reason.value}{f' at {places}' if places else ''}: {shown(spot.why)}"


def _lines(lines: Lines) -> str:
    first, end = lines
    if end <= first + 1:
        return f"line {first + 1}"
    return f"lines {first + 1}-{end}"


def printed(trial: Passed | Failed | None) -> Iterator[str]:
    """The end of the check's output about the likeliest candidate."""
    if isinstance(trial, Failed) and trial.tail:
        yield f"what {shown(trial.check)} printed about the first of them:"
        yield from (f"  {line}" for line in shown_text(trial.tail).splitlines())


def file_hint(value: FileMerge, out: str, *, is_by_git: bool = False) -> str:
    """Return the next step for a refused file. A file that cannot get markers has no candidates either.

    `is_by_git`: git merges a branch, and called us for one file.
    """
    if value.marked is None:
        return "take one side, or resolve the difference by hand"
    mend = f"fix {shown(out)} between the markers"
    if value.trial is not None:
        return mend
    call = "`git merge --abort`, then `commonhold merge BRANCH --check COMMAND`"
    return (
        f"{mend}, or {call if is_by_git else 'repeat the call with --check COMMAND'}: it decides between the candidates"
    )
