"""Find the names that a merge defines more often in one scope than any of its versions does.

Examples are a mapping that has one key twice, an interface with one property of two types, a method in two blocks of
one type: each side alone is right, and their changed texts do not overlap. Most languages define names by much the same
syntax, so one table of node kinds serves them all.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import changed_lines, places_of
from commonhold.merging.constants import has_escapes, same_number, same_spelling, same_truth
from commonhold.merging.layout import FileElement
from commonhold.merging.profile import Profile
from commonhold.merging.syntax import field_text

# Members, entries, parameters and other nodes with a name in their scope; `_NAME_FIELDS` says where the name stands.
_GIVING: Final = frozenset(
    {
        "alias_declaration",
        "array_element_initializer",
        "associated_type",
        "block_mapping_pair",
        "class_parameter",
        "const_element",
        "const_item",
        "const_spec",
        "declaration",
        "enum_assignment",
        "enum_case",
        "enum_constant",
        "enum_entry",
        "enum_member_declaration",
        "enum_variant",
        "enumerator",
        "field_declaration",
        "field_definition",
        "field_initializer",
        "flow_pair",
        "formal_parameter",
        "function_signature_item",
        "initializer_pair",
        "jsx_attribute",
        "keyed_element",
        "keyframes_statement",
        "keyword_parameter",
        "method_definition",
        "method_elem",
        "method_signature",
        "optional_parameter",
        "pair",
        "parameter",
        "parameter_declaration",
        "preproc_def",
        "property_declaration",
        "property_element",
        "property_signature",
        "public_field_definition",
        "required_parameter",
        "rule_set",
        "simple_parameter",
        "static_item",
        "table",
        "type_alias",
        "type_alias_declaration",
        "type_definition",
        "type_item",
        "type_spec",
        "val_definition",
        "var_definition",
        "var_spec",
    }
)
_NAME_FIELDS: Final = ("name", "key", "property", "pattern", "field", "designator", "declarator")
# Kinds without a field for the name: it is their first child, or inside of it.
_HOLDING: Final = frozenset(
    {
        "bare_key",
        "dotted_key",
        "identifier",
        "keyframes_name",
        "literal_element",
        "name",
        "property_element",
        "property_name",
        "quoted_key",
        "selectors",
        "string",
        "encapsed_string",
        "variable_declaration",
        "variable_declarator",
    }
)
_DECLARING: Final = frozenset({"variable_declaration", "variable_declarator"})
# Each of these is a scope of its own; a definition is one as well.
_CLOSED: Final = frozenset(
    {
        "array_creation_expression",
        "block",
        "block_mapping",
        "case_block",
        "compound_statement",
        "dictionary",
        "do_block",
        "expression_switch_statement",
        "field_initializer_list",
        "flow_mapping",
        "hash",
        "initializer_list",
        "inline_table",
        "jsx_opening_element",
        "jsx_self_closing_element",
        "keyframe_block_list",
        "literal_value",
        "match_block",
        "object",
        "object_type",
        "statement_block",
        "struct_type",
        "switch_block",
        "switch_body",
        "table_array_element",
        "when_expression",
    }
)
# Branches for the values of a switch, with the fields of these values; without one, they are the first child.
_CASES: Final = {
    "case_clause": "pattern",
    "case_statement": "value",
    "expression_case": "value",
    "match_arm": "pattern",
    "match_conditional_expression": "conditional_expressions",
    "switch_case": "value",
    "switch_entry": "pattern",
    "switch_section": "pattern",
    "when": "pattern",
    "when_entry": "condition",
}
# Lists of parameters. That of a closure is a scope of its own, that of a definition belongs to the definition's scope.
_PARAMETER_LISTS: Final = frozenset(
    {"block_parameters", "closure_parameters", "formal_parameters", "lambda_parameters", "method_parameters"}
)
# The scopes of these continue wherever their name stands again.
_OPEN: Final = frozenset({"enum_variant", "rule_set", "table", "type_alias_declaration", "type_spec"})
# Definitions that may stand several times, as parts of one.
_IN_PARTS: Final = re.compile(rb"\A(?:\s|\w+\s)*?(?:partial|extension|namespace)\b")
_ANNOTATIONS: Final = frozenset({"annotation", "attribute", "attribute_item", "attribute_list", "decorator"})
# The name of a member outside the program, given by its annotation.
_SERIALISED: Final = re.compile(
    rb"\b(?:Json(?:Property|PropertyName|Alias)?|Serial(?:ized)?Name|XmlElement|XmlAttribute|DataMember|Expose|Column"
    rb"|rename|alias|serialization_alias|validation_alias|data_key|db_column|related_name|field_name|Table)\b\s*[=(:][^\"']*[\"']([^\"']+)[\"']"
)
_SERIALISED_FIELDS: Final = frozenset({"field_declaration", "property_declaration", "public_field_definition"})
_ARGUMENT: Final = re.compile(
    rb"\b(?:arg|clap|structopt|command|Option|Parameter)\(.*?\b(long|short|names?)\s*=\s*[\"'{\s]*([\w-]+)"
)
_FIXTURE: Final = re.compile(rb"\bfixture\((?:[^()]*,)?\s*name\s*=\s*[\"'](\w+)")
_TAG: Final = re.compile(rb"(\w+):\"([^\",]+)")
_ROUTED: Final = re.compile(
    rb"\A[@\[#]*(?:\w+\.)*(?:route|get|post|put|patch|delete|command|websocket|Route|\w*Mapping|Http\w+)\("
)
_VALUE_KEY: Final = re.compile(rb"\(\s*(?:value|path)\s*=\s*")  # the one key of an annotation that may be left out
_OVERLOADED: Final = frozenset({"declaration", "field_declaration", "function_definition"})
_EMBEDDED: Final = frozenset({"generic_type", "qualified_type", "type_identifier"})
_NAMESPACE: Final = "namespace_definition"
_VALUES: Final = ("value", "raw_value", "arguments")
_VALUED: Final = frozenset(
    {
        "enum_assignment",
        "enum_case",
        "enum_constant",
        "enum_entry",
        "enum_member_declaration",
        "enum_variant",
        "enumerator",
    }
)
_LITERAL: Final = re.compile(rb"\A\(?(?:-?\d\w*|\"[^\"]*\"|'[^']*')")
_ENUMERATION: Final = re.compile(rb"\b\w*(?:Enum|Flag)\b")
_DERIVED: Final = re.compile(rb"\bderive\(([^)]*)\)")
_WORD: Final = re.compile(rb"\w+")

Key = tuple[object, ...]
Name = tuple[str, bytes]


@dataclass(slots=True)
class _Given:
    """How often each scope defines each name; `labels` are the scopes without the numbers of equal ones.

    `overloaded` are names that may have several definitions of one sort, but none of another beside them: functions,
    namespaces, traits for types.
    """

    source: bytes
    places: Sequence[int]
    profile: Profile
    counts: dict[Key, Counter[Name]] = field(default_factory=dict)
    labels: dict[Key, Key] = field(default_factory=dict)
    overloaded: dict[Key, dict[bytes, set[str]]] = field(default_factory=dict)

    def most(self) -> Counter[tuple[Key, Name]]:
        """Return how often a name stands in one scope; of several with one label, the highest count."""
        found: Counter[tuple[Key, Name]] = Counter()
        for key, names in self.counts.items():
            for name, count in names.items():
                at = self.labels[key], name
                found[at] = max(found[at], count)
        for key, sorts in self.overloaded.items():
            for bare, kinds in sorts.items():
                count = self.counts.get(key, Counter())["", bare]
                at = self.labels[key], ("", bare)
                found[at] = max(found[at], count + len(kinds))
        return found

    def give(self, scope: Key, *names: Name) -> None:
        """Record names that a scope defines."""
        self.counts.setdefault(scope, Counter()).update(set(names))

    def overload(self, scope: Key, node: Node, *names: bytes) -> None:
        """Record names that may stand several times, each for a thing of one sort: a function or a namespace."""
        for name in names:
            bare, mark, _ = name.partition(b"(")
            if node.type == _NAMESPACE or (mark and node.type in _OVERLOADED):
                self.overloaded.setdefault(scope, {}).setdefault(bare, set()).add(mark.decode())

    def implement(self, *names: bytes) -> None:
        """Record implementations of traits: one for many types clashes with one for a single type."""
        for name in names:
            trait, mark, of = name.partition(b" for ")
            if mark:
                self.overloaded.setdefault((), {}).setdefault(trait, set()).add("_" if of == b"_" else "")
            head, mark, parts = of.partition(b"<")
            if mark:
                for_many = "_" if b"_" in _WORD.findall(parts) else ""
                self.overloaded.setdefault((), {}).setdefault(trait + b" for " + head, set()).add(for_many)

    def inside(self, scope: Key, name: bytes, *, is_open: bool) -> Key:
        """Return the key of a scope in another."""
        key = (*scope, name) if is_open else (*scope, (name, len(self.labels)))
        self.labels.setdefault(key, (*self.labels[scope], name))
        return key

    def is_wanted(self, node: Node) -> bool:
        """Whether a node contains one of the words that may be doubled."""
        at = bisect_left(self.places, node.start_byte)
        return at < len(self.places) and self.places[at] < node.end_byte


def given_twice(merged: FileElement, versions: tuple[FileElement, FileElement, FileElement]) -> list[bytes]:
    """Return names that stand more often in one scope of the merge than in that scope of base, ours or theirs.

    The constants of an enumeration's members count, too, if the merge alone has one twice.
    """
    base, *sides = (each.source for each in versions)
    new = [b"".join(changed_lines(base, side)[1]) for side in sides]
    both = _words_of_both(new[0], new[1])
    if not both:
        return []
    most = _given(merged, both).most()
    doubled = [at for at, count in most.items() if count > 1]
    if not doubled:
        return []
    known = [_given(each, both).most() for each in versions]
    return sorted({at[1][1] for at in doubled if most[at] > max(each[at] for each in known)})


def _words_of_both(ours: bytes, theirs: bytes) -> frozenset[bytes]:
    """Return the words that both texts contain, in all their spellings; with escapes, any word may be spelled anew."""
    words = [frozenset(_WORD.findall(text)) for text in (ours, theirs)]
    if has_escapes(ours) or has_escapes(theirs):
        return words[0] | words[1]
    meant = [{same_truth(same_number(word)) for word in side} for side in words]
    both = meant[0] & meant[1]
    return frozenset(word for word in words[0] | words[1] if same_truth(same_number(word)) in both)


def _given(element: FileElement, words: frozenset[bytes]) -> _Given:
    given = _Given(element.source, places_of(element.source, words), element.profile, labels={(): ()})
    _inside(element.tree.root_node, (), given)
    return given


def _inside(node: Node, scope: Key, given: _Given) -> None:
    children = [each for each in node.named_children if given.is_wanted(each)]
    for child in children:
        _visit(child, scope, given)
    for before, after in (
        pairwise(node.named_children) if any(each.type == "attribute_item" for each in children) else ()
    ):
        if before.type == "attribute_item":
            names = [*_derived(before, after)]
            given.give(scope, *(("", name) for name in names))
            given.implement(*names)


def _visit(node: Node, scope: Key, given: _Given) -> None:
    kind = node.type
    if kind in given.profile.comments:
        return
    if kind in _ANNOTATIONS:
        _annotated(node, scope, given)
    elif (name := _defined(node, given.profile)) is not None:
        _definition(node, name, scope, given)
    elif kind in _GIVING:
        _member(node, scope, given)
    elif kind == "media_statement":  # rules under one condition stand together, in however many parts
        condition = (node.text or b"").partition(b"{")[0].strip()
        rules = next((each for each in node.named_children if each.type == "block"), node)
        _inside(rules, given.inside(scope, condition, is_open=True), given)
    elif kind in _CLOSED or _is_of_closure(node, given.profile):
        _inside(node, given.inside(scope, kind.encode(), is_open=False), given)
    elif node.parent is not None and node.parent.type in _PARAMETER_LISTS:
        named = node.child_by_field_name("left") or node
        given.give(scope, *([("", named.text or b"")] if named.type in given.profile.identifiers else ()))
    else:
        for place, given_name in {*_given_apart(node, scope)}:
            given.give(place, given_name)
        _inside(node, scope, given)


def _given_apart(node: Node, scope: Key) -> Iterator[tuple[Key, Name]]:
    """Yield the names that other nodes give, each with its scope: of anchors and of the default export, the file."""
    if node.type == "anchor_name":
        yield (), ("anchor", node.text or b"")
    elif node.type == "assignment":
        yield from ((scope, name) for name in _assigned(node))
    elif node.type in _CASES:
        value = node.child_by_field_name(_CASES[node.type]) or (node.named_children or [node])[0]
        yield from ((scope, ("case", same_spelling(each))) for each in (value.text or b"").split(b","))
    elif node.type == "shorthand_property_identifier":
        yield scope, ("", node.text or b"")
    elif node.type == "export_statement" and any(each.type == "default" for each in node.children):
        yield (), ("export", b"default")


def _is_of_closure(node: Node, profile: Profile) -> bool:
    return node.type in _PARAMETER_LISTS and node.parent is not None and _defined(node.parent, profile) is None


def _annotated(node: Node, scope: Key, given: _Given) -> None:
    text = node.text or b""
    given.give(scope, *(("", each) for each in (*_SERIALISED.findall(text), *_FIXTURE.findall(text))))
    given.give(scope, *(("option", each) for _, each in _ARGUMENT.findall(text)))
    if _ROUTED.match(text):
        given.give(scope, ("route", _VALUE_KEY.sub(b"(", text)))


def _defined(node: Node, profile: Profile) -> bytes | None:
    """Return the name of a definition."""
    if node.type not in profile.definitions:
        return None
    naming = profile.naming.get(node.type)
    name = node.child_by_field_name("name") if naming is None else None
    found = naming(node) if naming is not None else (name.text or b"").decode() if name is not None else None
    return found.encode() if found else None


def _definition(node: Node, name: bytes, scope: Key, given: _Given) -> None:
    is_class = node.type in given.profile.classes
    if node.type == "impl_item":
        trait, of = node.child_by_field_name("trait"), node.child_by_field_name("type")
        name = b"impl " + (_implemented(trait, of) if trait is not None and of is not None else name)
        given.implement(name)
    is_part = (node.type == "impl_item" and b" for " not in name) or (
        is_class and _IN_PARTS.match(given.source, node.start_byte, node.end_byte) is not None
    )
    given.overload(scope, node, name)
    if not is_part:
        given.give(scope, ("", name))
    inner = given.inside(scope, name.removeprefix(b"extension "), is_open=is_class)
    for child in node.named_children:
        if not given.is_wanted(child):
            continue
        if child.type in _ANNOTATIONS or child.type == "modifiers":
            _visit(child, scope, given)
        elif child.type in _CLOSED or child.type in given.profile.blocks:
            _inside(child, inner, given)
        else:
            _visit(child, inner, given)


def _implemented(trait: Node, of: Node) -> bytes:
    """Return a trait and the type that has it; the type `_` if it is a parameter, so that it stands for many types."""
    parameters = of.parent.child_by_field_name("type_parameters") if of.parent is not None else None
    names = [each.child_by_field_name("name") or each for each in parameters.named_children] if parameters else []
    is_any = any(each.text == of.text for each in names)
    given = {each.text or b"" for each in names}
    shape = _WORD.sub(lambda word: b"_" if word[0] in given else word[0], of.text or b"")
    return _last(trait.text or b"") + b" for " + (b"_" if is_any else shape)


def _last(path: bytes) -> bytes:
    """Return a name without the path that leads to it."""
    head, mark, rest = path.partition(b"<")
    return head.rpartition(b"::")[2].strip() + mark + rest


def _derived(attribute: Node, after: Node) -> Iterator[bytes]:
    """Yield the implementations that an attribute derives for a type, as if they were written there."""
    of = after.child_by_field_name("name")
    match = _DERIVED.search(attribute.text or b"")
    if match and of is not None:
        yield from (b"impl " + _last(each.strip()) + b" for " + (of.text or b"") for each in match[1].split(b","))


def _member(node: Node, scope: Key, given: _Given) -> None:
    names = [name for name in _names(node) if name]
    if not given.profile.has_overloads:
        names = [bare for name in names if (bare := name.partition(b"(")[0])]
    serialised = _SERIALISED.findall(node.text or b"") if node.type in _SERIALISED_FIELDS else []
    if node.type in _SERIALISED_FIELDS:
        given.give(scope, *(("option", each) for _, each in _ARGUMENT.findall(node.text or b"")))
    tag = node.child_by_field_name("tag")
    tags = [(each[0].decode(), each[1]) for each in _TAG.findall(tag.text or b"")] if tag is not None else []
    tags += [("json", name) for name in names if not any(kind == "json" for kind, _ in tags)]
    given.give(scope, *(("", name) for name in (*names, *serialised)), *(each for each in tags if each[1] != b"-"))
    given.overload(scope, node, *names)
    if node.type in _VALUED:
        given.give(scope, *_values(node))
    is_nameless = not names and node.type == "field_declaration"  # its members are those of the type around it
    label = b", ".join(names) or node.type.encode()
    inner = scope if is_nameless else given.inside(scope, label, is_open=node.type in _OPEN)
    for child in node.named_children:
        if given.is_wanted(child) and child.type not in _ANNOTATIONS:
            is_body = node.type in _OPEN and (child.type in _CLOSED or child.type in given.profile.blocks)
            (_inside if is_body else _visit)(child, inner, given)


def _names(node: Node) -> Iterator[bytes]:
    for name in _NAME_FIELDS:
        found = node.children_by_field_name(name)
        if found:
            yield from map(_plain, found)
            return
    if node.type == "array_element_initializer" and node.named_child_count < 2:  # noqa: PLR2004 - a value without a key
        return
    first = next((each for each in node.named_children if each.type in _HOLDING), None)
    if first is None:
        yield from _embedded(node)
        return
    held = [each for each in first.named_children if each.type in _HOLDING] if first.type in _DECLARING else []
    held = first.named_children if first.type == "selectors" else held
    yield from map(_plain, held or [first])


def _embedded(node: Node) -> list[bytes]:
    """Return the name of a field of Go that is declared by its type alone."""
    of = node.child_by_field_name("type") if node.type == "field_declaration" else None
    return _WORD.findall((of.text or b"").partition(b"[")[0])[-1:] if of is not None and of.type in _EMBEDDED else []


def names_given_by(node: Node) -> list[bytes]:
    """Return the names that a member, entry or constant defines in its scope; none for other nodes."""
    return [name for name in _names(node) if name] if node.type in _GIVING else []


def _plain(node: Node) -> bytes:
    """Return the name that a node holds; quoted and unquoted names are the same."""
    while True:
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if node.type in ("parenthesized_declarator", "reference_declarator") and node.named_children:
            inner = node.named_children[0]
        is_function = node.type == "function_declarator" and (inner is None or inner.type != "parenthesized_declarator")
        if inner is None or is_function:
            break
        node = inner
    text = b" ".join((node.text or b"").split())
    if node.type == "simple_symbol":  # `:name =>` of Ruby is `name:`
        return text[1:]
    return same_truth(same_spelling(text)) if node.type == "flow_node" else same_spelling(text)


def _values(node: Node) -> Iterator[Name]:
    """Yield the constant value of a member of an enumeration."""
    for name in _VALUES:
        value = node.child_by_field_name(name)
        if value is not None and _LITERAL.match(value.text or b""):
            yield "value", value.text or b""


def _assigned(node: Node) -> Iterator[Name]:
    """Yield the names of a class attribute, those used elsewhere included; in an enumeration also its constant."""
    body = node.parent.parent if node.parent is not None else None
    class_ = body.parent if body is not None else None
    bases = class_.child_by_field_name("superclasses") if class_ is not None else None
    if bases is None and class_ is not None and class_.type == "class_definition":
        yield from (("", each) for each in _SERIALISED.findall(field_text(node, "right")))
    left, right = (node.child_by_field_name(field) for field in ("left", "right"))
    if bases is None:
        return
    if left is not None and node.child_by_field_name("type") is not None:
        yield "", left.text or b""
    value = (right.text or b"") if right is not None else b""
    yield from (("", each) for each in _SERIALISED.findall(value))
    if _ENUMERATION.search(bases.text or b"") and _LITERAL.match(value):
        yield "value", value
