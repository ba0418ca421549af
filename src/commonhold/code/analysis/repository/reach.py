"""How far a change of a definition reaches: its users, their users, and so on, in any file."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.dependents import Dependent, dependents
from commonhold.code.analysis.repository.library import Library

MOST: Final = 500
"""How many definitions are examined, unless the caller passes another limit."""

Definition = tuple[str, str]
"""A path and a qualified name, which is empty for the top level of the file."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A definition that depends on another, `target`, by the uses in `uses`, on the shortest way.

    `depth` is 1 for users of the requested definition. `is_sure`: each use on the way was resolved.
    """

    path: str
    qualname: str
    depth: int
    target: Definition
    uses: tuple[Dependent, ...]
    is_sure: bool

    @property
    def place(self) -> Definition:
        """The definition itself."""
        return self.path, self.qualname

    @property
    def line(self) -> int:
        """The line of its first use of the other."""
        return min(each.line for each in self.uses)


@dataclass(frozen=True, slots=True)
class Reach:
    """The definitions that depend on some others, the nearest first. `is_cut`: there are more, not searched for."""

    starts: tuple[Definition, ...]
    reached: tuple[Reached, ...] = ()
    is_cut: bool = False


def reach(library: Library, starts: Iterable[Definition], depth: int, most: int = MOST) -> Reach:
    """Follow the uses for `depth` steps. Each definition appears once, by its shortest way; sure ones come first.

    A use that is only known by name is not followed: further steps would be guesses upon guesses.
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
    """Return the users of a definition, each with all its uses; the sure ones first."""
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
    """Whether the place is only the import from which a definition in the same file has the name."""
    return not place[1] and all(use.use is Use.IMPORT for use in uses)


def _reached(place: Definition, depth: int, target: Definition, uses: list[Dependent]) -> Reached:
    sure = tuple(use for use in uses if use.is_sure)
    return Reached(*place, depth, target, sure or tuple(uses), bool(sure))
