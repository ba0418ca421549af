"""How files of one language are merged: data, read by the layout of a file and by the analysis of effects."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tree_sitter import Node

from commonhold.merging.node_effects import NodeEffects


class Order(StrEnum):
    """The meaning of the order of entries in a list to which both sides add some at one point.

    FREE: none, they may stand in any order. NAMED: none for entries with a name or a default (a keyword argument, an
    optional parameter), much for others. FIXED: the order always matters.
    """

    FREE = "FREE"
    NAMED = "NAMED"
    FIXED = "FIXED"


@dataclass(frozen=True, slots=True)
class Binding:
    """The effect of a node on names: `defines` are its fields that are assigned, `names` those that are mere labels.

    `is_scope` says that names defined inside stay inside; `mutates` that the old value is read as well.
    """

    defines: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    is_scope: bool = False
    mutates: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The node kinds that matter when files of a language are merged; kinds are those of its grammar.

    `blocks` hold statements or members, one after the other. `lists` hold entries between separators, and say what
    their order means; `separators` are those other than `separator`, and of these a list whose first entry is another
    one is read as one list. Those of `lone` need a separator after an entry that is alone. `runs` are statements that
    end in such a list, after the given token; `sections` end in statements, after their token. `definitions` have a
    name by which their block knows them: the one that `naming` gives for the kind, else their field `name`; a `wrapper`
    holds a definition and its decorators; `leads` stand before the element that they belong to, as comments do. `keyed`
    nodes are known by a field. Of `parameters` those of `optional_entries` need not be given, and none after one of
    `keyword_only_marks` is passed by position; `spreads` are entries that hold entries. `functions` and `classes` are
    scopes of names.

    `members`, `subscripts`, `calls` and `method_calls` say where such a node holds its parts: a member's object and
    name, an item's object, the called function. A part is a field, or the number of a named child (`0` the first, `-1`
    the last). `setters` are calls that assign a member if they stand on the left of an assignment.

    `exits` leave the block that they stand in; `mutators` are methods that change their receiver, unless that is one of
    the `receivers`; `implied` are the methods that a node calls implicitly. `texts` are texts that use variables which
    the grammar does not show: the kind of the node around them (any, if empty), and the form of such a use.
    `node_effects` lists the nodes that are known to have no other effect. `last_definition_counts`: a definition
    replaces an earlier one of its name in one block; in other languages it is an overload, or, unless the language
    `has_overloads`, an error. If the grammar `is_exact`, text that it cannot read is no program; otherwise such text is
    left alone, as long as no new such text appears.
    """

    blocks: frozenset[str] = frozenset()
    lists: Mapping[str, Order] = field(default_factory=dict)
    runs: Mapping[str, bytes] = field(default_factory=dict)
    separator: bytes = b","
    separators: Mapping[str, bytes] = field(default_factory=dict)
    lone: frozenset[str] = frozenset()
    sections: Mapping[str, bytes] = field(default_factory=dict)
    definitions: frozenset[str] = frozenset()
    naming: Mapping[str, Callable[[Node], str | None]] = field(default_factory=dict)
    wrapper: str = ""
    wrapped: str = "definition"
    decorator: str = ""
    clauses: frozenset[str] = frozenset()
    keyed: Mapping[str, str] = field(default_factory=dict)
    optional_entries: frozenset[str] = frozenset()
    keyword_only_marks: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    spreads: frozenset[str] = frozenset()
    comments: frozenset[str] = frozenset({"comment"})
    leads: frozenset[str] = frozenset()
    comment_mark: bytes = b"#"
    text: str = "string"
    functions: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset({"identifier"})
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    subscripts: Mapping[str, str] = field(default_factory=dict)
    setters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    method_calls: Mapping[str, str] = field(default_factory=dict)
    bindings: Mapping[str, Binding] = field(default_factory=dict)
    imports: frozenset[str] = frozenset()
    exits: frozenset[str] = frozenset()
    node_effects: NodeEffects = field(default_factory=NodeEffects)
    mutators: frozenset[str] = frozenset()
    receivers: frozenset[str] = frozenset()
    implied: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, re.Pattern[bytes]]] = field(default_factory=dict)
    has_indented_blocks: bool = False
    has_overloads: bool = True
    last_definition_counts: bool = False
    is_exact: bool = False
