"""How programs of one language are edited: data, by the node kinds of its grammar."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

ANY: Final = -1


@dataclass(frozen=True, slots=True)
class Insert:
    """One text that a kind of edit puts into a node.

    `into` is a node kind, or "kind<parent" with the kind of its parent. A `text` with `{name}` introduces a name, one
    with `{function}`, `{type}` or `{variable}` uses one of the file, with `{local}` a variable that the node declares;
    `{holder}` is the name of what has the node as its body, `{n}` a number, `{next}` the largest number in the node
    plus one. `beside` says which children the text may stand next to; without it, any.
    """

    into: str
    text: str
    beside: frozenset[str] = frozenset()


def beside(into: str, text: str, *kinds: str) -> Insert:
    """An insert that stands next to children of these kinds only."""
    return Insert(into, text, frozenset(kinds))


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language.

    `lines` are texts that stand on lines of their own among the children of a node, `entries` those that stand between
    separators; both by kind of edit. `copied` are nodes that may be copied under another name, `statements` the nodes
    that hold statements, `functions` definitions with parameters (and where their name stands), `parameters` and
    `arguments` the lists of these, `constants` literals, `locals` statements that declare variables.
    `argument` is passed for an added parameter. Edits are tried `tries` times as often as in other languages.
    """

    name: str
    suffix: str
    lines: Mapping[str, Sequence[Insert]]
    entries: Mapping[str, Sequence[Insert]] = field(default_factory=dict)
    copied: frozenset[str] = frozenset()
    statements: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset({"identifier"})
    moved: frozenset[str] = frozenset()
    locals: frozenset[str] = frozenset()
    tries: int = 1
    parameter: str = ""
    argument: str = "1"
    comment: str = "// {}"
    separator: bytes = b","
