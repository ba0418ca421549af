"""The effect of one changed signature on one use of it, as a verb phrase."""

from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.chains import text_of
from commonhold.code.analysis.interface import (
    IMPLICIT_CLASSMETHODS,
    CallableInterface,
    CallShape,
    Effect,
    Params,
    bind,
    effect_on_call,
    widens,
)
from commonhold.code.analysis.references import CALL_FAILS, ITSELF, Receiver, Reference, Use

_ON_INSTANCE: Final = frozenset({Receiver.SELF, Receiver.SUPER, Receiver.INSTANCE, Receiver.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Impact:
    """The effect of a change on one reference, as a verb phrase. `is_broken`: it provably fails at run time."""

    how: str
    is_broken: bool = False


def by_signature(old: CallableInterface, new: CallableInterface, reference: Reference) -> Impact | None:
    """Return the effect of a changed signature on one use; None if there is none."""
    if reference.shape is not None:
        return _by_call(old, new, reference, reference.shape)
    if is_wholly_new(old, new):
        return Impact(HOW[reference.use])
    if reference.use is Use.QUALIFIER or widens(met(old, reference), met(new, reference)):
        return None
    return Impact(HOW[reference.use])


def _by_call(old: CallableInterface, new: CallableInterface, reference: Reference, shape: CallShape) -> Impact | None:
    before, after = met(old, reference), met(new, reference)
    if new.is_transparent and not bind(shape, after):
        if CALL_FAILS in reference.expects:
            return None
        return Impact(f"calls `{call_text(reference)}`, which does not bind", is_broken=True)
    if is_wholly_new(old, new):
        return Impact(f"calls `{call_text(reference)}`")
    effect = seen_effect(shape, before, after, is_transparent=old.is_transparent and new.is_transparent)
    return call_impact(effect, reference)


def seen_effect(shape: CallShape, before: Params, after: Params, *, is_transparent: bool) -> Effect:
    """Return the effect on a call; if a decorator may have replaced the signature, failing to bind proves nothing."""
    if is_transparent or (bind(shape, before) and bind(shape, after)):
        return effect_on_call(shape, before, after)
    return Effect.NONE if widens(before, after) else Effect.CHANGED


def call_impact(effect: Effect, reference: Reference) -> Impact | None:
    """Return the effect on a call in words; None if there is none."""
    if effect is Effect.NONE or (effect is Effect.BROKEN and CALL_FAILS in reference.expects):
        return None
    if effect is Effect.BROKEN:
        return Impact(f"calls `{call_text(reference)}`, which does not bind", is_broken=True)
    starred = reference.shape is not None and reference.shape.is_starred
    reason = "whose starred arguments cannot be checked" if starred else "which now binds or defaults differently"
    return Impact(f"calls `{call_text(reference)}`, {reason}")


def is_wholly_new(old: CallableInterface, new: CallableInterface) -> bool:
    """Whether it is called in another way, or returns another kind of result, whatever the arguments.

    A plain function may return the same as an async generator. The difference between two unknown decorators is not
    known either.
    """
    manners = {old.manner, new.manner}
    is_other_manner = len(manners) > 1 and manners != {"plain", "async generator"}
    return is_other_manner or (old.kinds != new.kinds and (old.is_transparent or new.is_transparent))


def met(interface: CallableInterface, reference: Reference) -> Params:
    """Return the parameters that the arguments of this call meet: without `self` or `cls` if Python passes it."""
    if reference.receiver is Receiver.NONE or interface.is_decorated("staticmethod") or reference.name == "__new__":
        return interface.params
    of_class = interface.is_decorated("classmethod") or reference.name in IMPLICIT_CLASSMETHODS
    passes = of_class or reference.receiver in _ON_INSTANCE
    return interface.without_first().params if passes else interface.params


def call_text(reference: Reference) -> str:
    """Return a call in readable form: its receiver, as far as that is known, and its arguments by their shape."""
    if reference.name == ITSELF:
        return f"cls{reference.shape}"
    if reference.receiver is Receiver.CLASS and reference.class_name:
        return f"{reference.class_name}.{reference.name}{reference.shape}"
    return f"{PREFIXES.get(reference.receiver, '') or text_of(reference.chain)}{reference.name}{reference.shape}"


PREFIXES: Final = {
    Receiver.SELF: "self.",
    Receiver.CLS: "cls.",
    Receiver.SUPER: "super().",
}
HOW: Final = {
    Use.CALL: "calls it",
    Use.NAME: "uses it as a value",
    Use.ATTRIBUTE: "uses it as an attribute",
    Use.BASE: "inherits from it",
    Use.DECORATOR: "uses it as a decorator",
    Use.QUALIFIER: "uses an attribute of it",
    Use.ANNOTATION: "names it in an annotation",
    Use.EXPORT: "lists it in `__all__`",
    Use.IMPORT: "imports it",
    Use.STORE: "assigns it from outside",
    Use.TEXT: "names it in a string",
    Use.FIXTURE: "takes it as a fixture",
}
