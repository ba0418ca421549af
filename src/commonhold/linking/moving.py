"""What a file now takes from another instead of defining it: it may be offered otherwise there."""

from collections.abc import Iterator

from commonhold.linking.changes import ContractChange, compared, is_taken_in
from commonhold.linking.states import States
from commonhold.linking.summary import Offer
from commonhold.linking.things import What


def moved(states: States, path: str) -> Iterator[ContractChange]:
    """The contracts of what left a file and is still to be had from it, where they are not what they were."""
    before, after = states.old.library.summary(path), states.new.library.summary(path)
    if before is None or after is None:
        return
    for offer in before.offers:
        if is_taken_in(offer, after) and (found := _successor(states, path, offer)) is not None:
            yield from compared(offer, *found)


def _successor(states: States, path: str, offer: Offer) -> tuple[Offer | None] | None:
    """What is offered in place of it, which may be nothing; None where that cannot be seen."""
    head, _, rest = offer.qualname.partition(".")
    thing = states.new.name(path, head)
    if not rest or thing.what is not What.CLASS:
        return None if thing.offer is None or rest else (thing.offer,)
    there, qualname = thing.place
    return (states.new.lineage.offer((there, f"{qualname}.{rest}")),)
