"""Java, Kotlin and Scala: overloads are distinguished by the types of their parameters."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.language import Language, Rule
from commonhold.code.regions.languages.common import BRACKETS, C_TAIL, nests_comments
from commonhold.code.regions.nested import outline_nested
from commonhold.code.regions.node_names import (
    child_of,
    field_name,
    first_of,
    has,
    itself,
    path_name,
    plain_type,
    text_of,
    with_types,
)
from commonhold.kernel.keys import Kind

_COMMENTS: Final = frozenset({"block_comment", "line_comment"})


def _java_types(node: Node) -> Iterator[str]:
    parameters = node.child_by_field_name("parameters")
    for each in parameters.children if parameters is not None else ():
        if each.type == "formal_parameter":
            kind, dimensions = each.child_by_field_name("type"), each.child_by_field_name("dimensions")
            yield (text_of(kind) if kind else "") + (text_of(dimensions) if dimensions else "")
        elif each.type == "spread_parameter":
            kind = next((child for child in each.named_children if child.type != "modifiers"), None)
            yield f"{text_of(kind) if kind else ''}[]"


def _java_method(node: Node) -> str | None:
    name = field_name(node)
    return None if name is None else with_types(name, _java_types(node))


_METHOD: Final = Rule(Kind.FUNCTION, _java_method)
_TYPE: Final = Rule(Kind.CLASS, field_name)

JAVA: Final = Language(
    name="java",
    outline=outline_nested,
    grammar="tree_sitter_java",
    extensions=frozenset({".java"}),
    rules={
        "method_declaration": _METHOD,
        "constructor_declaration": _METHOD,
        "compact_constructor_declaration": Rule(Kind.FUNCTION, field_name),
        "annotation_type_element_declaration": Rule(Kind.FUNCTION, field_name),
        "class_declaration": _TYPE,
        "interface_declaration": _TYPE,
        "enum_declaration": _TYPE,
        "record_declaration": _TYPE,
        "annotation_type_declaration": _TYPE,
    },
    wrapper_kinds=frozenset({"enum_body_declarations"}),
    comment_kinds=_COMMENTS,
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)


def _kotlin_types(node: Node) -> Iterator[str]:
    parameters = first_of(node, "function_value_parameters")
    for each in parameters.children if parameters is not None else ():
        if each.type == "parameter":
            yield text_of(each).partition(":")[2].strip()


def _kotlin_function(node: Node) -> str | None:
    """Name a function by its receiver type, its name and the types of its parameters: `String:pad(Int)`."""
    name = node.child_by_field_name("name")
    before = "".join(f"{plain_type(text_of(each))}:" for each in node.children if _is_before_dot(each))
    return None if name is None else with_types(before + text_of(name), _kotlin_types(node))


def _is_before_dot(node: Node) -> bool:
    return node.next_sibling is not None and node.next_sibling.type == "."


def _kotlin_constructor(node: Node) -> str:
    return with_types("constructor", _kotlin_types(node))


def _kotlin_property(node: Node) -> str | None:
    """Return the name of a property with a getter or setter of its own."""
    declared = first_of(node, "variable_declaration")
    name = first_of(declared, "identifier", "simple_identifier") if declared is not None else None
    return text_of(name) if name is not None and has(node, "getter", "setter") else None


_KOTLIN_BODY: Final = child_of("class_body", "enum_class_body")

KOTLIN: Final = Language(
    name="kotlin",
    outline=outline_nested,
    grammar="tree_sitter_kotlin",
    extensions=frozenset({".kt", ".kts"}),
    rules={
        "function_declaration": Rule(Kind.FUNCTION, _kotlin_function),
        "secondary_constructor": Rule(Kind.FUNCTION, _kotlin_constructor),
        "property_declaration": Rule(Kind.FUNCTION, _kotlin_property),
        "class_declaration": Rule(Kind.CLASS, field_name, _KOTLIN_BODY),
        "object_declaration": Rule(Kind.CLASS, field_name, _KOTLIN_BODY),
        "companion_object": Rule(Kind.CLASS, lambda node: field_name(node) or "Companion", _KOTLIN_BODY),
    },
    beyond=nests_comments,
    comment_kinds=_COMMENTS,
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)


def _scala_function(node: Node) -> str | None:
    name = field_name(node)
    lists = node.children_by_field_name("parameters")
    return None if name is None else with_types(name, _scala_types(lists)) if lists else name


def _scala_types(lists: list[Node]) -> Iterator[str]:
    for parameters in lists:
        for each in parameters.children:
            kind = each.child_by_field_name("type") if each.type == "parameter" else None
            if kind is not None:
                yield text_of(kind)


def _scala_given(node: Node) -> str | None:
    kind = node.child_by_field_name("return_type")
    return field_name(node) or (f"given {plain_type(text_of(kind))}" if kind is not None else None)


def _scala_extension(node: Node) -> str | None:
    return with_types("extension", _scala_types(node.children_by_field_name("parameters")))


def _scala_package(node: Node) -> str | None:
    return path_name(node) if node.child_by_field_name("body") is not None else None


_SCALA_TYPE: Final = Rule(Kind.CLASS, field_name)
_SCALA_FUNCTION: Final = Rule(Kind.FUNCTION, _scala_function)

SCALA: Final = Language(
    name="scala",
    outline=outline_nested,
    grammar="tree_sitter_scala",
    extensions=frozenset({".scala", ".sc"}),
    rules={
        "function_definition": _SCALA_FUNCTION,
        "function_declaration": _SCALA_FUNCTION,
        "class_definition": _SCALA_TYPE,
        "object_definition": Rule(Kind.CLASS, lambda node: f"object {field_name(node)}"),
        "trait_definition": _SCALA_TYPE,
        "enum_definition": _SCALA_TYPE,
        "package_object": Rule(Kind.CLASS, lambda node: f"package object {field_name(node)}"),
        "given_definition": Rule(Kind.CLASS, _scala_given),
        "extension_definition": Rule(Kind.CLASS, _scala_extension, itself),
        "package_clause": Rule(Kind.CLASS, _scala_package),
    },
    lead_kinds=frozenset({"annotation"}),
    open_kinds=frozenset(
        {
            "class_definition",
            "enum_body",
            "enum_definition",
            "extension_definition",
            "function_definition",
            "given_definition",
            "indented_block",
            "object_definition",
            "template_body",
            "trait_definition",
            "with_template_body",
        }
    ),
    closing_kinds=frozenset({"end_marker"}),
    comment_kinds=frozenset({"block_comment", "comment"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)
