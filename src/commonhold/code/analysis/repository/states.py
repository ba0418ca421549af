"""Two states of a repository, and a definition that differs between them."""

from collections.abc import Iterator
from dataclasses import dataclass

from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Reference
from commonhold.code.analysis.repository.changes import ContractChange
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.summary import Offer, Summary
from commonhold.code.analysis.repository.symbols import Place


@dataclass(frozen=True, slots=True)
class States:
    """Before and after. `is_throughout`: effects inside of one file are examined, too; no other check does so."""

    old: Resolver
    new: Resolver
    is_throughout: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A changed contract, and its file. `is_passed_on`: the function to which it passes its arguments changed."""

    path: str
    change: ContractChange
    is_passed_on: bool = False

    @property
    def place(self) -> Place:
        """The changed definition."""
        return self.path, self.change.qualname

    @property
    def owner(self) -> Place | None:
        """The class that it is a member of; None if it is none."""
        owner = self.change.before.owner
        return (self.path, owner) if owner else None


def member_of(resolver: Resolver, place: Place, name: str) -> Offer | None:
    """Return the definition of a name in a class itself, not in a base of it."""
    return resolver.lineage.offer((place[0], f"{place[1]}.{name}"))


def lost_bases(states: States, was: Place, now: Place) -> tuple[str, ...]:
    """Return the names of lost direct or indirect bases; a base that moved, or that is now indirect, is not lost."""
    old, new = states.old.lineage.of(was), states.new.lineage.of(now)
    kept = {place[1] for place in new.places} | set(new.outside)
    return tuple(name for name in (*(place[1] for place in old.places[1:]), *old.outside) if name not in kept)


def has_owner(states: States, subject: Subject) -> bool:
    """Whether its class is still a class; also true if it was no member."""
    owner = states.new.lineage.offer(subject.owner) if subject.owner else None
    return subject.owner is None or (owner is not None and owner.sort is Sort.CLASS)


def uses_of(states: States, name: str) -> Iterator[tuple[str, Summary, Reference]]:
    """Yield the uses of a name in files that existed before, each with its file."""
    for user in states.new.library.users(name):
        summary = states.new.library.summary(user)
        if summary is not None and states.old.library.summary(user) is not None:
            yield from ((user, summary, use) for use in summary.uses_by_name.get(name, ()))
