"""The inheritance between classes, across files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.chains import Chain
from commonhold.code.analysis.references import Use
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.summary import Offer
from commonhold.code.analysis.repository.symbols import Place, Thing, What

# Bases from outside without an attribute that code would look for.
_MOST_GENERATIONS: Final = 48
_PLAIN: Final = frozenset({"object", "ABC", "Generic", "Protocol"})


@dataclass(frozen=True, slots=True)
class Line:
    """A class and its base classes, in the order in which attributes are looked up.

    `is_closed`: these show all of its attributes. `outside` are the bases, as written, that are not of this repository
    and may look for methods of their own.
    """

    places: tuple[Place, ...]
    is_closed: bool
    outside: tuple[str, ...] = ()


class Lineage:
    """The inheritance in one state of a repository."""

    def __init__(self, library: Library, follow: Callable[[str, Chain], Thing]) -> None:
        """Look classes up in `library`; `follow` resolves the chain of a base."""
        self._library = library
        self._follow = follow
        self._lines: dict[Place, Line] = {}
        self._generations = 0

    def of(self, place: Place) -> Line:
        """Return the line of a class; depth first, a class that is inherited twice stands where it is reached last."""
        if place not in self._lines:
            self._lines[place] = Line((place,), is_closed=False)  # for a class that inherits from itself
            self._generations += 1
            if self._generations < _MOST_GENERATIONS:
                self._lines[place] = self._line(place)
            self._generations -= 1
        return self._lines[place]

    def offer(self, place: Place) -> Offer | None:
        """Return the definition at a place; None if there is none."""
        summary = self._library.summary(place[0])
        return summary.offered.get(place[1]) if summary else None

    def _line(self, place: Place) -> Line:
        offer = self.offer(place)
        if offer is None or offer.shape is None:
            return Line((place,), is_closed=False)
        found: list[Place] = [place]
        is_closed, outside = not offer.shape.is_open, list[str]()
        for chain, text in zip(offer.shape.bases, offer.shape.texts, strict=True):
            base = self._follow(place[0], chain)
            if base.what is What.CLASS:
                line = self.of(base.place)
                found = [each for each in found if each not in line.places] + list(line.places)
                is_closed = is_closed and line.is_closed
                outside += line.outside
            elif text.rpartition(".")[2] not in _PLAIN:
                outside.append(text)
        return Line(tuple(found), is_closed and not outside, tuple(outside))

    def heirs(self, place: Place) -> tuple[Place, ...]:
        """Return the classes that inherit from a class, directly or not."""
        found: dict[Place, None] = {}
        pending = [place]
        while pending:
            for heir in self._direct_heirs(pending.pop()):
                if heir not in found and heir != place:
                    found[heir] = None
                    pending.append(heir)
        return tuple(found)

    def _direct_heirs(self, place: Place) -> list[Place]:
        name = place[1].rpartition(".")[2]
        return [heir for each in self._aliases(name) for heir in self._naming(each) if place in self.of(heir).places]

    def _aliases(self, name: str) -> set[str]:
        """Return the names under which files import a name."""
        users = map(self._library.summary, self._library.users(name))
        return {name} | {
            taken.name for user in users if user for taken in user.imports if taken.member == name and taken.name
        }

    def _naming(self, name: str) -> list[Place]:
        """Return the classes that have this name among their bases."""
        return [
            (path, offer.qualname)
            for path in self._library.users(name)
            if (summary := self._library.summary(path)) is not None
            and any(use.use is Use.BASE for use in summary.uses_by_name.get(name, ()))
            for offer in summary.offers
            if offer.shape and any(name in chain for chain in offer.shape.bases)
        ]
