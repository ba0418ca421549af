"""PURE: a file without the changes of some of its commits, all other changes kept; or why that cannot be had."""

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.events import FileChange
from commonhold.kernel.files import FileState
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Sides, Spot, Unproven

SIDES: Final = Sides("without the undone change", "the present file")


@dataclass(frozen=True, slots=True)
class Run:
    """Successive changes of a file to undo, with no other commit between them: from `before` to `after`.

    `oldest` and `newest` are the numbers of the first and the last commit.
    """

    oldest: int
    newest: int
    before: str | None
    after: str | None
    mode_before: int | None
    mode_after: int | None


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why a run cannot be undone: `why` in words; the content under the hash `lost` is no longer kept, if that is it.

    `spots` are the places where the merge was refused, `marked` the file with conflict markers.
    """

    run: Run
    why: str
    lost: str | None = None
    spots: tuple[Spot, ...] = ()
    marked: bytes | None = None


def runs_of(changes: Sequence[tuple[int, FileChange]], others: Sequence[int]) -> tuple[Run, ...]:
    """Return the runs of the `changes` of one file (newest first), newest first.

    `changes` have the numbers of their commits, `others` are the numbers of all other commits to the file.
    """
    between = sorted(others)
    runs: list[Run] = []
    for sequence, change in changes:
        last = runs[-1] if runs else None
        if last and last.before == change.after and bisect(between, sequence) == bisect(between, last.oldest):
            runs[-1] = Run(sequence, last.newest, change.before, last.after, change.mode_before, last.mode_after)
        else:
            states = (change.before, change.after, change.mode_before, change.mode_after)
            runs.append(Run(sequence, sequence, *states))
    return tuple(runs)


def inverse(
    path: str, present: FileState | None, runs: Sequence[Run], content: Callable[[str], bytes | None]
) -> FileState | Hindrance | None:
    """Return the file at `path` without the `runs` (newest first), None if it is gone then.

    `content` returns the bytes under a hash, None if they are no longer kept.
    """
    state = present
    for run in runs:
        undone = _without(path, state, run, content)
        if isinstance(undone, Hindrance):
            return undone
        state = undone
    return state


def _without(
    path: str, state: FileState | None, run: Run, content: Callable[[str], bytes | None]
) -> FileState | Hindrance | None:
    now = None if state is None else hash_bytes(state.content)
    before = None if run.before is None else content(run.before)
    if run.before is not None and before is None:
        return Hindrance(run, f"the content of {path} before the change is no longer kept", lost=run.before)
    if now in (run.after, run.before):
        return None if before is None else FileState(before, _mode(state, run))
    if state is None or before is None or run.after is None:
        return Hindrance(run, _inseparable(path, state, before))
    after = content(run.after)
    if after is None:
        return Hindrance(run, f"the content of {path} after the change is no longer kept", lost=run.after)
    found = merge(after, before, state.content, path, SIDES)
    if isinstance(found, Unproven):
        why = f"{path} was changed since, and the merge is refused: {found.spots[0].why}"
        return Hindrance(run, why, spots=found.spots, marked=found.marked)
    return FileState(found.source, _mode(state, run))


def _inseparable(path: str, state: FileState | None, before: bytes | None) -> str:
    """Return why the change cannot be undone, if it made or deleted the file, or if the file is gone now."""
    if state is None:
        return f"{path} is not there any more"
    if before is None:
        return f"{path} did not exist before the change, and has been changed since"
    return f"{path} was deleted by the change, and made anew since"


def _mode(state: FileState | None, run: Run) -> int:
    """Return the permission bits from before the run, unless they were changed since."""
    if state is None or (state.mode == run.mode_after and run.mode_before is not None):
        return run.mode_before or 0o644
    return state.mode
