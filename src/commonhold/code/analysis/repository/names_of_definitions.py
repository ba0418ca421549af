"""The names under which a definition is used: its own, its import aliases, and for constructors the class names."""

from collections.abc import Iterator

from commonhold.code.analysis.chains import ELEMENT, Chain
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, Sort
from commonhold.code.analysis.references import ITSELF
from commonhold.code.analysis.repository.changes import ContractChange
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.summary import Offer, Summary
from commonhold.code.analysis.repository.symbols import Place


def names_of(resolver: Resolver, place: Place) -> tuple[str, ...]:
    """Return the names by which a definition may be used, its own first. Members cannot be imported by themselves."""
    own = _own(resolver, place)
    offer = resolver.lineage.offer(place)
    if offer is not None and offer.owner and _made_by(place, offer) is None:
        return tuple(dict.fromkeys(own))
    return tuple(dict.fromkeys(_aliases(resolver, own)))


def made_names(resolver: Resolver, place: Place) -> tuple[str, ...]:
    """Return the names by which a class, or a subclass of it, may be called."""
    heirs = (heir[1].rpartition(".")[2] for heir in resolver.lineage.heirs(place))
    own = (ITSELF, place[1].rpartition(".")[2], *heirs)
    return tuple(dict.fromkeys(_aliases(resolver, iter(own))))


def names_touched(resolver: Resolver, place: Place, change: ContractChange) -> tuple[str, ...]:
    """Return the names that a change concerns: those of the definition, and those that a lost base gave."""
    lost = _inherited(resolver, place) if change.before.sort is Sort.CLASS and _has_lost_bases(change) else ()
    return tuple(dict.fromkeys((*names_of(resolver, place), *lost)))


def _own(resolver: Resolver, place: Place) -> Iterator[str]:
    yield place[1].rpartition(".")[2]
    offer = resolver.lineage.offer(place)
    made = _made_by(place, offer) if offer else None
    if made is not None:
        yield ITSELF
        yield made[1].rpartition(".")[2]
        yield from (heir[1].rpartition(".")[2] for heir in resolver.lineage.heirs(made))


def _made_by(place: Place, offer: Offer) -> Place | None:
    """Return the class whose calls must fit this definition; None if there is none."""
    if offer.sort is Sort.CLASS:
        return place
    return (place[0], offer.owner) if offer.name in CONSTRUCTORS and offer.owner else None


def _has_lost_bases(change: ContractChange) -> bool:
    old, new = change.before.shape, change.after.shape if change.after else None
    return new is None or (old is not None and not set(old.texts) <= set(new.texts))


def _inherited(resolver: Resolver, place: Place) -> Iterator[str]:
    """Yield the names that a class inherits from its bases."""
    for path, qualname in resolver.lineage.of(place).places[1:]:
        summary = resolver.library.summary(path)
        yield from (offer.name for offer in summary.offers if offer.owner == qualname) if summary else ()


def _aliases(resolver: Resolver, names: Iterator[str]) -> Iterator[str]:
    """Yield the names, and the names under which files import them, over any number of imports."""
    pending, seen = list(names), set[str]()
    while pending:
        name = pending.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield name
        for path in resolver.library.users(name) if name else ():
            summary = resolver.library.summary(path)
            pending += _other_names(summary, name) if summary else ()


def _other_names(summary: Summary, name: str) -> Iterator[str]:
    """Yield the other names of a name in a file: imports, and assignments (`session_class = Session`)."""
    yield from (each.name for each in summary.imports if each.member == name and each.name)
    values = (each for each in summary.offers if each.sort is Sort.VALUE)
    yield from (each.name for each in values if _without_arguments(each.gives)[-1:] == (name,))


def _without_arguments(chain: Chain) -> Chain:
    """Return the class itself if it is written with type arguments."""
    return chain[:-1] if chain[-1:] == (ELEMENT,) else chain
