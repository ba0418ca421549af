"""How files of one language are merged: data, read by the layout of a file and by the analysis of effects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tree_sitter import Node

from commonhold.merging.node_effects import NodeEffects


class Order(StrEnum):
    """What the order of entries in a list means, where both sides add some at one point.

    FREE: nothing, they may stand in any order. NAMED: nothing for entries with a name or a default (a keyword argument,
    a parameter that need not be given), much for others. FIXED: everything.
    """

    FREE = "FREE"
    NAMED = "NAMED"
    FIXED = "FIXED"


@dataclass(frozen=True, slots=True)
class Binding:
    """What a node does to names: `defines` are its fields that are given a value, `names` those that are mere labels.

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
    end in such a list, after the token given; `sections` end in statements, after theirs. `definitions` have a name
    that their block knows them by: what `naming` says of the kind, else their field `name`; a `wrapper` holds a
    definition and what decorates it; `leads` stand before what they belong to, as comments do. `keyed` are known by a
    field. Of `parameters` those of `optional_entries` need not be given, and none after one of `keyword_only_marks`
    is given by its place; `spreads` are entries that hold entries. `functions` and `classes` are scopes of names.
    `members`, `subscripts`, `calls` and `method_calls` say where in such a node stands what holds the member and the
    member, what holds the item, what is called: a field, or the number of a named child (`0` the first, `-1` the last).
    `setters` are calls that give a member a value where they stand on the left of an assignment.
    `exits` leave the block that they stand in; `mutators` are methods that change what they are called on, unless that
    is one of the `receivers`; `implied` are the methods that a node calls unsaid. `node_effects` says which nodes are
    known not to do anything else. `last_definition_counts`: a definition replaces an earlier one of its name in one
    block, where other languages have overloads or an error. Where the grammar `is_exact`, what it cannot read is no
    program; elsewhere it is left alone, as long as nothing new comes up.
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
    has_indented_blocks: bool = False
    last_definition_counts: bool = False
    is_exact: bool = False
