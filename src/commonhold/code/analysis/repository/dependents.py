"""Find all places that depend on a definition: its callers, subclasses, importers, in any file."""

from collections.abc import Iterator
from dataclasses import dataclass

from commonhold.code.analysis.impact import COMMON_ATTRIBUTES
from commonhold.code.analysis.module_definitions import CONSTRUCTORS
from commonhold.code.analysis.references import Receiver, Reference, Use
from commonhold.code.analysis.repository.call_signatures import how_used
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.names_of_definitions import names_of
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.symbols import Place, Thing, What


@dataclass(frozen=True, slots=True)
class Dependent:
    """A place that uses a definition. `qualname` is the definition that the place is in, empty at the top level.

    `how` is a verb phrase. `is_sure`: the use was resolved to the definition; else only its name suggests it.
    """

    path: str
    line: int
    qualname: str
    use: Use
    how: str
    is_sure: bool


def dependents(library: Library, path: str, qualname: str) -> tuple[Dependent, ...]:
    """Return every use of a definition, each place once, sure ones first, then by path and line.

    Uses of a class include its construction; uses of a method include those that may reach it through a subclass. Uses
    inside the definition itself do not count.
    """
    summary = library.summary(path)
    offer = summary.offered.get(qualname) if summary else None
    if offer is None:
        return ()
    found = dict.fromkeys(_dependents(Resolver(library), (path, qualname)))
    return tuple(sorted(found, key=lambda each: (not each.is_sure, each.path, each.line)))


def _dependents(resolver: Resolver, place: Place) -> Iterator[Dependent]:
    for name in names_of(resolver, place):
        for user in sorted(set(resolver.library.users(name))):
            summary = resolver.library.summary(user)
            for use in summary.uses_by_name.get(name, ()) if summary else ():
                is_sure = _certainty(resolver, place, user, use)
                inside = summary.definition_at(use.line) if summary else ""
                if is_sure is not None and (user, inside) != place:
                    yield Dependent(user, use.line, inside, use.use, how_used(use), is_sure)


def _certainty(resolver: Resolver, place: Place, user: str, use: Reference) -> bool | None:
    """Return whether a use was resolved to the definition, or (False) may mean it; None if it means another."""
    thing = resolver.use(user, use)
    if thing.what is What.UNKNOWN:
        is_near = use.receiver not in (Receiver.OUTSIDE, Receiver.NONE) and use.name not in COMMON_ATTRIBUTES
        return False if is_near and "." in place[1] and use.name == place[1].rpartition(".")[2] else None
    if not thing.is_found:
        return None
    return True if thing.place == place or _makes(resolver, thing, place, use) else None


def _makes(resolver: Resolver, thing: Thing, place: Place, use: Reference) -> bool:
    """Whether a call of a class runs this constructor."""
    owner, _, name = place[1].rpartition(".")
    is_construction = thing.what is What.CLASS and use.shape is not None and name in CONSTRUCTORS
    return is_construction and (place[0], owner) in resolver.lineage.of(thing.place).places
