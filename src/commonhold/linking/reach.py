"""How far a change of a definition reaches: who uses it, who uses those, and so on, in any file."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from commonhold.linking.dependents import Dependent, dependents
from commonhold.linking.library import Library
from commonhold.semantics.references import Use

MOST: Final = 500
"""How many definitions are looked at, unless the caller says otherwise."""

Definition = tuple[str, str]
"""A path and a qualified name, which is empty for the top level of the file."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A definition that depends on another, `target`, by the uses in `uses`, the nearest way there is.

    `depth` is 1 for what uses the definition that was asked about. `is_sure`: each use on the way was tied.
    """

    path: str
    qualname: str
    depth: int
    target: Definition
    uses: tuple[Dependent, ...]
    is_sure: bool

    @property
    def place(self) -> Definition:
        """What it is."""
        return self.path, self.qualname

    @property
    def line(self) -> int:
        """Where it uses the other first."""
        return min(each.line for each in self.uses)


@dataclass(frozen=True, slots=True)
class Reach:
    """What depends on some definitions, the nearest first. `is_cut`: there is more, which was not looked for."""

    starts: tuple[Definition, ...]
    reached: tuple[Reached, ...] = ()
    is_cut: bool = False


def reach(library: Library, starts: Iterable[Definition], depth: int, most: int = MOST) -> Reach:
    """Follow the uses for `depth` steps. Each definition is there once, by its nearest way; sure ones go before others.

    What only a name says is followed no further: from there it would be guesses upon guesses.
    """
    begun = tuple(dict.fromkeys(starts))
    seen = dict.fromkeys(begun, 0)
    waiting, found = deque(begun), list[Reached]()
    while waiting:
        place = waiting.popleft()
        if seen[place] == depth:
            continue
        for each in _users(library, place, seen[place] + 1):
            if each.place in seen:
                continue
            if len(found) == most:
                return Reach(begun, tuple(found), is_cut=True)
            seen[each.place] = each.depth
            found.append(each)
            if each.is_sure and each.qualname:
                waiting.append(each.place)
    return Reach(begun, tuple(found))


def _users(library: Library, target: Definition, depth: int) -> list[Reached]:
    """Who uses a definition, each with all its uses; the sure ones first."""
    grouped: dict[Definition, list[Dependent]] = {}
    for use in dependents(library, *target):
        grouped.setdefault((use.path, use.qualname), []).append(use)
    named = {path for path, qualname in grouped if qualname}
    users = [
        _reached(place, depth, target, uses)
        for place, uses in grouped.items()
        if place != target and not (place[0] in named and _only_imports(place, uses))
    ]
    return sorted(users, key=lambda each: (not each.is_sure, each.path, each.line))


def _only_imports(place: Definition, uses: list[Dependent]) -> bool:
    """Whether it is the import that a definition in the same file has the name from."""
    return not place[1] and all(use.use is Use.IMPORT for use in uses)


def _reached(place: Definition, depth: int, target: Definition, uses: list[Dependent]) -> Reached:
    sure = tuple(use for use in uses if use.is_sure)
    return Reached(*place, depth, target, sure or tuple(uses), bool(sure))
