"""Names that lead to another definition than before, although the old one is unchanged.

Examples are an import that now points to another file, and a method that comes between a class and its base.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.effects import Impact
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, Sort
from commonhold.code.analysis.references import Reference, Use
from commonhold.code.analysis.repository.call_signatures import effect, how_used, met_by
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.states import States, uses_of
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.analysis.repository.symbols import Thing, What

_INERT: Final = frozenset({Use.ANNOTATION, Use.EXPORT, Use.TEXT})
_PASSING: Final = frozenset({Use.IMPORT, Use.FIXTURE})
_KNOWN: Final = frozenset({What.MODULE, What.OUTSIDE})


@dataclass(frozen=True, slots=True)
class _Turn:
    """A name of the file at `path` that leads to another definition, and the name by which it is used."""

    path: str
    qualname: str
    what: str
    name: str


def redirected(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the uses that reach another definition by a name of these files. `withdrawn` covers names that are gone."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        if before is not None and after is not None and not before.problem and not after.problem:
            for turn in (*_turned(path, before, after), *_between(path, before, after)):
                yield from _of_turn(states, turn)


def _turned(path: str, before: Summary, after: Summary) -> Iterator[_Turn]:
    """Yield the names that a file imported, and now imports from another file, or defines itself."""
    for name, old in before.imported.items():
        new = after.imported.get(name)
        if new is None and name in after.offered and old.is_public:
            yield _Turn(path, name, f"`{name}` of `{path}` is now defined there", name)
        elif new is not None and (new.module, new.member) != (old.module, old.member) and old.is_public:
            yield _Turn(path, name, f"`{name}` of `{path}` now comes from `{new.module}`", name)


def _between(path: str, before: Summary, after: Summary) -> Iterator[_Turn]:
    """Yield the new methods of an existing class: they hide the methods of that name in its bases."""
    for offer in after.offers:
        owner = before.offered.get(offer.owner)
        is_method = offer.sort is Sort.FUNCTION and owner is not None and owner.sort is Sort.CLASS
        if is_method and offer.qualname not in before.offered and offer.name not in CONSTRUCTORS:
            yield _Turn(path, offer.qualname, f"`{offer.qualname}` is new", offer.name)


def _of_turn(states: States, turn: _Turn) -> Iterator[Concern]:
    for user, _, use in uses_of(states, turn.name):
        impact = _impact(states, user, use) if use.use not in _INERT else None
        if impact is not None:
            evidence, place = Evidence.CONTRACT, (turn.path, turn.qualname)
            yield Concern(user, use.line, turn.what, impact.how, evidence, *place, is_broken=impact.is_broken)


def _impact(states: States, user: str, use: Reference) -> Impact | None:
    was, now = states.old.use(user, use), states.new.use(user, use)
    if now.what is What.NOTHING and (was.is_found or was.what in _KNOWN):
        return Impact(f"still {how_used(use)}", is_broken=True)
    if use.use in _PASSING or not (was.is_found and now.is_found) or was.path == now.path == user:
        return None
    return _met_otherwise(states, was, now, user, use) if was.place != now.place else None


def _met_otherwise(states: States, was: Thing, now: Thing, user: str, use: Reference) -> Impact | None:
    old, new = met_by(states.old, was, use), met_by(states.new, now, use)
    summary = states.new.library.summary(user)
    if old is None or new is None or summary is None or old.signatures == new.signatures:
        return None
    return effect(old, new, summary.language)
