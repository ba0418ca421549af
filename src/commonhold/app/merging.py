"""Three versions of one file: proven to merge, verified by the caller's check, or refused, spot by spot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from commonhold.app.trying import Failed, Passed, Trial, try_choices
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Candidate, Proven, Sides, Spot, Unproven, Verdict

Merge = Callable[[bytes, bytes, bytes, str, Sides | None], Proven | Unproven]


@dataclass(frozen=True, slots=True)
class FileMerge:
    """What came of a file.

    `source` is the merged text; None where it is refused, and then `marked` is the text with conflict markers (None
    where the file cannot hold any). `notes` say what was joined. `trial` is there if candidates were tried.
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
        """How the candidate that passed was put together; empty where none was needed."""
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
    """Merge one file. Without a `trial` no candidate is ever chosen."""
    match merge(base, ours, theirs, path, sides):
        case Proven(source, notes):
            return FileMerge(path, Verdict.PROVEN, source, notes)
        case unproven:
            return verified(path, unproven, trial) if trial else refused(path, unproven)


def verified(path: str, unproven: Unproven, trial: Trial) -> FileMerge:
    """The file as the first of its candidates that passes has it; refused where none does."""
    found = try_choices({path: unproven.candidates}, {}, trial)
    if isinstance(found, Failed):
        return refused(path, unproven, found)
    return as_chosen(path, unproven, found)


def as_chosen(path: str, unproven: Unproven, passed: Passed) -> FileMerge:
    """The file as the choice that passed has it. Its spots are kept: there the check is all that speaks for it."""
    return FileMerge(path, Verdict.VERIFIED, passed.choice[path].source, spots=unproven.spots, trial=passed)


def refused(path: str, unproven: Unproven, failed: Failed | None = None) -> FileMerge:
    """The file with its spots and markers."""
    return FileMerge(path, Verdict.REFUSED, spots=unproven.spots, marked=unproven.marked, trial=failed)


def after(first: Candidate | None, others: Callable[[], Iterator[Candidate]]) -> Callable[[], Iterator[Candidate]]:
    """The candidates with one that is tried before them."""

    def candidates() -> Iterator[Candidate]:
        if first is not None:
            yield first
        yield from others()

    return candidates
