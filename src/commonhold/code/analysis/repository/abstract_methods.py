"""Methods that become abstract: a subclass that does not define them can no longer be instantiated."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.interface import last_name
from commonhold.code.analysis.references import CALL_FAILS
from commonhold.code.analysis.repository.call_signatures import how_used
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.names_of_definitions import made_names
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.states import States, uses_of
from commonhold.code.analysis.repository.summary import ABSTRACT, Offer
from commonhold.code.analysis.repository.symbols import Place, What

_HOW: Final = "does not define it, so no object of it can be made"
_HOW_COMPILED: Final = "does not define it, so it does not compile"
_PYTHON: Final = "python"
# The methods of `java.lang.Object`: an interface may name them, and every object has them.
_OF_ALL_OBJECTS: Final = frozenset({"equals", "hashCode", "toString"})
_ACCESSOR: Final = re.compile(r"(?:get|is|set)([A-Z]\w*)")
_ENFORCING: Final = frozenset({"ABC", "ABCMeta", "Protocol"})


def unmet(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the classes that could be instantiated before, and no longer can."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        for offer in after.offers if before and after else ():
            old = before.offered.get(offer.qualname) if before else None
            if after and linkage_of(after.language).spreads:
                continue  # types do not name the interfaces that they satisfy
            if _is_abstract(offer) and not (old and _is_abstract(old)):
                how = _HOW if after and after.language == _PYTHON else _HOW_COMPILED
                what = f"`{offer.qualname}` is {'abstract now' if old else 'new and abstract'}"
                yield from _made_directly(states, (path, offer.owner), what)
                for heir in states.new.lineage.heirs((path, offer.owner)):
                    line = _line_of_unmet(states, heir, offer.name)
                    if line is not None and not _may_be_generated(states.new, heir, offer.name):
                        evidence = _evidence(states.new, heir)
                        yield Concern(heir[0], line, what, how, evidence, path, offer.qualname)


def _may_be_generated(resolver: Resolver, place: Place, name: str) -> bool:
    """Whether the method is one that generators make of a field, as Lombok does of Java's."""
    summary = resolver.library.summary(place[0])
    known = _ACCESSOR.fullmatch(name)
    if summary is None or not linkage_of(summary.language).adds_members or known is None:
        return False
    return f"{place[1]}.{known[1][0].lower()}{known[1][1:]}" in summary.offered


def _evidence(resolver: Resolver, place: Place) -> Evidence:
    """Return the evidence for a class that lacks a method: a base from outside may have it."""
    summary = resolver.library.summary(place[0])
    is_python = summary is not None and summary.language == _PYTHON
    return Evidence.CONTRACT if is_python or not resolver.lineage.of(place).outside else Evidence.SUSPICION


def _made_directly(states: States, place: Place, what: str) -> Iterator[Concern]:
    """Yield the places that make objects of a class itself, which could be made before."""
    summary = states.new.library.summary(place[0])
    if summary is None or summary.language != _PYTHON or _left_open(states.old, place):
        return
    if not _is_enforced(states.new, place) or states.old.lineage.offer(place) is None:
        return
    for name in made_names(states.new, place):
        for user, _, use in uses_of(states, name):
            thing = states.new.use(user, use) if use.shape is not None and CALL_FAILS not in use.expects else None
            if thing is not None and thing.what is What.CLASS and thing.place == place:
                how = f"{how_used(use)}, of which no object can be made"
                yield Concern(user, use.line, what, how, Evidence.CONTRACT, *place, is_broken=True)


def _is_abstract(offer: Offer) -> bool:
    if ABSTRACT in offer.modifiers:
        return offer.owner != "" and offer.name not in _OF_ALL_OBJECTS
    return any(last_name(text) == "abstractmethod" for each in offer.signatures for text in each.decorators)


def _line_of_unmet(states: States, heir: Place, name: str) -> int | None:
    """Return the line of a subclass that lacks only this method; None if it was never meant to be instantiated."""
    was, now = states.old.lineage.offer(heir), states.new.lineage.offer(heir)
    if (
        was is None
        or now is None
        or ABSTRACT in now.modifiers
        or not _is_enforced(states.new, heir)
        or _left_open(states.old, heir)
    ):
        return None
    further = states.new.lineage.heirs(heir)
    is_base = bool(further) and not any(name in _left_open(states.new, each) for each in further)
    return now.line if name in _left_open(states.new, heir) and not is_base else None


def _is_enforced(resolver: Resolver, place: Place) -> bool:
    """Whether the language checks for abstract methods: Python only when an object is made, and of some classes."""
    summary = resolver.library.summary(place[0])
    if summary is not None and summary.language != _PYTHON:
        return True
    offers = map(resolver.lineage.offer, resolver.lineage.of(place).places)
    shapes = [offer.shape for offer in offers if offer is not None and offer.shape is not None]
    texts = (text for shape in shapes for text in (*shape.texts, *(value for _, value in shape.keywords)))
    return any(last_name(text) in _ENFORCING for text in texts)


def _left_open(resolver: Resolver, place: Place) -> frozenset[str]:
    """Return the abstract methods of a class that no earlier class in its line defines."""
    first: dict[str, Offer] = {}
    for path, qualname in resolver.lineage.of(place).places:
        summary = resolver.library.summary(path)
        for offer in summary.offers if summary else ():
            if offer.owner == qualname:
                first.setdefault(offer.name, offer)
    return frozenset(name for name, offer in first.items() if _is_abstract(offer))
