"""What a file offers otherwise than before, be it only to a type checker; on which lines makes no difference."""

from collections.abc import Iterator

from commonhold.linking.parts import PartedSummary
from commonhold.linking.summary import Offer, Summary


def is_restated(before: Summary, after: Summary) -> bool:
    """Whether a file offers something else than before; costs what the two do not share."""
    if isinstance(before, PartedSummary) and isinstance(after, PartedSummary) and _have_same_contracts(before, after):
        return False
    return stated(before) != stated(after)


def _have_same_contracts(before: PartedSummary, after: PartedSummary) -> bool:
    pairs = zip(before.chunks, after.chunks, strict=False)
    return len(before.chunks) == len(after.chunks) and all(
        one is other or one.part.contract == other.part.contract for one, other in pairs
    )


def stated(summary: Summary) -> tuple[object, ...]:
    """What a file offers, wherever in it that stands."""
    return *map(_timeless, summary.offers), *((each.name, each.module, each.member) for each in summary.imports)


def restated(before: Summary | None, after: Summary | None) -> Iterator[Offer]:
    """What came, went or became other: as it was, and as it is."""
    for one, other in ((before, after), (after, before)):
        for offer in one.offers if one else ():
            if other is None or _is_other(offer, other.offered.get(offer.qualname)):
                yield offer


def _is_other(offer: Offer, other: Offer | None) -> bool:
    return other is None or _timeless(offer) != _timeless(other)


def _timeless(offer: Offer) -> tuple[object, ...]:
    return offer.qualname, offer.sort, offer.signatures, offer.shape, offer.is_partial, offer.gives
