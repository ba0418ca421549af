"""The uses of names, attributes and calls in a region, which may lead to other regions, and dynamic markers."""

import builtins
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from commonhold.code.analysis.interface import CallShape

CALL_FAILS: Final = "call"  # a call that does not bind is expected
NAME_FAILS: Final = "name"  # a missing name is expected
ITSELF: Final = ""  # the name in a reference that calls its receiver: `cls(...)`
BUILTINS: Final = frozenset(dir(builtins))


class Use(StrEnum):
    """How a reference uses its name."""

    CALL = "call"
    NAME = "name"
    ATTRIBUTE = "attribute"
    BASE = "base"
    DECORATOR = "decorator"
    QUALIFIER = "qualifier"  # the `f` of `f.attr`
    ANNOTATION = "annotation"
    EXPORT = "export"  # an entry of `__all__`
    IMPORT = "import"
    STORE = "store"  # an attribute of another object than `self` is assigned
    TEXT = "text"  # a string that looks like a name
    FIXTURE = "fixture"  # a parameter that a test runner fills by its name


class Receiver(StrEnum):
    """The expression before the dot."""

    NONE = "none"
    SELF = "self"
    CLS = "cls"
    SUPER = "super"
    CLASS = "class"  # a dotted name, of a class if the file has one of that name
    INSTANCE = "instance"  # `C()`, or a variable bound once to it or annotated with `C`
    OUTSIDE = "outside"  # rooted in an import, a literal or a foreign annotation
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a name. `class_name`: the class of the receiver, itself or as an instance; empty if it is unknown.

    With the receiver NONE, `class_name` is the class in whose body (not in a method) the bare name stands. `chain` is
    the expression before the dot, for an analysis that can read other files; see `chains.Chain`. `expects` says how the
    code around it expects it to fail (`CALL_FAILS`, `NAME_FAILS`); see `expected_failures.py`.
    """

    name: str
    use: Use
    shape: CallShape | None
    receiver: Receiver
    class_name: str
    line: int
    chain: tuple[str, ...] = ()
    expects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Marker:
    """Something whose effect the syntax does not show: `kind` is its name in messages to agents."""

    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class Usage:
    """All uses in a tree."""

    references: tuple[Reference, ...]
    markers: tuple[Marker, ...]
