"""Whether changed bodies of two sides interact at run time: contracts hold, and yet one depends on the other.

This is always a suspicion: both changes may be meant. Only one step is followed, since further steps reach nearly
everything. A test that uses code changed by the other side is no suspicion: the test itself decides.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from commonhold.code.analysis.module_definitions import CONSTRUCTORS
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.changed_bodies import Touched
from commonhold.code.analysis.repository.dependents import Dependent, dependents
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.symbols import Place
from commonhold.code.analysis.test_files import is_test

Touches = Mapping[str, tuple[Touched, ...]]
"""The definitions that a side changed, by path."""

# A definition with more users than this is common vocabulary of its project: not all of them depend on each change.
_WIDELY: Final = 12
_STUBS: Final = (".pyi", ".d.ts", ".d.mts", ".d.cts")
_RUNNING: Final = frozenset({Use.CALL, Use.ATTRIBUTE, Use.NAME, Use.BASE, Use.DECORATOR, Use.QUALIFIER})


@dataclass(frozen=True, slots=True)
class InteractingChange:
    """Two interacting bodies, each changed by one side; `line` is the place in the state that has both changes.

    `is_ours`: ours is at `path`, and `target` is theirs; else the other way round. `is_sure`: the use was resolved, not
    only guessed from a name; its effect on the program remains a suspicion.
    """

    path: str
    qualname: str
    line: int
    target_path: str
    target: str
    target_line: int
    why: str
    is_ours: bool
    is_sure: bool


def crossings(library: Library, ours: Touches, theirs: Touches) -> tuple[InteractingChange, ...]:
    """Return where the sides interact, in the state that has both; each pair of bodies once, calls before state."""
    found: dict[frozenset[tuple[str, str]], InteractingChange] = {}
    for each in _Search(library).all(ours, theirs):
        pair = frozenset({(each.path, each.qualname), (each.target_path, each.target)})
        found.setdefault(pair, each)
    return tuple(sorted(found.values(), key=lambda each: (not each.is_sure, each.path, each.line, each.target)))


class _Search:
    """The uses of definitions in the state that has both sides, each looked for once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._resolver = Resolver(library)
        self._known: dict[tuple[str, str], tuple[Dependent, ...]] = {}

    def all(self, ours: Touches, theirs: Touches) -> Iterator[InteractingChange]:
        """Yield all interactions, the most evident first."""
        yield from self._calls(ours, theirs, is_ours=True)
        yield from self._calls(theirs, ours, is_ours=False)
        yield from self._shared(ours, theirs)
        yield from self._fields(ours, theirs, is_ours=True)
        yield from self._fields(theirs, ours, is_ours=False)
        yield from self._called_together(ours, theirs)

    def _calls(self, users: Touches, used: Touches, *, is_ours: bool) -> Iterator[InteractingChange]:
        """Yield bodies of `users` that use a definition whose body the other side changed."""
        bodies = _bodies(users)
        for path, target in _each(used):
            uses = () if target.is_header else self._uses(path, target)
            is_wide = len({(use.path, use.qualname) for use in uses}) > _WIDELY
            for use in uses:
                place = use.path, use.qualname
                body = bodies.get(place)
                if body is not None and place != (path, target.qualname) and not (is_wide and _is_aside(body, target)):
                    why = f"`{use.qualname}` {_verb(use)} `{target.qualname}`; each side changed one of them"
                    line = self._line(path, target.qualname)
                    yield InteractingChange(*place, use.line, path, target.qualname, line, why, is_ours, use.is_sure)

    def _shared(self, ours: Touches, theirs: Touches) -> Iterator[InteractingChange]:
        """Yield pairs of methods of one class: a changed part of one sets an attribute that the other uses."""
        for path, one, other in _siblings(ours, theirs):
            if names := sorted(_set_for(one, other) | _set_for(other, one)):
                shared = f"share {', '.join(f'`{each}`' for each in names)} of `{one.owner}`"
                yield self._between(path, one, other, shared)

    def _fields(self, users: Touches, setters: Touches, *, is_ours: bool) -> Iterator[InteractingChange]:
        """Yield bodies that use, on a changed line, an attribute whose assignment the other side changed.

        The object is known by its class, in any file; or it is `self`, in a class above or below.
        """
        bodies = _bodies(users)
        for path, setter in _each(setters):
            for name in sorted(setter.written if setter.owner else ()):
                for use in self._uses_of_field(path, setter.owner, name, bodies):
                    body = bodies[use.path, use.qualname]
                    is_sibling = (use.path, body.owner) == (path, setter.owner)
                    if name in body.words and not is_sibling:
                        how = f"uses `{name}`, which `{setter.qualname}` sets"
                        why = f"`{use.qualname}` {how}; each side changed one of them"
                        line = self._line(path, setter.qualname)
                        yield InteractingChange(
                            use.path, use.qualname, use.line, path, setter.qualname, line, why, is_ours, use.is_sure
                        )

    def _uses_of_field(self, path: str, owner: str, name: str, bodies: Collection[Place]) -> Iterator[Dependent]:
        """Yield the uses of an attribute in these bodies, through its class, its base classes and its subclasses."""
        lineage = self._resolver.lineage
        family = (*lineage.of((path, owner)).places, *lineage.heirs((path, owner)))
        is_alone = _is_sole(self._library, name)
        for place, qualname in dict.fromkeys(family):
            for use in dependents(self._library, place, f"{qualname}.{name}"):
                if (use.is_sure or is_alone) and (use.path, use.qualname) in bodies:
                    yield use

    def _called_together(self, ours: Touches, theirs: Touches) -> Iterator[InteractingChange]:
        """Yield methods of one class that a common method calls: one may depend on the effect of the other."""
        for path, one, other in _siblings(ours, theirs):
            if one.is_header or other.is_header:
                continue
            if both := self._callers(path, one) & self._callers(path, other):
                yield self._between(path, one, other, f"are both called by `{min(both)}`")

    def _callers(self, path: str, target: Touched) -> frozenset[str]:
        """Return the other methods of the class that call a method."""
        return frozenset(
            use.qualname
            for use in self._uses(path, target)
            if use.is_sure and use.use is Use.CALL and use.path == path and _owner(use.qualname) == target.owner
        )

    def _between(self, path: str, one: Touched, other: Touched, how: str) -> InteractingChange:
        why = f"`{one.qualname}` and `{other.qualname}` {how}; each side changed one of them"
        lines = self._line(path, one.qualname), self._line(path, other.qualname)
        return InteractingChange(
            path, one.qualname, lines[0], path, other.qualname, lines[1], why, is_ours=True, is_sure=True
        )

    def _uses(self, path: str, target: Touched) -> tuple[Dependent, ...]:
        """Return the uses of a definition; those known by name only count if no other definition has that name.

        A new definition has no uses from before.
        """
        place = path, target.qualname
        if place not in self._known:
            is_alone = _is_sole(self._library, target.qualname.rpartition(".")[2])
            uses = () if target.is_new else self._all_uses(path, target)
            self._known[place] = tuple(each for each in uses if each.use in _RUNNING and (each.is_sure or is_alone))
        return self._known[place]

    def _all_uses(self, path: str, target: Touched) -> tuple[Dependent, ...]:
        """Return the uses of a definition; of a method that the language calls implicitly, also those of its class."""
        uses = dependents(self._library, path, target.qualname)
        name = target.qualname.rpartition(".")[2]
        is_implied = target.owner and name.startswith("__") and name.endswith("__") and name not in CONSTRUCTORS
        by_class = dependents(self._library, path, target.owner) if is_implied else ()
        return (*uses, *(replace(each, use=Use.NAME) for each in by_class))

    def _line(self, path: str, qualname: str) -> int:
        summary = self._library.summary(path)
        offer = summary.offered.get(qualname) if summary else None
        return offer.line if offer else 1


def _bodies(touches: Touches) -> dict[Place, Touched]:
    """Return the bodies that may use others, without tests."""
    return {(path, each.qualname): each for path, each in _each(touches) if not each.is_header and not is_test(path)}


def _set_for(setter: Touched, user: Touched) -> frozenset[str]:
    """Return the attributes that one sets and the other uses; of a header only those that a changed line uses."""
    found = setter.written & user.attributes
    return found & user.words if setter.is_header else found


def _is_aside(body: Touched, target: Touched) -> bool:
    """Whether the changed lines of the body do not mention the definition that it uses."""
    owner, _, name = target.qualname.rpartition(".")
    return body.words.isdisjoint({name, owner.rpartition(".")[2]})


def _is_sole(library: Library, name: str) -> bool:
    """Whether only one definition in all files has the name; a stub merely declares it again."""
    summaries = (library.summary(path) for path in library.definers(name) if not path.endswith(_STUBS))
    found = [offer for each in summaries if each is not None for offer in each.offers if offer.name == name]
    return len(found) == 1


def _verb(use: Dependent) -> str:
    return {Use.CALL: "calls", Use.BASE: "inherits from", Use.DECORATOR: "is decorated with"}.get(use.use, "uses")


def _siblings(ours: Touches, theirs: Touches) -> Iterator[tuple[str, Touched, Touched]]:
    """Yield pairs of methods of one class, each touched by one side, with their path."""
    for path in sorted(ours.keys() & theirs.keys()):
        for one, other in product(ours[path], theirs[path]):
            if one.owner and one.owner == other.owner and one.qualname != other.qualname:
                yield path, one, other


def _owner(qualname: str) -> str:
    return qualname.rpartition(".")[0]


def _each(touches: Touches) -> Iterator[tuple[str, Touched]]:
    return ((path, each) for path, found in touches.items() for each in found)
