"""Names that lead elsewhere than before, though what they led to is as it was.

An import that is dropped or turned, a module that is gone, a method that comes between a class and its base.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from posixpath import basename, dirname, splitext
from typing import Final

from commonhold.linking.calling import effect, how_used, met_by
from commonhold.linking.findings import Concern
from commonhold.linking.naming import names_of
from commonhold.linking.states import States
from commonhold.linking.summary import Import, Summary
from commonhold.linking.things import Thing, What
from commonhold.semantics.effects import Impact
from commonhold.semantics.evidence import Evidence
from commonhold.semantics.module import CONSTRUCTORS, Sort
from commonhold.semantics.references import Reference, Use

_INERT: Final = frozenset({Use.ANNOTATION, Use.EXPORT, Use.TEXT})
_PASSING: Final = frozenset({Use.IMPORT, Use.FIXTURE})
_LOST: Final = frozenset({What.NOTHING, What.UNKNOWN})


@dataclass(frozen=True, slots=True)
class _Turn:
    """A name of the file at `path` that leads elsewhere; `names` are those by which it may be used.

    `is_dropped`: the file has it no more.
    """

    path: str
    qualname: str
    what: str
    names: tuple[str, ...]
    is_dropped: bool = False


def redirected(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Whoever reaches something else, or nothing, by a name of these files."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        if before is None or before.problem or (after is not None and after.problem):
            continue
        if after is None:
            yield from _without_module(states, path)
            continue
        for turn in (*_turned(path, before, after), *_between(states, path, before, after)):
            yield from _of_turn(states, turn)


def _turned(path: str, before: Summary, after: Summary) -> Iterator[_Turn]:
    """The names that a file took from another, or takes now, and does not as before."""
    for name in before.imported.keys() | (after.imported.keys() & before.offered.keys()):
        old, new = before.imported.get(name), after.imported.get(name)
        if _source(old) != _source(new) and (old is None or old.is_public):
            is_dropped = new is None and name not in after.offered
            what = f"`{name}` of `{path}` {_whence(new, is_dropped)}"
            yield _Turn(path, name, what, (name,), is_dropped)


def _source(taken: Import | None) -> tuple[str, str] | None:
    return (taken.module, taken.member) if taken else None


def _whence(taken: Import | None, is_dropped: bool) -> str:  # noqa: FBT001 - said of the name, not chosen
    if taken is not None:
        return f"now comes from `{taken.module}`"
    return "is imported there no more" if is_dropped else "is now defined there"


def _between(states: States, path: str, before: Summary, after: Summary) -> Iterator[_Turn]:
    """The methods that are new in a class that was there: what its bases have under their names is hidden."""
    for offer in after.offers:
        owner = before.offered.get(offer.owner)
        if offer.sort is Sort.FUNCTION and owner and owner.sort is Sort.CLASS and offer.qualname not in before.offered:
            is_made = offer.name in CONSTRUCTORS
            names = names_of(states.new, (path, offer.qualname)) if is_made else (offer.name,)
            yield _Turn(path, offer.qualname, f"`{offer.qualname}` is new", names)


def _of_turn(states: States, turn: _Turn) -> Iterator[Concern]:
    for name in turn.names:
        for user, use in _uses(states, name):
            was, now = states.old.use(user, use), states.new.use(user, use)
            impact = _impact(states, turn, was, now, user, use)
            if impact is not None:
                # What may be made as it is asked for (`__getattr__`) is not known to be gone.
                evidence = Evidence.CONTRACT if now.what is not What.UNKNOWN else Evidence.SUSPICION
                place = turn.path, turn.qualname
                yield Concern(user, use.line, turn.what, impact.how, evidence, *place, is_broken=impact.is_broken)


def _uses(states: States, name: str) -> Iterator[tuple[str, Reference]]:
    """The uses of a name in files that were there before."""
    for user in states.new.library.users(name):
        summary = states.new.library.summary(user)
        if summary is not None and states.old.library.summary(user) is not None:
            yield from ((user, use) for use in summary.uses_by_name.get(name, ()) if use.use not in _INERT)


def _impact(states: States, turn: _Turn, was: Thing, now: Thing, user: str, use: Reference) -> Impact | None:
    if now.what in _LOST and _is_there(states, was):
        is_gone = now.what is What.NOTHING
        return Impact(f"still {how_used(use)}", is_broken=is_gone) if is_gone or turn.is_dropped else None
    if use.use in _PASSING or not (was.is_found and now.is_found) or was.path == now.path == user:
        return None
    return _met_otherwise(states, was, now, user, use) if _is_turned(turn, was, now) else None


def _is_there(states: States, was: Thing) -> bool:
    """Whether what a use led to is still where it was, so that it is only the way to it that is gone."""
    if was.is_found:
        return states.new.lineage.offer(was.place) is not None
    paths = states.new.library.paths
    return was.what is What.OUTSIDE or (was.what is What.MODULE and any(path in paths for path in was.paths))


def _is_turned(turn: _Turn, was: Thing, now: Thing) -> bool:
    """Whether a use leads elsewhere than before, or makes an object by what is new."""
    return was.place != now.place or (was.what is What.CLASS and turn.qualname.rpartition(".")[2] in CONSTRUCTORS)


def _met_otherwise(states: States, was: Thing, now: Thing, user: str, use: Reference) -> Impact | None:
    old, new = met_by(states.old, was, use), met_by(states.new, now, use)
    summary = states.new.library.summary(user)
    if old is None or new is None or summary is None or old.signatures == new.signatures:
        return None
    return effect(old, new, summary.language)


def _without_module(states: States, path: str) -> Iterator[Concern]:
    """Whoever imports a module as a whole whose file is gone."""
    stem = splitext(basename(path))[0]
    for name in {stem, basename(dirname(path))} - {""}:
        for user, use in _uses(states, name):
            if use.use is not Use.IMPORT:
                continue
            was, now = states.old.use(user, use), states.new.use(user, use)
            if was.what is What.MODULE and path in was.paths and now.what is not What.MODULE:
                is_broken = now.what is What.NOTHING
                what, how = f"`{path}` is gone", f"still {how_used(use)}"
                yield Concern(user, use.line, what, how, Evidence.CONTRACT, path, "", is_broken=is_broken)
