"""Changes of a file's interface, even those that only a type checker sees; a move to other lines is none."""

from collections.abc import Iterator

from commonhold.code.analysis.repository.parts import PartedSummary
from commonhold.code.analysis.repository.summary import Offer, Summary


def is_restated(before: Summary, after: Summary) -> bool:
    """Whether the interface of a file changed; costs only the parts that the two do not share."""
    if isinstance(before, PartedSummary) and isinstance(after, PartedSummary):
        pairs = zip(before.chunks, after.chunks, strict=False)
        is_same = all(old is new or old.part.contract == new.part.contract for old, new in pairs)
        if is_same and len(before.chunks) == len(after.chunks):
            return False
    return stated(before) != stated(after)


def stated(summary: Summary) -> tuple[object, ...]:
    """Return the interface of a file, without its lines."""
    imports = ((each.name, each.module, each.member) for each in summary.imports)
    return *map(_timeless, summary.offers), *imports, summary.exports


def restated(before: Summary | None, after: Summary | None) -> Iterator[Offer]:
    """Yield the offers that were added, removed or changed: as they were, and as they are."""
    for one, other in ((before, after), (after, before)):
        for offer in one.offers if one else ():
            if other is None or _is_other(offer, other.offered.get(offer.qualname)):
                yield offer


def _is_other(offer: Offer, other: Offer | None) -> bool:
    return other is None or _timeless(offer) != _timeless(other)


def _timeless(offer: Offer) -> tuple[object, ...]:
    return offer.qualname, offer.sort, offer.signatures, offer.shape, offer.is_partial, offer.gives, offer.modifiers
