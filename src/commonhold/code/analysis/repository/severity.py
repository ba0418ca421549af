"""The consequences of concerns: some are binding, some are suspicions, some are only reported."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.changes import contract_changes
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.framework_exposure import narrows
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.analysis.runtime_equality import differ_at_run_time


@dataclass(frozen=True, slots=True)
class Version:
    """A file before and after, as bytes and as summaries; None if it does not exist."""

    old: bytes | None
    new: bytes | None
    before: Summary | None
    after: Summary | None

    @property
    def differs_at_run_time(self) -> bool:
        """Whether anything besides annotations changed."""
        return self.old is None or self.new is None or differ_at_run_time(self.old, self.new)

    @property
    def broken_names(self) -> frozenset[str]:
        """The names that are gone, or whose callers may be wrong now."""
        return frozenset(change.name for change in contract_changes(self.before, self.after) if narrows(change))


@dataclass(frozen=True, slots=True)
class Weighed:
    """The concerns by their consequence; those in `told` have none."""

    binding: tuple[Concern, ...]
    suspected: tuple[Concern, ...]
    told: tuple[Concern, ...] = ()


def weigh(
    concerns: Sequence[Concern], complaints: Sequence[Concern], versions: Iterable[Version], after: Library
) -> Weighed:
    """Weigh resolved and suspected concerns, and new complaints of a type checker in the state `after`.

    A resolved concern is binding. A type checker's complaint is binding if it is about a name whose contract changed,
    because that has an effect at run time. Elsewhere the checker may merely have learnt more about types: such a
    complaint is a suspicion. If only annotations changed, nothing fails; nor does a test that expects the error.
    """
    tied = tuple(each for each in concerns if each.evidence is Evidence.CONTRACT)
    named = tuple(each for each in concerns if each.evidence is Evidence.SUSPICION)
    known = {(each.path, each.line) for each in tied}
    every = tuple(each for each in complaints if (each.path, each.line) not in known)
    further = tuple(each for each in every if not _is_expected(each, after))
    told = tuple(each for each in every if each not in further)
    changed = tuple(versions) if further else ()
    if further and not any(each.differs_at_run_time for each in changed):
        return Weighed(tied, named, every)
    broken = frozenset[str]().union(*(each.broken_names for each in changed))
    about = [each for each in further if _is_about(each, broken, after)]
    return Weighed((*tied, *about), (*named, *(each for each in further if each not in about)), told)


def _is_expected(complaint: Concern, after: Library) -> bool:
    """Whether the code around the place of a complaint expects a use there to fail."""
    summary = after.summary(complaint.path)
    return summary is not None and any(use.line == complaint.line and use.expects for use in summary.uses)


def _is_about(complaint: Concern, names: frozenset[str], after: Library) -> bool:
    """Whether a complaint names one of these, or its line uses one."""
    summary = after.summary(complaint.path)
    used = {use.name for use in summary.uses if use.line == complaint.line} if summary else set()
    return not names.isdisjoint(used) or any(f"`{name}`" in complaint.how for name in names)
