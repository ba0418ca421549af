"""The signatures that a call must fit, and the effect of a changed signature on it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from commonhold.code.analysis import fields
from commonhold.code.analysis.effects import HOW, Impact, by_signature, call_text, is_wholly_new, met
from commonhold.code.analysis.interface import (
    INERT,
    TRANSPARENT,
    CallableInterface,
    ParamKind,
    Params,
    bind,
    last_name,
    widens,
)
from commonhold.code.analysis.module_definitions import CONSTRUCTORS
from commonhold.code.analysis.references import Receiver, Reference
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.linkage import Linkage
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.summary import HANDS_ON, Offer
from commonhold.code.analysis.repository.symbols import Place, Thing, What

_PLAIN_CLASS_DECORATORS = frozenset({"dataclass", "final", "total_ordering", "unique"})


@dataclass(frozen=True, slots=True)
class Met:
    """The signatures that a use must fit, without arguments that are passed implicitly as the reference says.

    `is_chosen_once`: if there are several, the file chooses one of them as it runs; else each call chooses one.
    """

    signatures: tuple[CallableInterface, ...]
    reference: Reference
    is_chosen_once: bool = False


def met_by(resolver: Resolver, thing: Thing, reference: Reference) -> Met | None:
    """Return the signatures that a use must fit; None if it is unknown how the thing is called."""
    if thing.what is What.FUNCTION and thing.offer and thing.offer.signatures:
        owner = thing.offer.owner if thing.receiver is Receiver.CLASS else ""
        linkage = _linkage(resolver, thing)
        receiver = thing.receiver if linkage.writes_receiver else Receiver.NONE
        seen = replace(reference, receiver=receiver, class_name=owner)
        found = plain_signatures(resolver, thing.path, thing.offer)
        if linkage.overloads:
            found = tuple(dict.fromkeys((*found, *_overloads(resolver, thing))))
        return Met(found, seen, linkage.redefines)
    if thing.what is What.CLASS and reference.shape is not None:
        if _linkage(resolver, thing).says_made:
            makers = _makers(resolver, thing.place)
            return Met(makers, replace(reference, receiver=Receiver.NONE)) if makers else None
        constructor = constructor_of(resolver, thing.place)
        return Met((constructor,), replace(reference, receiver=Receiver.NONE)) if constructor else None
    return None


def _linkage(resolver: Resolver, thing: Thing) -> Linkage:
    summary = resolver.library.summary(thing.path)
    return linkage_of(summary.language if summary else "")


def _overloads(resolver: Resolver, thing: Thing) -> Iterator[CallableInterface]:
    """Yield the signatures that the bases have under the name of a member."""
    if thing.reached_on is None or thing.offer is None:
        return
    for path, qualname in resolver.lineage.of(thing.reached_on).places:
        offer = resolver.lineage.offer((path, f"{qualname}.{thing.offer.name}"))
        yield from offer.signatures if offer is not None else ()


def _makers(resolver: Resolver, place: Place) -> tuple[CallableInterface, ...]:
    """Return how a class is constructed, in a language whose classes state it: its own signatures, else a base's."""
    offers = map(resolver.lineage.offer, resolver.lineage.of(place).places)
    return next((offer.signatures for offer in offers if offer is not None and offer.signatures), ())


def plain_signatures(resolver: Resolver, path: str, offer: Offer) -> tuple[CallableInterface, ...]:
    """Return the signatures without the decorators that are known to return their function unchanged."""
    return tuple(
        replace(each, decorators=tuple(text for text in each.decorators if not _hands_on(resolver, path, text)))
        for each in offer.signatures
    )


def _hands_on(resolver: Resolver, path: str, decorator: str) -> bool:
    """Whether a decorator of the repository keeps the signature: by its annotation (`F` to `F`), or its wrapper."""
    name = decorator.partition("(")[0]
    if last_name(name) in TRANSPARENT or last_name(name) in INERT:
        return False  # every comparison knows these decorators, and compares them
    thing = resolver.chain(path, tuple(name.split(".")))
    offer = thing.offer
    if thing.what is not What.FUNCTION or offer is None or not offer.signatures or not offer.signatures[-1].params:
        return False
    if "(" not in decorator and HANDS_ON in offer.modifiers:
        return True
    given, taken = offer.signatures[-1].returns, offer.signatures[-1].params[0].annotation
    is_same = given is not None and given == taken
    return is_same if "(" not in decorator else bool(given and _gives_back(given))


def _gives_back(returns: str) -> bool:
    """Whether an annotation is `Callable[[F], F]`."""
    inside = returns.partition("Callable[[")[2]
    taken, _, given = inside.partition("],")
    return bool(taken) and given.strip().rstrip("]").strip() == taken.strip()


def constructor_of(resolver: Resolver, place: Place) -> CallableInterface | None:
    """Return the signature of a class's constructor, without `self`; None if it depends on unknown code."""
    line = resolver.lineage.of(place)
    for one in line.places:
        offer = resolver.lineage.offer(one)
        if offer is None or offer.shape is None or not _has_plain_decorators(offer):
            return None
        for name in CONSTRUCTORS:
            own = resolver.library.summary(one[0])
            found = own.offered.get(f"{one[1]}.{name}") if own else None
            if found is not None and found.signatures:
                return plain_signatures(resolver, one[0], found)[-1].without_first()
        if offer.shape.fields is not None:
            return CallableInterface(fields_of(resolver, place))
    return CallableInterface(()) if line.is_closed else None


def _has_plain_decorators(offer: Offer) -> bool:
    names = {last_name(text) for text in offer.shape.decorators} if offer.shape else set()
    return names <= _PLAIN_CLASS_DECORATORS


def fields_of(resolver: Resolver, place: Place) -> Params:
    """Return the parameters that the fields of a class and its bases become, in their order."""
    found: Params = ()
    for one in reversed(resolver.lineage.of(place).places):
        offer = resolver.lineage.offer(one)
        if offer and offer.shape and offer.shape.fields is not None:
            found = fields.merged(found, offer.shape.fields)
    return found


def effect(old: Met, new: Met, language: str) -> Impact | None:
    """Return the worst effect of changed signatures on one use; None if there is none, or if it failed before."""
    linkage = linkage_of(language)
    if _still_fits(old, new, linkage) or not (linkage.may_omit or binds(old)):
        return None
    impacts = [impact for pair in _pairs(old, new) if (impact := by_signature(*pair, new.reference))]
    worst = max(impacts, key=lambda impact: impact.is_broken, default=None)
    if worst and worst.is_broken and len(new.signatures) > 1 and binds(new):
        is_choice = _are_alternatives(new)
        how = "does not bind to each of its definitions" if is_choice else "may now mean another of its signatures"
        worst = Impact(f"calls `{call_text(new.reference)}`, which {how}")
    if worst and worst.is_broken and linkage.may_omit:
        return Impact(f"calls `{call_text(new.reference)}`, which now leaves something out or gives too much")
    return worst


def _still_fits(old: Met, new: Met, linkage: Linkage) -> bool:
    """Whether a call still has each signature that it fitted, perhaps widened, or takes its rest from a value."""
    shape = new.reference.shape
    if shape is None:
        return False
    if shape.has_double_star and linkage.says_made:
        return any(bind(shape, each.params) for each in new.signatures)
    if shape.is_starred or max(len(old.signatures), len(new.signatures)) == 1:
        return False
    if _are_alternatives(old) and _are_alternatives(new):
        return False
    before, after = ([numbered(each) for each in side.signatures] for side in (old, new))
    fitted = [each for each in before if bind(shape, met(each, new.reference))]
    return bool(fitted) and all(any(_goes_on(each, wider) for wider in after) for each in fitted)


def _are_alternatives(found: Met) -> bool:
    """Whether the file chooses one of several definitions as it runs, by the platform say: a call must fit each."""
    signatures = found.signatures
    return (
        len(signatures) > 1 and found.is_chosen_once and not any(each.is_decorated("overload") for each in signatures)
    )


def _goes_on(old: CallableInterface, new: CallableInterface) -> bool:
    return widens(old.params, new.params) and not is_wholly_new(old, new)


def numbered(interface: CallableInterface) -> CallableInterface:
    """Return the interface with positions in place of the names of positional-only parameters."""
    params = (
        replace(each, name=str(place)) if each.kind is ParamKind.POSITIONAL_ONLY else each
        for place, each in enumerate(interface.params)
    )
    return replace(interface, params=tuple(params))


def _pairs(old: Met, new: Met) -> Iterator[tuple[CallableInterface, CallableInterface]]:
    if len(old.signatures) == len(new.signatures):
        yield from zip(old.signatures, new.signatures, strict=True)
    else:
        yield old.signatures[-1], new.signatures[-1]


def binds(found: Met) -> bool:
    """Whether a call fits one of the signatures, or it is unknown whether it does."""
    shape = found.reference.shape
    if shape is None or shape.is_starred:
        return True
    return any(not each.is_transparent or bind(shape, met(each, found.reference)) for each in found.signatures)


def how_used(reference: Reference) -> str:
    """Return a use as a verb phrase."""
    return f"calls `{call_text(reference)}`" if reference.shape is not None else HOW[reference.use]
