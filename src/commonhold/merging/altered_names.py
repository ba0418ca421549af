"""Names that one side gives another meaning without rewriting the code of the other side that names them.

A member loses its visibility by a word above it, a type its traits by another block, a function its declaration ahead
of its users. Each is a fact about a name. If one side takes it away, new code of the other that writes the name counts
on it. The name of a member begins with a dot: only code that reaches it through an object counts on it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.merging.altered_declarations import OF_KNOWN, Fact, declared_facts, new_facts
from commonhold.merging.changed_rows import WORD, Rows, changed_rows, rows_with
from commonhold.merging.generated_members import no_longer_made
from commonhold.merging.given_names import names_given_by
from commonhold.merging.layout import Element
from commonhold.merging.profile import Profile
from commonhold.merging.prose import lines_of
from commonhold.merging.syntax import innermost, root_of

_FIELDS: Final = frozenset(
    {"field_declaration", "property_declaration", "property_signature", "public_field_definition"}
)
_NAMED_BY: Final = frozenset({"property_element", "variable_declaration"})
_VISIBILITY: Final = re.compile(rb"^\s*(private|protected|public)\b\s*:?\s*$")
_DERIVED: Final = re.compile(rb"\bderive\(([^)]*)\)")
_SYMBOL: Final = re.compile(rb":(\w+)")
_SLOT: Final = re.compile(rb"[\"'](\w+)[\"']")
_WRAPPERS: Final = re.compile(
    r"\A(?:preproc_(?:if|el)\w*|declaration_list|namespace_definition|linkage_specification)\Z"
)
# Code above these cannot use their names; it can use those of all other items.
_DECLARING: Final = frozenset(
    {
        "declaration",
        "function_definition",
        "macro_definition",
        "preproc_def",
        "preproc_function_def",
        "type_definition",
    }
)


def altered_names(before: Element, after: Element) -> Iterator[tuple[bytes, int, str]]:
    """Yield the names of which something no longer holds, or newly does, each with a row and the change in words."""
    if before.text == after.text or not (before.profile.calls or before.profile.method_calls):
        return
    gone, come = changed_rows(before.source, after.source)
    were = [(fact, node) for node in gone.nodes(before.node) for fact in _facts_of(node, before.profile)]
    if were:
        names = {fact[0].lstrip(b".") for fact, _ in were}
        rows = rows_with(after.source, names)
        held = {fact for node in rows.nodes(after.node) for fact in _facts_of(node, after.profile)}
        yield from ((fact[0], node.start_point.row, fact[1]) for fact, node in were if fact not in held)
    anew = [(fact, node) for node in come.nodes(after.node) for fact in _new_facts_of(node, after.profile)]
    if anew:
        rows = rows_with(before.source, {fact[0].lstrip(b".") for fact, _ in anew})
        known = {fact for node in rows.nodes(before.node) for fact in _new_facts_of(node, before.profile)}
        new = ((fact, node) for fact, node in anew if fact not in known)
        yield from (
            (fact[0], node.start_point.row, fact[1])
            for fact, node in new
            if fact[1] not in OF_KNOWN or rows_with(before.source, {fact[0]}).rows
        )
    yield from _hidden(before, after, gone, come)
    yield from ((b"." + name, row, "no longer generates") for name, row in no_longer_made(before, after))
    yield from _declared_later(before, after)


def _facts_of(node: Node, profile: Profile) -> Iterator[Fact]:
    told = _BY_KIND.get(node.type)
    if told is not None:
        yield from told(node, profile)
    yield from declared_facts(node)


def _field(node: Node, _profile: Profile) -> Iterator[Fact]:
    """Yield how a field is declared: its type and the words before it, not its value."""
    if embedded := names_given_by(node) if node.child_by_field_name("name") is None else []:
        yield from _embedded(node, embedded)
    value = node.child_by_field_name("value") or node.child_by_field_name("default_value")
    text = (node.text or b"")[: value.start_byte - node.start_byte] if value is not None else node.text or b""
    declared = b" ".join(text.partition(b"=")[0].rstrip(b"; \n\t").split())
    names = node.children_by_field_name("name") or node.children_by_field_name("declarator")
    parts = names or [each for each in node.named_children if each.type in _NAMED_BY]
    in_parts = [each for part in parts for each in part.named_children if each.type == "variable_declarator"]
    for name in in_parts or parts:  # in C# the type stands beside the names
        words = WORD.findall(innermost(name).text or b"")
        if name.type != "function_declarator" and words:
            yield b"." + words[0], "changed how to declare", declared


def _embedded(node: Node, names: list[bytes]) -> Iterator[Fact]:
    """Yield that a structure of Go has the methods of another, which it embeds."""
    around: Node | None = node
    while around is not None and around.type != "type_spec":
        around = around.parent
    of = around.child_by_field_name("name") if around is not None else None
    if of is not None:
        yield from ((of.text or b"", "took away the methods of a part of", name) for name in names)


def _implementation(node: Node, _profile: Profile) -> Iterator[Fact]:
    trait, of = node.child_by_field_name("trait"), node.child_by_field_name("type")
    if trait is not None and of is not None:
        yield from _implemented(of.text or b"", trait.text or b"")


def _derivation(node: Node, _profile: Profile) -> Iterator[Fact]:
    of = node.next_named_sibling
    while of is not None and of.type == node.type:
        of = of.next_named_sibling
    name = of.child_by_field_name("name") if of is not None else None
    for match in _DERIVED.finditer(node.text or b"") if name is not None else ():
        for trait in match[1].split(b","):
            yield from _implemented((name.text or b"") if name is not None else b"", trait.strip())


def _implemented(of: bytes, trait: bytes) -> Iterator[Fact]:
    """Yield that a type implements a trait, by whatever path or block."""
    head, mark, rest = trait.partition(b"<")
    named = WORD.findall(of.partition(b"<")[0])
    if named and trait:
        yield named[-1], "no longer implements a trait for", head.rpartition(b"::")[2].strip() + mark + rest


def _receiver(node: Node, _profile: Profile) -> Iterator[Fact]:
    """Yield that a method of Go has a value as its receiver, so that values and pointers have it."""
    receiver, name = node.child_by_field_name("receiver"), node.child_by_field_name("name")
    text = (receiver.text or b"") if receiver is not None else b""
    of = WORD.findall(text)
    if name is not None and of and b"*" not in text:
        yield b"." + (name.text or b""), "changed the receiver of", of[-1]
        yield of[-1], "changed the receiver of a method of", name.text or b""


def _decorated(node: Node, profile: Profile) -> Iterator[Fact]:
    """Yield a decorator of a definition that is not local to a function."""
    wrapper = node.parent
    definition = wrapper.child_by_field_name(profile.wrapped) if wrapper is not None else None
    around = wrapper.parent if wrapper is not None else None
    while around is not None and around.type not in profile.functions:
        around = around.parent
    if definition is not None and around is None:
        is_member = wrapper is not None and wrapper.parent is not None and wrapper.parent.type == "block"
        name = _declared_name(definition)
        yield (b"." if is_member else b"") + name, "changed a decorator of", node.text or b""
        class_ = wrapper.parent.parent if wrapper is not None and wrapper.parent is not None and is_member else None
        if class_ is not None and b"abstract" in (node.text or b""):
            yield _declared_name(class_), "changed whether it may make objects of", name


def _accessors(node: Node, _profile: Profile) -> Iterator[Fact]:
    """Yield the names that `attr_reader` and its like give in Ruby."""
    if (node.text or b"").startswith(b"attr_"):
        yield from ((b"." + name, "took away the accessor", b"") for name in _SYMBOL.findall(node.text or b""))


def _assigned_function(node: Node, profile: Profile) -> Iterator[Fact]:
    """Yield how a function that is assigned to a member is called; in Python, the slots of a class."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    if left.text == b"__slots__":
        yield from ((b"." + name, "took away the slot of", b"") for name in _SLOT.findall(right.text or b""))
    parameters = right.child_by_field_name("parameters")
    if left.type in profile.members and parameters is not None:
        yield b"." + WORD.findall(left.text or b"")[-1], "changed how to call", parameters.text or b""


def _bounds(node: Node, profile: Profile) -> Iterator[Fact]:
    """Yield the variants of a union of types: to its name, and to the functions whose heads name it."""
    of, name = node.child_by_field_name("type") or node.child_by_field_name("value"), node.child_by_field_name("name")
    if of is None or name is None or b"|" not in (of.text or b"") or of.type not in {"interface_type", "union_type"}:
        return
    named = re.compile(rb"\b%s\b" % re.escape(name.text or b""))
    functions, stack = [name.text or b""], [root_of(node)]
    while stack:
        each = stack.pop()
        if each.type not in profile.functions or each.type in profile.classes:
            stack += each.named_children
        elif named.search((each.text or b"").partition(b"{")[0]):
            functions.append(_declared_name(each))
    for variant in (of.text or b"").removeprefix(b"interface").strip(b" {}\n\t").split(b"|"):
        yield from ((each, "narrowed the type of values for", variant.strip()) for each in functions if each)


def _overload(node: Node, _profile: Profile) -> Iterator[Fact]:
    """Yield one of the ways to call a function of TypeScript, which its body does not show."""
    yield _declared_name(node), "took away an overload of", (node.text or b"").rstrip(b";")


_BY_KIND: Final[Mapping[str, Callable[[Node, Profile], Iterator[Fact]]]] = {
    **dict.fromkeys(_FIELDS, _field),
    "assignment": _assigned_function,
    "assignment_expression": _assigned_function,
    "attribute_item": _derivation,
    "call": _accessors,
    "decorator": _decorated,
    "function_signature": _overload,
    "impl_item": _implementation,
    "method_declaration": _receiver,
    "type_alias_declaration": _bounds,
    "type_spec": _bounds,
}


def _new_facts_of(node: Node, profile: Profile) -> Iterator[Fact]:
    """Yield facts that change the meaning of a name by being there: a function that calls now choose before another."""
    told = _NEW_BY_KIND.get(node.type)
    if told is not None:
        yield from told(node, profile)
    yield from new_facts(node)


def _template(node: Node, _profile: Profile) -> Iterator[Fact]:
    yield _declared_name(node.named_children[-1]), "defined another", node.text or b""


def _constructor(node: Node, _profile: Profile) -> Iterator[Fact]:
    """Yield that a class of C++ has a constructor, which makes its objects in another way."""
    around = node.parent
    of = around.parent.child_by_field_name("name") if around is not None and around.parent is not None else None
    is_member = around is not None and around.type == "field_declaration_list"
    if is_member and of is not None and _declared_name(node) == of.text:
        kind = b"deleted" if b"delete" in (node.text or b"") else b"written"
        yield of.text or b"", "changed how to make", kind


def _inherent(node: Node, _profile: Profile) -> Iterator[Fact]:
    """Yield a method of a type in Rust that calls choose before that of a trait."""
    around = node.parent.parent if node.parent is not None else None
    name = _declared_name(node)
    if around is not None and around.type == "impl_item" and _is_of_a_trait(around, name):
        yield b"." + name, "defined without a trait", (around.child_by_field_name("type") or node).text or b""


def _promoted(node: Node, _profile: Profile) -> Iterator[Fact]:
    receiver, name = node.child_by_field_name("receiver"), _declared_name(node)
    if receiver is not None and _is_promoted(node, name):
        yield b"." + name, "defined for one more type", receiver.text or b""


def _undefined(node: Node, _profile: Profile) -> Iterator[Fact]:
    text = node.text or b""
    if text.startswith(b"#undef"):
        yield text.split()[-1], "took away the macro", b""


def _exported_anew(node: Node, _profile: Profile) -> Iterator[Fact]:
    if (node.text or b"").startswith(b"module.exports ="):
        yield b"exports", "put another object in place of", b""


_NEW_BY_KIND: Final[Mapping[str, Callable[[Node, Profile], Iterator[Fact]]]] = {
    "assignment_expression": _exported_anew,
    "declaration": _constructor,
    "decorator": _decorated,
    "function_definition": _constructor,
    "function_item": _inherent,
    "method_declaration": _promoted,
    "preproc_call": _undefined,
    "template_declaration": _template,
}


def _declared_name(node: Node) -> bytes:
    named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    words = WORD.findall(innermost(named).text or b"") if named is not None else []
    return words[-1] if words else b""


def _is_of_a_trait(block: Node, name: bytes) -> bool:
    """Whether a block of a type has no trait, but a trait of the file has a function of that name."""
    traits = (each for each in (block.parent or block).named_children if each.type == "trait_item")
    is_named = re.compile(rb"\bfn\s+%s\b" % re.escape(name))
    return block.child_by_field_name("trait") is None and any(is_named.search(each.text or b"") for each in traits)


def _is_promoted(method: Node, name: bytes) -> bool:
    """Whether a method of Go may hide, or clash with, one of an embedded type."""
    source = method.parent.text or b"" if method.parent is not None else b""
    of = WORD.findall((method.child_by_field_name("receiver") or method).text or b"")[-1:]
    several = len(re.findall(rb"^func\s*\([^)]*\)\s*%s\b" % re.escape(name), source, re.MULTILINE)) > 1
    embedding = re.compile(rb"^\s+\*?%s\s*$|^type\s+%s\s+struct\s*\{[^}]*^\s+\*?\w+\s*$" % (of[0], of[0]), re.MULTILINE)
    return several and embedding.search(source) is not None


def _hidden(before: Element, after: Element, gone: Rows, come: Rows) -> Iterator[tuple[bytes, int, str]]:
    """Yield the members that are no longer public: a word above them gives their visibility."""
    lines = [(lines_of(side.source), rows) for side, rows in ((before, gone), (after, come))]
    if not any(_VISIBILITY.match(text[row]) for text, rows in lines for row in rows.rows):
        return
    old, new = _public(before), _public(after)
    yield from ((b"." + name[-1], row, "no longer offers") for name, row in old.items() if name not in new)


def _public(element: Element) -> dict[tuple[bytes, ...], int]:
    """Return the members of classes in which a word gives the visibility of those below it, if that is public."""
    found: dict[tuple[bytes, ...], int] = {}
    stack = [element.node]
    while stack:
        node = stack.pop()
        stack += node.named_children
        if node.type not in {"body_statement", "field_declaration_list"} or node.parent is None:
            continue
        is_public = not (node.parent.text or b"").startswith(b"class") or node.type == "body_statement"
        for child in node.named_children:
            if child.type == "access_specifier" or _VISIBILITY.match(child.text or b""):
                is_public = (child.text or b"").strip(b" :") == b"public"
            elif is_public and (name := _declared_name(child)):
                of = node.parent.child_by_field_name("name")
                found[(of.text or b"") if of is not None else b"", name] = child.start_point.row
    return found


def _declared_later(before: Element, after: Element) -> Iterator[tuple[bytes, int, str]]:
    """Yield the names that stand farther down: in some languages code above can no longer use them."""
    if not before.profile.node_effects.declared_first:
        return
    old, new = _first_rows(before), _first_rows(after)
    places = {name: index for index, name in enumerate(name for name in old if name in new)}
    last = -1
    for name in (name for name in new if name in places):
        row, kind = old[name]
        if places[name] < last and kind in _DECLARING:
            yield name, row, "moved something above the declaration of"
        last = max(last, places[name])


def _first_rows(element: Element) -> dict[bytes, tuple[int, str]]:
    """Return the rows on which names are declared for the first time, in this order, with the kinds of their nodes."""
    found: dict[bytes, tuple[int, str]] = {}
    stack = [element.node]
    while stack:
        node = stack.pop()
        if _WRAPPERS.match(node.type) or node is element.node:
            stack += reversed(node.named_children)
        elif (node.type in _DECLARING or node.type.endswith("_item")) and (name := _declared_name(node)):
            found.setdefault(name, (node.start_point.row, node.type))
    return found
