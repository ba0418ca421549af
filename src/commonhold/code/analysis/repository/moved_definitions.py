"""Definitions that a file replaced by imports: their contract may be another in the new place."""

from collections.abc import Iterator

from commonhold.code.analysis.repository.changes import ContractChange, compared, is_taken_in
from commonhold.code.analysis.repository.states import States
from commonhold.code.analysis.repository.summary import Offer
from commonhold.code.analysis.repository.symbols import What


def moved(states: States, path: str) -> Iterator[ContractChange]:
    """Yield the changed contracts of definitions that left a file and can still be imported from it."""
    before, after = states.old.library.summary(path), states.new.library.summary(path)
    if before is None or after is None:
        return
    for offer in before.offers:
        if is_taken_in(offer, after) and (found := _successor(states, path, offer)) is not None:
            yield from compared(offer, *found)


def _successor(states: States, path: str, offer: Offer) -> tuple[Offer | None] | None:
    """Return the definition in place of it, in a tuple, which holds None if there is none; None if that is unknown."""
    head, _, rest = offer.qualname.partition(".")
    thing = states.new.name(path, head)
    if not rest or thing.what is not What.CLASS:
        return None if thing.offer is None or rest else (thing.offer,)
    there, qualname = thing.place
    return (states.new.lineage.offer((there, f"{qualname}.{rest}")),)
