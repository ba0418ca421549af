"""Find the contracts that differ between two versions of a file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from commonhold.code.analysis.interface import EVERY_BASE, CallableInterface
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.repository.declared_types import parameter_change, result_change, types_of
from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.linkage import Linkage
from commonhold.code.analysis.repository.summary import ABSTRACT, PLAIN, PRIVATE, STATIC, ClassShape, Offer, Summary

_CONSTRUCTOR: Final = "constructor"


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A name whose contract changed: `after` is None if it is gone. `what` says so as a clause."""

    qualname: str
    what: str
    before: Offer
    after: Offer | None

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.before.name


def contract_changes(before: Summary | None, after: Summary | None) -> tuple[ContractChange, ...]:
    """Return the names that are gone, or are offered with another contract.

    Annotations are part of no contract here, because nothing fails for them at run time. New names are not included
    either.
    """
    if before is None or before.problem or (after is not None and after.problem):
        return ()
    now = after.offered if after else {}
    linkage = linkage_of(before.language)
    found: list[ContractChange] = []
    for offer in before.offers:
        new = now.get(offer.qualname)
        if new is not None and _terms(offer) == _terms(new):
            continue  # most of a file: to erase its annotations would take longer than all the rest
        if not _is_told_by_class(offer, before) and not is_taken_in(offer, after):
            found += (*compared(offer, new), *_compiled(offer, new, linkage))
    return (*found, *_hidden(before, after))


def _terms(offer: Offer) -> tuple[object, ...]:
    """Return all of an offer that its contract depends on."""
    return offer.signatures, offer.sort, offer.shape, offer.modifiers, offer.is_partial


def _hidden(before: Summary, after: Summary | None) -> Iterator[ContractChange]:
    """Yield the names that still exist and are no longer exported, if the language hides such names."""
    if after is None or before.exports is None or after.exports is None or not linkage_of(after.language).hides:
        return
    for name in before.exports:
        offer = before.offered.get(name)
        if offer is not None and name not in after.exports and name in after.offered:
            yield ContractChange(name, f"`{name}` is exported no more", offer, None)


def _is_told_by_class(offer: Offer, summary: Summary) -> bool:
    """Whether this is a constructor whose signatures the class itself states, in a language that does so."""
    owner = summary.offered.get(offer.owner)
    is_made = owner is not None and owner.sort is Sort.CLASS and bool(owner.signatures)
    return is_made and owner is not None and offer.name in (_CONSTRUCTOR, owner.name)


def compared(old: Offer, new: Offer | None) -> Iterator[ContractChange]:
    """Yield the change of one name's contract, if there is one."""
    name = f"`{old.qualname}`"
    if new is None:
        yield ContractChange(old.qualname, f"{name} is gone", old, None)
    elif old.sort is not new.sort:
        if Sort.VALUE not in (old.sort, new.sort):
            yield ContractChange(old.qualname, f"{name} was a {old.sort} and is now a {new.sort}", old, new)
    elif new.is_partial and not old.is_partial:
        yield ContractChange(old.qualname, f"{name} is defined in one branch only", old, new)
    elif (old.signatures, old.shape, old.modifiers) == (new.signatures, new.shape, new.modifiers):
        return
    elif old.signatures and new.signatures and erased(old) != erased(new):
        yield ContractChange(old.qualname, _what_of_function(name, old, new), old, new)
    elif old.shape and new.shape and (was := _runtime(old.shape)) != (now := _runtime(new.shape)):
        yield ContractChange(old.qualname, _what_of_class(name, was, now), old, new)
    elif (words := _what_of_modifiers(old, new)) is not None:
        yield ContractChange(old.qualname, f"{name} {words}", old, new)


def _compiled(old: Offer, new: Offer | None, linkage: Linkage) -> Iterator[ContractChange]:
    """Yield the changes that only a compiler refuses: of declared types, and of a field into a method or back."""
    if new is None or (old.signatures and new.signatures and erased(old) != erased(new)):
        return
    name = f"`{old.qualname}`"
    if {old.sort, new.sort} == {Sort.FUNCTION, Sort.VALUE} and PLAIN in old.modifiers | new.modifiers:
        yield ContractChange(old.qualname, f"{name} was a {old.sort} and is now a {new.sort}", old, new)
    elif linkage.checks_types and old.sort is new.sort is Sort.FUNCTION and len(old.signatures) == len(new.signatures):
        for was, now in zip(old.signatures, new.signatures, strict=True):
            if was.erased() == now.erased() and types_of(was) != types_of(now):
                words = result_change(was, now) or parameter_change(was, now) or "has another type"
                yield ContractChange(old.qualname, f"{name} {words}", old, new)
                return


def _what_of_modifiers(old: Offer, new: Offer) -> str | None:
    """Describe how a definition may be used by fewer, or in another way; None if it may not."""
    gained, lost = new.modifiers - old.modifiers, old.modifiers - new.modifiers
    if PRIVATE in gained:
        return f"is {PRIVATE} now"
    if STATIC in gained | lost:
        return f"is {STATIC} now" if STATIC in gained else f"is no longer {STATIC}"
    return f"is {ABSTRACT} now" if ABSTRACT in gained and new.sort is Sort.CLASS else None


def _differing(old: Offer, new: Offer) -> tuple[CallableInterface, CallableInterface]:
    """Return the signatures, of several, that only one side has; the last ones if both sides have all."""
    gone = [each for each in old.signatures if each.erased() not in erased(new)]
    come = [each for each in new.signatures if each.erased() not in erased(old)]
    return (*gone, old.signatures[-1])[0], (*come, new.signatures[-1])[0]


def is_taken_in(old: Offer, after: Summary | None) -> bool:
    """Whether the file now imports the name, or the class that it is in, instead of defining it."""
    head = old.qualname.partition(".")[0]
    return after is not None and head in after.imported and head not in after.offered


def erased(offer: Offer) -> tuple[CallableInterface, ...]:
    """Return the signatures of an offer, without the parts that have no effect at run time."""
    return tuple(each.erased() for each in offer.signatures)


def _runtime(shape: ClassShape) -> ClassShape:
    fields = shape.fields and tuple(replace(each, annotation=None) for each in shape.fields)
    texts = tuple(each for each in shape.texts if each != EVERY_BASE)
    return replace(shape, bases=(), texts=texts, fields=fields)


def _what_of_function(name: str, old: Offer, new: Offer) -> str:
    """Describe the change of a function, which may have several definitions of one name."""
    was, now = _differing(old, new)
    if was.erased() == now.erased():
        return f"one of the definitions of {name} is {'gone' if len(new.signatures) < len(old.signatures) else 'new'}"
    return what_changed(name, was, now)


def what_changed(name: str, old: CallableInterface, new: CallableInterface) -> str:
    """Describe the change of a signature, as a clause."""
    if old.is_async != new.is_async:
        return f"{name} became {'async' if new.is_async else 'a plain function'}"
    if old.active_decorators != new.active_decorators:
        return f"the decorators of {name} changed from {_listed(old.decorators)} to {_listed(new.decorators)}"
    if old.is_generator != new.is_generator:
        return f"{name} became {'a generator' if new.is_generator else 'a plain function'}"
    return f"the parameters of {name} changed from {old} to {new}"


def _what_of_class(name: str, old: ClassShape, new: ClassShape) -> str:
    for part in ("texts", "keywords", "decorators"):
        was, now = getattr(old, part), getattr(new, part)
        if was != now:
            word = "bases" if part == "texts" else part
            return f"the {word} of {name} changed from {_listed(map(_plain, was))} to {_listed(map(_plain, now))}"
    return f"the fields of {name} changed"


def _plain(part: object) -> str:
    return "=".join(part) if isinstance(part, tuple) else str(part)


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts) or "none"
