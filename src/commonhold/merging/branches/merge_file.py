"""Merge three versions of one file: proven, verified by the caller's check, or refused with all conflicting spots."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from commonhold.merging.branches.candidate_verification import Failed, Passed, Trial, try_choices
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Candidate, Proven, Sides, Spot, Unproven, Verdict

Merge = Callable[[bytes, bytes, bytes, str, Sides | None], Proven | Unproven]


@dataclass(frozen=True, slots=True)
class FileMerge:
    """The result of merging one file.

    `source` is the merged text; None if the merge is refused, and then `marked` is the text with conflict markers (None
    if the file cannot hold any). `notes` say which changes were joined. `trial` is set if candidates were tried.
    """

    path: str
    verdict: Verdict
    source: bytes | None = None
    notes: tuple[str, ...] = ()
    spots: tuple[Spot, ...] = ()
    marked: bytes | None = None
    trial: Passed | Failed | None = None

    @property
    def how(self) -> str:
        """Return how the candidate that passed was put together; empty if none was needed."""
        return self.trial.choice[self.path].how if isinstance(self.trial, Passed) else ""


def merge_file(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    path: str,
    *,
    sides: Sides | None = None,
    trial: Trial | None = None,
    merge: Merge = merge,
) -> FileMerge:
    """Merge one file. Without a `trial` a file that is not proven to merge is refused."""
    match merge(base, ours, theirs, path, sides):
        case Proven(source, notes):
            return FileMerge(path, Verdict.PROVEN, source, notes)
        case unproven:
            return verified(path, unproven, trial) if trial else refused(path, unproven)


def verified(path: str, unproven: Unproven, trial: Trial) -> FileMerge:
    """Return the merge with the first candidate that passes the trial; refused if none does."""
    found = try_choices({path: unproven.candidates}, {}, trial)
    if isinstance(found, Failed):
        return refused(path, unproven, found)
    return as_chosen(path, unproven, found)


def as_chosen(path: str, unproven: Unproven, passed: Passed) -> FileMerge:
    """Return the merge with the choice that passed. Its spots are kept: only the check vouches for them."""
    return FileMerge(path, Verdict.VERIFIED, passed.choice[path].source, spots=unproven.spots, trial=passed)


def refused(path: str, unproven: Unproven, failed: Failed | None = None) -> FileMerge:
    """Return the refusal of the file, with its spots and markers."""
    return FileMerge(path, Verdict.REFUSED, spots=unproven.spots, marked=unproven.marked, trial=failed)


def after(first: Candidate | None, others: Callable[[], Iterator[Candidate]]) -> Callable[[], Iterator[Candidate]]:
    """Return the candidates, with `first` tried before all others."""

    def candidates() -> Iterator[Candidate]:
        if first is not None:
            yield first
        yield from others()

    return candidates
