"""Changed definitions with invisible users: Python itself, a framework, or code that a decorator gives them to."""

import builtins
from collections.abc import Iterator
from typing import Final

from commonhold.code.analysis.effects import is_wholly_new
from commonhold.code.analysis.interface import BY_POSITION, CallableInterface, Parameter, widens
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, OPEN, Sort
from commonhold.code.analysis.repository.call_signatures import plain_signatures
from commonhold.code.analysis.repository.changes import ContractChange
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.states import States, Subject, has_owner, lost_bases, member_of
from commonhold.code.analysis.test_files import is_test


def exposures(states: States, subject: Subject) -> Iterator[str]:
    """Yield why a change may affect invisible users, as verb phrases of the definition; nothing if it widens.

    Test runners call tests, so tests are left out. A member whose class is gone or has moved is left out, too: users
    must name that class, and are found by its name.
    """
    change = subject.change
    if change.before.sort is Sort.CLASS and change.after is not None:
        yield from _of_bases(states, subject)
    is_said = change.before.sort is Sort.FUNCTION and change.name not in CONSTRUCTORS
    summary = states.old.library.summary(subject.path)
    is_python = summary is not None and summary.language == "python"
    if is_said and is_python and not is_test(subject.path) and narrows(change) and has_owner(states, subject):
        reason = next((reason for ask in _REASONS if (reason := ask(states, subject))), None)
        if reason is not None:
            yield reason


def _of_bases(states: States, subject: Subject) -> Iterator[str]:
    """Yield why a class that lost an outside base, or got another metaclass, may affect invisible users."""
    old, new = subject.change.before.shape, subject.change.after.shape if subject.change.after else None
    if old is not None and new is not None and old.keywords != new.keywords:
        yield "is put together in another way by its metaclass, and so is whatever inherits from it"
    lost = lost_bases(states, subject.place, subject.place)
    was, now = (each.lineage.of(subject.place).outside for each in (states.old, states.new))
    added = set(now) - set(was)
    outside = [each for each in was if each in lost and not any(_may_inherit(base, each) for base in added)]
    if outside and not is_test(subject.path):
        yield f"is no `{outside[0]}` any more, for code that treats it as one"


def _by_python(_states: States, subject: Subject) -> str | None:
    name = subject.change.name
    if not (name.startswith("__") and name.endswith("__")) or (
        subject.change.after is None and name in _MISSED_BY_NOBODY
    ):
        return None
    return "is looked for by Python itself" if subject.change.after is None else "is called by Python itself"


def _by_base(states: States, subject: Subject) -> str | None:
    bases = states.old.lineage.of(subject.owner).outside if subject.owner else ()
    base = next((each for each in bases if _may_call(each, subject.change.name)), None)
    return base and f"belongs to a class that inherits from `{base}`, which may call it"


def _by_proxy(states: States, subject: Subject) -> str | None:
    """Return a reason if the class has `__getattr__`: it stands in for other objects, in code that knows only those."""
    if subject.owner is None or subject.change.name.startswith("_"):
        return None
    is_proxy = any(
        member_of(states.old, place, name) for place in states.old.lineage.of(subject.owner).places for name in OPEN
    )
    return "belongs to a class that stands in for other objects, and is called in their place" if is_proxy else None


def _by_fallback(states: States, subject: Subject) -> str | None:
    is_gone = subject.owner is not None and subject.change.after is None
    return "overrode another, which is reached instead now" if is_gone and _falls_back(states, subject) else None


def _by_decorator(states: States, subject: Subject) -> str | None:
    if subject.change.after is None or not _is_handed_on(states.old, subject):
        return None
    return "is handed on by its decorator, to callers that pass the old arguments"


# Without these, the method that every object has takes their place.
_MISSED_BY_NOBODY: Final = frozenset({"__del__", "__init_subclass__"})
_REASONS: Final = (_by_python, _by_base, _by_proxy, _by_fallback, _by_decorator)


def demands_more(change: ContractChange) -> bool:
    """Whether a call that was right fails now; calls with `*` or `**` do not count."""
    if change.after is None or change.before.sort is Sort.CLASS or change.after.sort is not Sort.FUNCTION:
        return True
    old, new = change.before.signatures[-1].params, change.after.signatures[-1].params
    known = {param.label: param for param in old}
    required = {param.name for param in new if not param.is_optional and not _was_required(known.get(param.label))}
    positions = [[each.name for each in side if each.kind in BY_POSITION] for side in (old, new)]
    is_in_order = positions[1][: len(positions[0])] == positions[0]
    return bool(required) or not is_in_order or not known.keys() <= {param.label for param in new}


def _was_required(param: Parameter | None) -> bool:
    return param is not None and not param.is_optional


def narrows(change: ContractChange) -> bool:
    """Whether a use that was right fails now, or may fail."""
    if change.after is None:
        return True
    if change.after.sort is not Sort.FUNCTION:
        return False
    if not change.before.signatures or not change.after.signatures:
        return True
    old, new = change.before.signatures[-1], change.after.signatures[-1]
    return is_wholly_new(old, new) or not widens(old.params, new.params)


def _may_inherit(heir: str, base: str) -> bool:
    """Whether an outside class may inherit from another, as `ABCMeta` does from `type`; for builtins this is known."""
    known, above = (getattr(builtins, name, None) for name in (heir, base))
    return not isinstance(known, type) or (isinstance(above, type) and issubclass(known, above))


def _may_call(base: str, name: str) -> bool:
    """Whether a base of this name may call the method: for builtin classes all methods are known."""
    known = getattr(builtins, base, None)
    return hasattr(known, name) if isinstance(known, type) else True


def _falls_back(states: States, subject: Subject) -> bool:
    """Whether a base that had the method before still has it."""
    for place in states.new.lineage.of(subject.owner).places[1:] if subject.owner else ():
        now = member_of(states.new, place, subject.change.name)
        if now is not None:
            return member_of(states.old, place, subject.change.name) == now
    return False


def _is_handed_on(resolver: Resolver, subject: Subject) -> bool:
    signatures = plain_signatures(resolver, subject.path, subject.change.before)
    return any(not _is_plain(each) for each in signatures)


def _is_plain(interface: CallableInterface) -> bool:
    names = [text.partition("(")[0].rpartition(".")[2] for text in interface.decorators]
    return interface.is_transparent or any(name.endswith("property") for name in names)
