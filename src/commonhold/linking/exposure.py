"""Changed definitions whose users nobody can see: Python itself, a framework, whoever a decorator hands them to."""

import builtins
from collections.abc import Iterator

from commonhold.linking.calling import plain_signatures
from commonhold.linking.changes import ContractChange
from commonhold.linking.resolving import Resolver
from commonhold.linking.things import Place
from commonhold.linking.trials import is_test
from commonhold.semantics.effects import is_wholly_new
from commonhold.semantics.interface import CallableInterface, widens
from commonhold.semantics.module import CONSTRUCTORS, Sort


def exposures(old: Resolver, new: Resolver, path: str, change: ContractChange) -> Iterator[str]:
    """Why a change may concern somebody out of sight, as verb phrases of the definition; nothing where it widens.

    Tests are called by whatever runs them, so nothing is said of them.
    """
    if change.before.sort is not Sort.FUNCTION or is_test(path) or not narrows(change):
        return
    owner, name = change.before.owner, change.name
    summary = old.library.summary(path)
    if name in CONSTRUCTORS or summary is None or summary.language != "python":
        return
    if name.startswith("__") and name.endswith("__"):
        yield "is looked for by Python itself" if change.after is None else "is called by Python itself"
        return
    for base in _outside(old, (path, owner)) if owner else ():
        if _may_call(base, name):
            yield f"belongs to a class that inherits from `{base}`, which may call it"
            return
    if owner and change.after is None and _falls_back(new, old, (path, owner), name):
        yield "overrode another, which is reached instead now"
    elif change.after is not None and _is_handed_on(old, path, change):
        yield "is handed on by its decorator, to whoever calls it with what it took"


def narrows(change: ContractChange) -> bool:
    """Whether something that was right is right no more, or may not be."""
    if change.after is None:
        return True
    if change.before.sort is Sort.CLASS:
        return True
    if change.after.sort is not Sort.FUNCTION:
        return False
    old, new = change.before.signatures[-1], change.after.signatures[-1]
    return is_wholly_new(old, new) or not widens(old.params, new.params)


def _outside(resolver: Resolver, place: Place) -> tuple[str, ...]:
    return resolver.lineage.of(place).outside


def _may_call(base: str, name: str) -> bool:
    """Whether a base of this name may know the method: of what Python brings itself, all methods are known."""
    known = getattr(builtins, base, None)
    return hasattr(known, name) if isinstance(known, type) else True


def _falls_back(new: Resolver, old: Resolver, place: Place, name: str) -> bool:
    """Whether a base that had the method before as well has it still."""
    for path, qualname in new.lineage.of(place).places[1:]:
        was, now = (old.lineage.offer((path, f"{qualname}.{name}")), new.lineage.offer((path, f"{qualname}.{name}")))
        if now is not None:
            return was == now
    return False


def _is_handed_on(resolver: Resolver, path: str, change: ContractChange) -> bool:
    signatures = plain_signatures(resolver, path, change.before)
    return any(not _is_plain(each) for each in signatures)


def _is_plain(interface: CallableInterface) -> bool:
    names = [text.partition("(")[0].rpartition(".")[2] for text in interface.decorators]
    return interface.is_transparent or any(name.endswith("property") for name in names)
