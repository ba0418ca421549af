"""Classes that newly have a constructor of their own, which takes other arguments than the inherited one."""

from collections.abc import Iterable, Iterator

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.interface import CallableInterface
from commonhold.code.analysis.module_definitions import CONSTRUCTORS
from commonhold.code.analysis.references import Reference
from commonhold.code.analysis.repository.call_signatures import binds, constructor_of, how_used, met_by
from commonhold.code.analysis.repository.changes import what_changed
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.names_of_definitions import made_names
from commonhold.code.analysis.repository.states import States, uses_of
from commonhold.code.analysis.repository.symbols import Place, Thing, What


def constructed(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the calls, in other files, that fitted the inherited constructor of the class and do not fit its own."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        if before is None or after is None or after.language != "python":
            continue
        for offer in after.offers:
            is_new = offer.name in CONSTRUCTORS and offer.qualname not in before.offered
            if is_new and offer.owner in before.offered and offer.is_sole:
                yield from _broken(states, (path, offer.owner), offer.name)


def _broken(states: States, made: Place, name: str) -> Iterator[Concern]:
    for user, use in _uses(states, made, name):
        thing = states.new.use(user, use)
        new = met_by(states.new, thing, use)
        if new is None or binds(new) or not _is_made(states, thing, made, name) or not _fitted(states, user, use):
            continue
        what = _what(states, made, new.signatures[-1])
        how = f"{how_used(use)}, which does not bind"
        yield Concern(user, use.line, what, how, Evidence.CONTRACT, *made, is_broken=True)


def _uses(states: States, made: Place, name: str) -> Iterator[tuple[str, Reference]]:
    for called in (*made_names(states.new, made), name):
        for user, _, use in uses_of(states, called):
            if use.shape is not None and (user != made[0] or states.is_throughout):
                yield user, use


def _is_made(states: States, thing: Thing, made: Place, name: str) -> bool:
    """Whether a call runs the new constructor: by making an object, or by `super()`."""
    if thing.what is What.FUNCTION:
        return thing.place == (made[0], f"{made[1]}.{name}")
    places = states.new.lineage.of(thing.place).places if thing.what is What.CLASS else ()
    own = (place for place in places if states.new.lineage.offer((place[0], f"{place[1]}.{name}")))
    return next(own, None) == made


def _fitted(states: States, user: str, use: Reference) -> bool:
    """Whether the call is not known to have failed before."""
    was = states.old.use(user, use)
    old = met_by(states.old, was, use)
    return was.is_found is False or old is None or binds(old)


def _what(states: States, made: Place, new: CallableInterface) -> str:
    old = constructor_of(states.old, made)
    if old is None:
        return f"`{made[1]}` has a constructor of its own now, which takes {new}"
    return what_changed(f"the constructor of `{made[1]}`", old, new)
