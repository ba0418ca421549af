"""The names that one file offers to others and uses of them: enough to link files without their text.

A summary is computed from the bytes alone and does not know its path, so equal files in any place and revision have one
summary, cached by their content hash.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from commonhold.code.analysis.chains import Chain
from commonhold.code.analysis.interface import CallableInterface, Params
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import Marker, Reference

# Raise it whenever a summary of the same bytes would come out differently: the cache on disk is then rebuilt.
EDITION: Final = 7
STAR: Final = "*"
# A marker: the file has names that are written nowhere in it: a macro or a computed export generates them.
MADE_NAMES: Final = "made names"
# Modifiers: the words that say who may use a definition, and how.
PRIVATE: Final = "private"
STATIC: Final = "static"
ABSTRACT: Final = "abstract"
READ_ONLY: Final = "read-only"
PLAIN: Final = "plain"
HANDS_ON: Final = "hands on"


@dataclass(frozen=True, slots=True)
class ClassShape:
    """The content of a class statement besides its members. `bases` are chains to its base classes, in order.

    `texts` are the bases as written, `fields` the parameters that a generated constructor takes for this class's own
    fields (None: no constructor is generated). `is_open`: attributes may come from unknown code.
    """

    bases: tuple[Chain, ...] = ()
    texts: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    decorators: tuple[str, ...] = ()
    fields: Params | None = None
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A name that a file defines: `qualname` as in region keys, without ordinals; `line` is counted from 1.

    `signatures` are those of a function, several for overloads; with `self` or its equivalent if the language writes
    it. `gives` is the result of a function, or the value. `forwards`: the function passes all its arguments on to the
    target of this chain. `is_sole`: nothing else in the file binds the name. `is_left_open`: a method that only raises,
    or is abstract, for subclasses to define. `is_partial`: a function that is defined in one branch, say for one
    platform, and not in the other. `end_line` is the last line.

    `modifiers` are its words among `PRIVATE`, `STATIC` and `ABSTRACT`, in languages that write them, `READ_ONLY` for a
    property without a setter, `PLAIN` for a value that is no function, `HANDS_ON` for a decorator whose wrapper is
    called as its function is, and returns the same. A class is `ABSTRACT` if no object is made of it itself.
    """

    qualname: str
    sort: Sort
    line: int
    end_line: int
    signatures: tuple[CallableInterface, ...] = ()
    shape: ClassShape | None = None
    gives: Chain = ()
    forwards: Chain = ()
    is_sole: bool = True
    is_left_open: bool = False
    is_partial: bool = False
    modifiers: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The class that it is a member of; empty at the top level."""
        return self.qualname.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Import:
    """A name that the top level of a file imports: `module` as written (`.core`, `./x`, `a::b`).

    `member` is the name in that module, empty if the module itself is bound, `*` for all of its names (`name` is empty
    then). `is_public`: other files may import it from here (a re-export). `is_guarded`: the file handles its absence.
    """

    name: str
    module: str
    member: str
    line: int
    is_public: bool = True
    is_guarded: bool = False


@dataclass(frozen=True)
class Summary:
    """One file. `exports` is the list of public names if the file gives one (`__all__`).

    That ends with `*` if a part of it is computed. `problem` says why nothing could be read; all other fields are empty
    then.
    """

    language: str
    offers: tuple[Offer, ...] = ()
    imports: tuple[Import, ...] = ()
    uses: tuple[Reference, ...] = ()
    markers: tuple[Marker, ...] = ()
    exports: tuple[str, ...] | None = None
    problem: str = ""

    @property
    def flat(self) -> "Summary":
        """Return the same summary as one plain value, however it was made."""
        return self

    @cached_property
    def offered(self) -> Mapping[str, Offer]:
        """The offers by qualified name."""
        return MappingProxyType({offer.qualname: offer for offer in self.offers})

    @cached_property
    def imported(self) -> Mapping[str, Import]:
        """The imports by the name that they bind; the last one of a name counts."""
        return MappingProxyType({each.name: each for each in self.imports if each.name})

    @cached_property
    def used_names(self) -> frozenset[str]:
        """Every name that is used, or imported from another file."""
        taken = (each.member or each.module.rpartition(".")[2] for each in self.imports)
        return frozenset(use.name for use in self.uses).union(taken)

    @cached_property
    def uses_by_name(self) -> Mapping[str, Sequence[Reference]]:
        """The uses by the name that they use."""
        return by_name(self.uses)

    def definition_at(self, line: int) -> str:
        """Return the qualified name of the innermost definition around a line; empty at the top level."""
        starts, spans, outer = self._definitions
        place = bisect_right(starts, line) - 1
        while place >= 0 and spans[place].end_line < line:
            place = outer[place]
        return spans[place].qualname if place >= 0 else ""

    @cached_property
    def _definitions(self) -> tuple[list[int], list[Offer], list[int]]:
        """The first lines of all definitions, sorted, the definitions, and for each the last before it that ends later.

        Of those that begin on one line, the first is the innermost.
        """
        spans = sorted((each for each in reversed(self.offers) if each.sort is not Sort.VALUE), key=_first_line)
        outer: list[int] = []
        for place, span in enumerate(spans):
            around = place - 1
            while around >= 0 and spans[around].end_line <= span.end_line:
                around = outer[around]
            outer.append(around)
        return [span.line for span in spans], spans, outer

    @cached_property
    def offered_names(self) -> frozenset[str]:
        """The last parts of all qualified names."""
        return frozenset(offer.name for offer in self.offers)


def _first_line(offer: Offer) -> int:
    return offer.line


def by_name(uses: Iterable[Reference]) -> Mapping[str, Sequence[Reference]]:
    """Return uses by the name that they use."""
    found: dict[str, list[Reference]] = {}
    for use in uses:
        found.setdefault(use.name, []).append(use)
    return found
