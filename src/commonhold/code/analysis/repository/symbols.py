"""The targets of names and chains in one state of a repository."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from commonhold.code.analysis.references import Receiver
from commonhold.code.analysis.repository.summary import Offer

Place = tuple[str, str]
"""A definition: the path of its file and its qualified name."""


class What(StrEnum):
    """The kinds of things."""

    MODULE = "module"
    CLASS = "class"
    INSTANCE = "instance"
    FUNCTION = "function"
    VALUE = "value"
    OUTSIDE = "outside"  # outside of this repository
    NOTHING = "nothing"  # provably does not exist
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Thing:
    """One target. `paths` are the files of a module (several in some languages), else the one that `offer` is in.

    `receiver` says how a member was reached: on an instance, a class, by `super()`; and `reached_on` on which class.
    `layers`: it is a collection (`*`) or a mapping (`:`) of such things, or of collections of them; the outermost last.
    """

    what: What
    paths: tuple[str, ...] = ()
    offer: Offer | None = None
    receiver: Receiver = Receiver.NONE
    reached_on: Place | None = None
    layers: str = ""

    @property
    def path(self) -> str:
        """The file of the thing."""
        return self.paths[0] if self.paths else ""

    @property
    def place(self) -> Place:
        """The place of the definition."""
        return self.path, self.offer.qualname if self.offer else ""

    @property
    def is_found(self) -> bool:
        """Whether this is a definition of the repository."""
        return self.offer is not None


UNKNOWN: Final = Thing(What.UNKNOWN)
OUTSIDE: Final = Thing(What.OUTSIDE)
NOTHING: Final = Thing(What.NOTHING)
