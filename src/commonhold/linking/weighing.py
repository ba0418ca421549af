"""What is done about concerns: which bind, which are suspected, which are only told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commonhold.linking.changes import contract_changes
from commonhold.linking.findings import Concern
from commonhold.linking.summary import Summary
from commonhold.semantics.erasing import differ_at_run_time
from commonhold.semantics.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Version:
    """A file before and after, as bytes and as summaries; None where it is not there."""

    old: bytes | None
    new: bytes | None
    before: Summary | None
    after: Summary | None

    @property
    def differs_at_run_time(self) -> bool:
        """Whether anything but annotations is other than it was."""
        return self.old is None or self.new is None or differ_at_run_time(self.old, self.new)

    @property
    def breaks_contract(self) -> bool:
        """Whether a definition is gone, or is called in another way."""
        return bool(contract_changes(self.before, self.after))


@dataclass(frozen=True, slots=True)
class Weighed:
    """The concerns by what they lead to; `told` leads to nothing."""

    binding: tuple[Concern, ...]
    suspected: tuple[Concern, ...]
    told: tuple[Concern, ...] = ()


def weigh(concerns: Sequence[Concern], complaints: Sequence[Concern], versions: Iterable[Version]) -> Weighed:
    """Weigh what was tied or suspected, and what a type checker newly complains of.

    What was tied binds. A type checker's word binds where a contract changed that is felt at run time. Where none did,
    what it knows of types may just have become more: it is suspected. Where only annotations changed, nothing fails.
    """
    tied = tuple(each for each in concerns if each.evidence is Evidence.CONTRACT)
    named = tuple(each for each in concerns if each.evidence is Evidence.SUSPICION)
    known = {(each.path, each.line) for each in tied}
    further = tuple(each for each in complaints if (each.path, each.line) not in known)
    changed = tuple(versions) if further else ()
    if further and not any(each.differs_at_run_time for each in changed):
        return Weighed(tied, named, further)
    if any(each.breaks_contract for each in changed):
        return Weighed((*tied, *further), named)
    return Weighed(tied, (*named, *further))
