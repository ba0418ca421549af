"""The references that a change reaches, and its effects on them."""

import collections
import io
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from commonhold.code.analysis.changes import Change, Comparison, Gone, Rebuilt, Reshaped, Resigned
from commonhold.code.analysis.effects import (
    HOW,
    PREFIXES,
    Impact,
    by_signature,
    call_impact,
    call_text,
    is_wholly_new,
    met,
    seen_effect,
)
from commonhold.code.analysis.interface import (
    CallableInterface,
    bind,
    renamed,
    widens,
)
from commonhold.code.analysis.module_definitions import CONSTRUCTORS
from commonhold.code.analysis.references import BUILTINS, CALL_FAILS, ITSELF, NAME_FAILS, Receiver, Reference, Use

_COMMON_TYPES: Final = (
    object, type, str, bytes, bytearray, memoryview, int, float, complex, list, dict, set, frozenset, tuple, range,
    slice, property, OSError, io.TextIOWrapper, io.BufferedRandom, types.FunctionType, types.GeneratorType,
    types.CoroutineType, types.ModuleType, re.Pattern, re.Match, collections.deque, collections.Counter,
)  # fmt: skip
# The members of pathlib.Path, which this package may not import.
_OF_PATHS: Final = frozenset({
    "absolute", "exists", "glob", "is_dir", "is_file", "iterdir", "joinpath", "match", "mkdir", "name", "parent",
    "parents", "parts", "read_bytes", "read_text", "relative_to", "rename", "replace", "resolve", "rglob", "rmdir",
    "samefile", "stat", "stem", "suffix", "symlink_to", "touch", "unlink", "with_name", "with_suffix", "write_bytes",
    "write_text",
})  # fmt: skip
COMMON_ATTRIBUTES: Final = _OF_PATHS | {name for common in _COMMON_TYPES for name in dir(common)}
_UNTOUCHED: Final = frozenset({Use.ANNOTATION, Use.EXPORT})


class Aim(StrEnum):
    """How surely a reference means the subject of a change."""

    SURE = "sure"
    LIKELY = "likely"  # in a base, through `self`: reaches the subject if the object is of that class
    GUESS = "guess"
    NO = "no"


def impact_of(change: Change, reference: Reference, comparison: Comparison) -> Impact | None:
    """Return the effect of a change on a reference of the file after; None if there is none."""
    judge = _IMPACTS.get(type(change))
    return judge(change, reference, comparison) if judge else None


def _of_resigned(change: Resigned, reference: Reference, comparison: Comparison) -> Impact | None:
    aim = _aim(change, reference, comparison)
    if aim is Aim.NO or reference.use in _UNTOUCHED:
        return None
    if aim is Aim.GUESS:
        return _guessed(change, reference)
    found = [by_signature(old, new, reference) for old, new in change.signatures]
    worst = max((impact for impact in found if impact), key=lambda impact: impact.is_broken, default=None)
    return Impact(worst.how, worst.is_broken and aim is Aim.SURE) if worst else None


def _guessed(change: Resigned, reference: Reference) -> Impact | None:
    """Return the effect on a receiver of an unknown class: only a call that fitted and no longer does is reported."""
    if reference.shape is None:
        return None
    for old, new in change.signatures:
        before, after = met(old, reference), met(new, reference)
        if bind(reference.shape, before) and not bind(reference.shape, after) and CALL_FAILS not in reference.expects:
            return Impact(f"calls `{call_text(reference)}`, which would no longer bind")
    return None


def _of_gone(change: Gone, reference: Reference, comparison: Comparison) -> Impact | None:
    aim = _aim(change, reference, comparison)
    if (
        aim is Aim.NO
        or NAME_FAILS in reference.expects
        or (aim is Aim.GUESS and reference.use is not Use.CALL)
        or _may_be_inherited(reference, comparison)
    ):
        return None
    how = f"calls `{call_text(reference)}`" if reference.shape is not None else HOW[reference.use]
    return Impact(f"still {how}", aim is Aim.SURE and _is_unbound(reference, comparison))


def _may_be_inherited(reference: Reference, comparison: Comparison) -> bool:
    """Whether a base outside of the file probably has it: a name that many classes have."""
    is_member = reference.receiver is not Receiver.NONE and reference.name in COMMON_ATTRIBUTES
    return is_member and not comparison.after.is_closed(reference.class_name)


def _is_unbound(reference: Reference, comparison: Comparison) -> bool:
    """Whether nothing, not even code outside of the file, can supply the removed name."""
    if reference.use is Use.ANNOTATION:
        return False
    if reference.receiver is Receiver.NONE:
        is_bound = reference.name in comparison.after.declared_global or reference.name in BUILTINS
        return not (comparison.after.has_star_import or is_bound)
    return comparison.after.is_closed(reference.class_name) and not comparison.after.descendants(reference.class_name)


def _of_reshaped(change: Reshaped, reference: Reference, comparison: Comparison) -> Impact | None:
    is_felt = reference.use is Use.BASE if change.lost else reference.use not in _UNTOUCHED
    if is_felt and _aim(change, reference, comparison) is Aim.SURE:
        return Impact(HOW[reference.use])
    return _of_own_method(change, reference, comparison)


def _of_own_method(change: Reshaped, reference: Reference, comparison: Comparison) -> Impact | None:
    """Return the effect on a method that reaches, by `super()` or `self`, a name that its class does not define."""
    qualname = change.subject.successor
    if reference.class_name != qualname or not reference.name or not comparison.after.has_bases_in_sight(qualname):
        return None
    find = _LOOKUPS.get(reference.receiver)
    if find is None or _is_settled(reference):
        return None
    before, after = find(comparison, reference)
    if after == qualname or (after is not None and before == comparison.origin(after)):
        return None
    return Impact(f"uses `{PREFIXES[reference.receiver]}{reference.name}`, which the class does not define itself")


def _is_settled(reference: Reference) -> bool:
    """Whether every object has this attribute, whatever its bases."""
    return reference.receiver is not Receiver.SUPER and reference.name in _OF_OBJECT


_OF_OBJECT: Final = frozenset(dir(object)) | {"__dict__", "__module__", "__name__", "__qualname__"}


def _attribute_lookup(comparison: Comparison, reference: Reference) -> tuple[str | None, str | None]:
    former = comparison.origin(reference.class_name)
    return comparison.before.provider(former, reference.name), comparison.after.provider(
        reference.class_name, reference.name
    )


def _super_lookup(comparison: Comparison, reference: Reference) -> tuple[str | None, str | None]:
    former = comparison.origin(reference.class_name)
    return (
        comparison.before.base_provider(former, reference.name),
        comparison.after.base_provider(reference.class_name, reference.name),
    )


_Lookup = Callable[[Comparison, Reference], tuple[str | None, str | None]]
_LOOKUPS: Final[Mapping[Receiver, _Lookup]] = {
    Receiver.SELF: _attribute_lookup,
    Receiver.CLS: _attribute_lookup,
    Receiver.SUPER: _super_lookup,
}


def _of_rebuilt(change: Rebuilt, reference: Reference, comparison: Comparison) -> Impact | None:
    if reference.shape is None or not _constructs(change, reference, comparison):
        return None
    old, new = change.constructors
    if old is None or new is None:
        return Impact(f"calls `{call_text(reference)}`")
    is_transparent = old.is_transparent and new.is_transparent
    effect = seen_effect(reference.shape, old.params, new.params, is_transparent=is_transparent)
    impact = call_impact(effect, reference)
    sure = reference.name != ITSELF or not comparison.after.descendants(reference.class_name)
    return Impact(impact.how, impact.is_broken and sure) if impact else None


def _constructs(change: Rebuilt, reference: Reference, comparison: Comparison) -> bool:
    qualname = change.subject.successor
    if reference.name == ITSELF:
        return qualname in (reference.class_name, *comparison.after.descendants(reference.class_name))
    return _aim(change, reference, comparison) is Aim.SURE


def _aim(change: Change, reference: Reference, comparison: Comparison) -> Aim:
    """Return how surely the reference means the subject of the change."""
    subject = change.subject
    if reference.name != subject.name:
        return Aim.NO
    if reference.receiver is Receiver.NONE:
        return Aim.SURE if subject.after in ("", reference.class_name) else Aim.NO
    if not subject.after or reference.receiver is Receiver.OUTSIDE:
        return Aim.NO
    if not _is_known(reference, comparison):
        return _guess(change, comparison)
    return _reach(change, reference, comparison)


def _is_known(reference: Reference, comparison: Comparison) -> bool:
    classes = (comparison.after.classes, comparison.before.classes)
    return reference.receiver is not Receiver.UNKNOWN and any(reference.class_name in known for known in classes)


def _guess(change: Change, comparison: Comparison) -> Aim:
    subject = change.subject
    others = comparison.after.definers(subject.name) | comparison.before.definers(subject.name)
    is_unique = others <= {subject.before, subject.after}
    return Aim.GUESS if is_unique and subject.name not in COMMON_ATTRIBUTES else Aim.NO


def _reach(change: Change, reference: Reference, comparison: Comparison) -> Aim:
    find = _LOOKUPS.get(reference.receiver, _attribute_lookup)
    before, after = find(comparison, reference)
    if isinstance(change, Gone):
        is_gone = after is None or change.subject.name in comparison.newly_deleted(change.subject.before)
        hit = is_gone and before == change.subject.before
    else:
        provider = change.provider if isinstance(change, Resigned) else change.subject.after
        hit = after == provider and before in (change.subject.before, None)
    is_open = after is None or not isinstance(change, Gone)
    if not hit and is_open and _dispatches_down(change, reference, comparison):
        return Aim.LIKELY
    return Aim.SURE if hit else Aim.NO


def _dispatches_down(change: Change, reference: Reference, comparison: Comparison) -> bool:
    """Whether `self.m` in a base may reach the subject in a subclass."""
    is_open = reference.receiver in (Receiver.SELF, Receiver.CLS)
    return is_open and reference.class_name in comparison.after.ancestors(change.subject.after)


def overrides(change: Resigned, comparison: Comparison) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of methods that override a changed one and do not match it yet.

    Constructors and name-mangled methods are no contract between a base and its subclass.
    """
    name = change.subject.name
    if not change.subject.after or name in CONSTRUCTORS or _is_mangled(name):
        return
    wanted = [new.erased() for _, new in change.signatures]
    for heir in comparison.after.descendants(change.subject.after):
        own = comparison.after.interfaces(heir, name)
        if not all(interface.erased() in wanted for interface in own):
            yield comparison.after.functions[heir, name][-1].lineno, f"{heir}.{name}"


def only_widens(change: Resigned) -> bool:
    """Whether every call that was right remains right."""
    return all(not is_wholly_new(old, new) and widens(old.params, new.params) for old, new in change.signatures)


def _is_mangled(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


_IMPACTS: Final[Mapping[type[Change], Callable[..., Impact | None]]] = {
    Resigned: _of_resigned,
    Gone: _of_gone,
    Reshaped: _of_reshaped,
    Rebuilt: _of_rebuilt,
}


def passed_by_position(change: Resigned, references: Iterable[Reference], comparison: Comparison) -> Iterator[str]:
    """Yield notices about renamed parameters: calls that pass them by position still bind."""
    old, new = change.signatures[0]
    for before, after in renamed(old.params, new.params).items():
        calls = [one for one in references if one.shape and _aim(change, one, comparison) in (Aim.SURE, Aim.LIKELY)]
        count = sum(_gives(one, old, before) for one in calls)
        if count:
            many = f"{count} call passes" if count == 1 else f"{count} calls pass"
            yield f"the parameter `{before}` of `{change.subject.qualname}` is now `{after}`: {many} it by position"


def left_to_default(change: Resigned, references: Iterable[Reference], comparison: Comparison) -> Iterator[str]:
    """Yield notices about changed defaults: calls that leave the parameter out still bind."""
    old, new = change.signatures[0]
    now = {param.name: param for param in new.params}
    differing = [
        param
        for param in old.params
        if param.has_default and param.name in now and now[param.name].default not in (None, param.default)
    ]
    for param in differing:
        calls = [one for one in references if one.shape and _aim(change, one, comparison) in (Aim.SURE, Aim.LIKELY)]
        count = sum(_leaves_out(one, new, param.name) for one in calls)
        if count:
            many = f"{count} call leaves" if count == 1 else f"{count} calls leave"
            was_now = f"was {param.default} and is now {now[param.name].default}"
            yield f"the default of `{param.name}` of `{change.subject.qualname}` {was_now}: {many} it out"


def _leaves_out(reference: Reference, interface: CallableInterface, name: str) -> bool:
    binding = bind(reference.shape, met(interface, reference)) if reference.shape else None
    return binding is not None and name in binding.defaulted


def _gives(reference: Reference, interface: CallableInterface, name: str) -> bool:
    binding = bind(reference.shape, met(interface, reference)) if reference.shape else None
    return binding is not None and any(
        target == name and isinstance(argument, int) for argument, target in binding.arguments
    )
