"""Attributes that can no longer be assigned: a property without a setter, a field of a frozen dataclass."""

from collections.abc import Iterable, Iterator
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import NAME_FAILS, Use
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.states import States, uses_of
from commonhold.code.analysis.repository.summary import READ_ONLY, Offer, Summary

_FROZEN: Final = "frozen=True"


def unassignable(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the assignments, from outside of their class, to attributes of these files that newly fail."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        for offer in after.offers if before and after else ():
            if before and after and _is_fixed(offer, after) and _was_open(offer, before):
                yield from _assignments(states, path, offer)


def _is_fixed(offer: Offer, summary: Summary) -> bool:
    return READ_ONLY in offer.modifiers or (offer.sort is Sort.VALUE and _is_frozen(summary.offered.get(offer.owner)))


def _was_open(offer: Offer, before: Summary) -> bool:
    old = before.offered.get(offer.qualname)
    is_attribute = old is not None and (old.sort is Sort.VALUE or READ_ONLY in offer.modifiers)
    return old is not None and is_attribute and not _is_fixed(old, before)


def _is_frozen(owner: Offer | None) -> bool:
    shape = owner.shape if owner else None
    return shape is not None and any(_FROZEN in text.replace(" ", "") for text in shape.decorators)


def _assignments(states: States, path: str, offer: Offer) -> Iterator[Concern]:
    for user, _, use in uses_of(states, offer.name):
        if use.use is not Use.STORE or NAME_FAILS in use.expects:
            continue
        if states.new.use(user, use).place == states.old.use(user, use).place == (path, offer.qualname):
            what = f"`{offer.qualname}` can no longer be assigned"
            how = "assigns it from outside"
            yield Concern(user, use.line, what, how, Evidence.CONTRACT, path, offer.qualname, is_broken=True)
