"""Interfaces of Go that get another method: types that satisfied them by their methods, and no longer do."""

from collections.abc import Iterable, Iterator
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.declared_types import types_of
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.states import States
from commonhold.code.analysis.repository.summary import ABSTRACT, Offer, Summary
from commonhold.code.analysis.repository.symbols import Place

# A type with one of these methods rarely means to satisfy just this interface.
_COMMON: Final = frozenset({"Close", "Error", "Len", "Less", "Name", "Read", "String", "Swap", "Write"})


def unsatisfied(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the types with all former methods of an interface and without a new one; suspected, as none names it."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        if before is None or after is None or not linkage_of(after.language).spreads:
            continue
        for offer in after.offers:
            is_new = ABSTRACT in offer.modifiers and offer.qualname not in before.offered
            demanded = _methods(before, offer.owner) if is_new else []
            if any(each.name not in _COMMON for each in demanded):
                yield from _lacking(states, path, offer, demanded)


def _methods(summary: Summary, owner: str) -> list[Offer]:
    return [each for each in summary.offers if each.owner == owner and ABSTRACT in each.modifiers]


def _lacking(states: States, path: str, offer: Offer, demanded: list[Offer]) -> Iterator[Concern]:
    rarest = next(each for each in demanded if each.name not in _COMMON)
    for user in states.new.library.definers(rarest.name):
        summary = states.old.library.summary(user)
        for each in summary.offers if summary else ():
            place = (user, each.owner)
            if each.name != rarest.name or not each.owner or ABSTRACT in each.modifiers:
                continue
            if _has_all(states.old, place, demanded) and _method(states.new, place, offer.name) is None:
                what = f"`{offer.qualname}` is new in the interface"
                how = f"has `{each.qualname}` and the other methods, and not this one"
                now = _method(states.new, place, rarest.name)
                line = now.line if now else each.line
                yield Concern(user, line, what, how, Evidence.SUSPICION, path, offer.qualname)


def _has_all(resolver: Resolver, place: Place, demanded: list[Offer]) -> bool:
    made = _method(resolver, place, "")
    if made is not None and made.shape is not None and made.shape.bases:
        return False  # an embedded type may have the new method
    found = [(each, _method(resolver, place, each.name)) for each in demanded]
    return all(own is not None and _types(own) == _types(each) for each, own in found)


def _types(offer: Offer) -> list[object]:
    return [types_of(each) for each in offer.signatures]


def _method(resolver: Resolver, place: Place, name: str) -> Offer | None:
    """Return the method of a type, or the type itself for an empty name, in whichever file of its package."""
    path, owner = place
    summary = resolver.library.summary(path)
    siblings = linkage_of(summary.language).siblings(resolver.library, path) if summary else ()
    for each in (path, *siblings):
        found = resolver.lineage.offer((each, f"{owner}.{name}" if name else owner))
        if found is not None:
            return found
    return None
