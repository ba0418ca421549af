"""Declarations that change what their names mean, or who may use them, without a change of what uses them.

Like all facts about names (`altered_names`) these hold for the other side's new code that writes the name: a type of
functions, an enumerator that stands for a count, a function that is compiled only under a condition.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.merging.syntax import field_text, root_of

Fact = tuple[bytes, str, bytes]
"""A name, a word for the kind of the statement about it, and the statement. The name of a member begins with a dot."""

# Facts that change something only about names that were there before.
OF_KNOWN: Final = frozenset({"keeps to its file", "put under a condition"})
# Facts that matter to code in other files only.
ELSEWHERE: Final = frozenset({"keeps to its file", "no longer exports"})
_WORD: Final = re.compile(rb"\w+")
_OPTION: Final = re.compile(rb"\.add_(?:argument|option)\(")
_DESTINATION: Final = re.compile(rb"\bdest\s*=\s*[\"'](\w+)")
_LONG: Final = re.compile(rb"[\"']--([\w-]+)[\"']")
_SYMBOL: Final = re.compile(rb":(\w+[?!]?)")
_RESTRICTING: Final = re.compile(rb"(?:private|protected|private_class_method|private_constant)\b")
_COUNTING: Final = re.compile(
    rb"(?:\A|_)(?:count|end|last|max|num|size|total)(?:_|\Z)|(?:Count|Last|Max|Num)\Z", re.IGNORECASE
)
_CONDITION: Final = re.compile(rb"#\[cfg\((.*)\)\]", re.DOTALL)
_GUARD: Final = re.compile(rb"#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+\1\b")
_DECLARING: Final = frozenset(
    {"declaration", "function_definition", "preproc_def", "preproc_function_def", "type_definition"}
)


def declared_facts(node: Node) -> Iterator[Fact]:
    """Yield the facts that code may count on, as long as they hold."""
    told = _HELD.get(node.type)
    return told(node) if told is not None else iter(())


def new_facts(node: Node) -> Iterator[Fact]:
    """Yield the facts that change the meaning of a name by being there."""
    told = _NEW.get(node.type)
    return told(node) if told is not None else iter(())


def _alias(node: Node) -> Iterator[Fact]:
    """Yield the meanings of a type of C; the members of a structure have names of their own."""
    text = node.text or b""
    declared = node.child_by_field_name("declarator")
    if declared is not None and b"{" not in text:
        yield _innermost(declared), "changed the meaning of the type", b" ".join(text.split())


def _delegate(node: Node) -> Iterator[Fact]:
    name = node.child_by_field_name("name")
    if name is not None:
        yield name.text or b"", "changed how to call", b" ".join((node.text or b"").split())


def _enumerators(node: Node) -> Iterator[Fact]:
    """Yield the enumerators that are known without their type."""
    body = node.child_by_field_name("body")
    if body is None or any(each.type in {"class", "struct"} for each in node.children):
        return
    names = (each.child_by_field_name("name") for each in body.named_children)
    yield from ((name.text or b"", "put behind its type", b"") for name in names if name is not None)


def _declared_method(node: Node) -> Iterator[Fact]:
    """Yield the parameters that each call of a method of C++ must give, as its class declares it."""
    declared = node.child_by_field_name("declarator")
    while declared is not None and declared.type in {"pointer_declarator", "reference_declarator"}:
        declared = declared.named_children[-1] if declared.named_children else None
    if declared is None or declared.type != "function_declarator":
        return
    parameters = declared.child_by_field_name("parameters")
    given = parameters.named_children if parameters is not None else ()
    needed = (b" ".join((each.text or b"").split()) for each in given if each.type == "parameter_declaration")
    yield _innermost(declared), "changed how to call", b", ".join(needed)


def _named_type(node: Node) -> Iterator[Fact]:
    """Yield the meaning of another name for a type; a structure and an interface have members of their own."""
    name = node.child_by_field_name("name")
    meant = node.child_by_field_name("type") or node.child_by_field_name("value")
    if name is not None and meant is not None and not meant.type.startswith(("struct", "interface")):
        yield name.text or b"", "changed the meaning of the type", b" ".join((meant.text or b"").split())


def _nested(node: Node) -> Iterator[Fact]:
    """Yield the members of a class of Java that a class inside it reaches no more, because it is static."""
    outer = node.parent
    marks = next((each.text or b"" for each in node.named_children if each.type == "modifiers"), b"")
    if outer is None or outer.type != "class_body" or not re.search(rb"\bstatic\b", marks):
        return
    for member in outer.named_children:
        if member.type in {"field_declaration", "method_declaration"} and b"static" not in (member.text or b""):
            yield _named(member), "put out of reach of a nested class", field_text(node, "name")


def _counting(node: Node) -> Iterator[Fact]:
    """Yield the number of an enumerator whose name says that it counts the others."""
    enumerators = [each for each in node.named_children if each.type == "enumerator"]
    for at, each in enumerate(enumerators):
        name = each.child_by_field_name("name")
        if name is not None and _COUNTING.search(name.text or b"") and each.child_by_field_name("value") is None:
            yield name.text or b"", "changed the value of", b"%d" % at


def _destructor(node: Node) -> Iterator[Fact]:
    text = node.text or b""
    if text.startswith(b"virtual") and b"~" in text:
        of = _WORD.findall(text.partition(b"~")[2])[:1]
        yield from ((name, "no longer can delete heirs through", b"") for name in of)


def _converting(node: Node) -> Iterator[Fact]:
    """Yield the names of C++ that take a value of a class, to which a constructor converts other values by itself."""
    class_ = node.parent.parent if node.parent is not None and node.parent.type == "field_declaration_list" else None
    of = class_.child_by_field_name("name") if class_ is not None else None
    is_explicit = any(each.type.startswith("explicit") for each in node.named_children)
    if of is None or of.text is None or is_explicit or _named(node).partition(b"(")[0] != of.text:
        return
    declared = node.child_by_field_name("declarator")
    parameters = declared.child_by_field_name("parameters") if declared is not None else None
    text = b" ".join(((parameters.text if parameters is not None else None) or b"").split())
    if of.text in _WORD.findall(text) or text == b"()":  # a copy, or no other value to convert
        return
    yield from ((name, "no longer converts other values for", text) for name in {of.text, *_taking(of.text, node)})


def _taking(type_: bytes, node: Node) -> Iterator[bytes]:
    """Yield the functions with a parameter of a type, the functions that return it, and its variables and fields."""
    stack = [root_of(node)]
    while stack:
        each = stack.pop()
        stack += each.named_children
        if (given := each.child_by_field_name("type")) is None or given.text != type_:
            continue
        if each.type in {"optional_parameter_declaration", "parameter_declaration"}:
            function = each.parent.parent if each.parent is not None else None
            name = field_text(function, "declarator") if function is not None else b""
            yield from _WORD.findall(name)[-1:]
        elif declared := _named(each):
            yield declared


def _called(node: Node) -> Iterator[Fact]:
    """Yield the attribute that an option of a command line in Python becomes."""
    text = node.text or b""
    if _OPTION.search(text.partition(b"(")[0] + b"("):
        given = _DESTINATION.search(text) or _LONG.search(text)
        if given is not None:
            yield b"." + given[1].replace(b"-", b"_"), "took away the option", b""


def _exported(node: Node) -> Iterator[Fact]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.text != b"module.exports" or right.type != "object":
        return
    for each in right.named_children:
        name = each.child_by_field_name("key") or each
        yield name.text or b"", "no longer exports", b""


def _conditional(node: Node) -> Iterator[Fact]:
    """Yield that an item of Rust is compiled under a condition only."""
    condition = _CONDITION.match(node.text or b"")
    of = node.next_named_sibling
    while of is not None and of.type == node.type:
        of = of.next_named_sibling
    name = of.child_by_field_name("name") if of is not None else None
    if condition is not None and name is not None:
        yield name.text or b"", "put under a condition", condition[1]


def _preprocessed(node: Node) -> Iterator[Fact]:
    """Yield what C compiles under a condition only, unless that is the guard of a header."""
    text = node.text or b""
    if not _GUARD.match(text):
        condition = text.partition(b"\n")[0].strip()
        declared = (each for each in node.named_children if each.type in _DECLARING)
        for name in map(_named, declared):
            if name:
                yield name, "put under a condition", condition


def _macro(node: Node) -> Iterator[Fact]:
    name = node.child_by_field_name("name")
    if name is not None and name.text:
        yield name.text, "made a macro of the name", b""


def _restricted(node: Node) -> Iterator[Fact]:
    """Yield the methods of Ruby that a call makes private."""
    text = node.text or b""
    if _RESTRICTING.match(text) and b" def " not in text:
        yield from ((b"." + name, "no longer offers", b"") for name in _SYMBOL.findall(text))


def _element(node: Node) -> Iterator[Fact]:
    """Yield that an annotation of Java wants a value."""
    body = node.parent
    of = body.parent.child_by_field_name("name") if body is not None and body.parent is not None else None
    if of is not None and node.child_by_field_name("value") is None:
        yield of.text or b"", "demands another value of", node.text or b""


def _linked(node: Node) -> Iterator[Fact]:
    """Yield that a variable or function of C is known in its file only."""
    is_static = any(each.type == "storage_class_specifier" and each.text == b"static" for each in node.named_children)
    is_outer = node.parent is not None and node.parent.type in {"translation_unit", "preproc_ifdef", "preproc_if"}
    if is_static and is_outer and (name := _named(node)):
        yield name, "keeps to its file", b""


def _named(node: Node) -> bytes:
    found = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    if found is not None and found.type == "variable_declarator":
        found = found.child_by_field_name("name")
    return _innermost(found) if found is not None else b""


def _innermost(declarator: Node) -> bytes:
    while True:
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type in {"parenthesized_declarator", "reference_declarator"}:
            inner = next(iter(declarator.named_children), None)
        if inner is None:
            return declarator.text or b""
        declarator = inner


def _either(*told: Callable[[Node], Iterator[Fact]]) -> Callable[[Node], Iterator[Fact]]:
    return lambda node: (fact for each in told for fact in each(node))


_HELD: Final[Mapping[str, Callable[[Node], Iterator[Fact]]]] = {
    "assignment_expression": _exported,
    "call": _called,
    "declaration": _either(_destructor, _converting),
    "delegate_declaration": _delegate,
    "alias_declaration": _named_type,
    "enum_specifier": _enumerators,
    "field_declaration": _declared_method,
    "function_definition": _either(_destructor, _converting),
    "type_alias": _named_type,
    "type_definition": _alias,
    "type_item": _named_type,
    "type_spec": _named_type,
}
_NEW: Final[Mapping[str, Callable[[Node], Iterator[Fact]]]] = {
    "annotation_type_element_declaration": _element,
    "attribute_item": _conditional,
    "class_declaration": _nested,
    "call": _restricted,
    "declaration": _linked,
    "enumerator_list": _counting,
    "function_definition": _linked,
    "preproc_def": _macro,
    "preproc_function_def": _macro,
    "preproc_if": _preprocessed,
    "preproc_ifdef": _preprocessed,
}
