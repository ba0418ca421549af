"""JavaScript and TypeScript."""

import re
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.language import Language, Rule
from commonhold.code.regions.languages.common import BRACKETS, C_TAIL
from commonhold.code.regions.nested import outline_nested
from commonhold.code.regions.node_names import colons, field_name, first_of, has, path_name, text_of, unquoted
from commonhold.kernel.keys import Kind

_CALLABLES: Final = ("arrow_function", "function_expression", "generator_function")


def _member_name(node: Node) -> str | None:
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    return None if name is None else unquoted(text_of(name))


def _exported_name(node: Node) -> str | None:
    """Return the name of a class or function that is the value of `export default`."""
    is_exported = node.parent is not None and node.parent.type == "export_statement"
    return field_name(node) or ("default" if is_exported else None)


def _field_name(node: Node) -> str | None:
    """Return the name of a field that holds a function."""
    return _member_name(node) if _is_callable(node.child_by_field_name("value")) else None


def _declared_name(node: Node) -> str | None:
    """Return the name of the first variable of a declaration, if it is a function."""
    declarator = first_of(node, "variable_declarator")
    if declarator is None or not _is_callable(declarator.child_by_field_name("value")):
        return None
    return field_name(declarator)


def _assigned_name(node: Node) -> str | None:
    """Return the name of a property that a function is assigned to: `exports.f` is `exports:f`."""
    left = node.child_by_field_name("left")
    if left is None or left.type not in ("identifier", "member_expression"):
        return None
    return colons(text_of(left)) if _is_callable(node.child_by_field_name("right")) else None


def _is_callable(value: Node | None) -> bool:
    """Whether a value is a function, or a call that takes a function with a body: `memo(() => {})`."""
    if value is None or value.type in _CALLABLES:
        return value is not None
    arguments = value.child_by_field_name("arguments") if value.type == "call_expression" else None
    given = first_of(arguments, *_CALLABLES) if arguments is not None else None
    body = given.child_by_field_name("body") if given is not None else None
    return body is not None and body.type == "statement_block"


def _class_of(node: Node) -> Node | None:
    declarator = first_of(node, "variable_declarator")
    value = (declarator or node).child_by_field_name("value" if declarator else "right")
    return value if value is not None and value.type == "class" else None


def _declared_class_name(node: Node) -> str | None:
    declarator = first_of(node, "variable_declarator")
    return field_name(declarator) if declarator is not None and _class_of(node) is not None else None


def _assigned_class_name(node: Node) -> str | None:
    left = node.child_by_field_name("left")
    return colons(text_of(left)) if left is not None and _class_of(node) is not None else None


def _class_body(node: Node) -> Node | None:
    value = _class_of(node)
    return None if value is None else value.child_by_field_name("body")


def _module_name(node: Node) -> str | None:
    name = path_name(node)
    return None if name is None or not has(node, "statement_block") else unquoted(name)


_FUNCTION: Final = Rule(Kind.FUNCTION, field_name)
_MEMBER: Final = Rule(Kind.FUNCTION, _member_name)
_FIELD: Final = Rule(Kind.FUNCTION, _field_name)
_VALUE: Final = Rule(Kind.FUNCTION, _exported_name)
_CLASS: Final = Rule(Kind.CLASS, _exported_name)
_VARIABLE: Final = Rule(Kind.CLASS, _declared_class_name, _class_body, otherwise=Rule(Kind.FUNCTION, _declared_name))
_MODULE: Final = Rule(Kind.CLASS, _module_name)

JAVASCRIPT: Final = Language(
    name="javascript",
    outline=outline_nested,
    grammar="tree_sitter_javascript",
    extensions=frozenset({".js", ".mjs", ".cjs", ".jsx"}),
    interpreters=re.compile(rb"(?:node|nodejs|deno|bun)[0-9.]*"),
    rules={
        "function_declaration": _FUNCTION,
        "generator_function_declaration": _FUNCTION,
        "class_declaration": _CLASS,
        "class": _CLASS,
        "arrow_function": _VALUE,
        "function_expression": _VALUE,
        "generator_function": _VALUE,
        "method_definition": _MEMBER,
        "field_definition": _FIELD,
        "lexical_declaration": _VARIABLE,
        "variable_declaration": _VARIABLE,
        "assignment_expression": Rule(
            Kind.CLASS, _assigned_class_name, _class_body, otherwise=Rule(Kind.FUNCTION, _assigned_name)
        ),
    },
    wrapper_kinds=frozenset(
        {"catch_clause", "else_clause", "finally_clause", "if_statement", "statement_block", "try_statement"}
    ),
    shell_kinds=frozenset({"ambient_declaration", "export_statement", "expression_statement"}),
    lead_kinds=frozenset({"decorator"}),
    comment_kinds=frozenset({"comment", "html_comment"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)

TYPESCRIPT: Final = replace(
    JAVASCRIPT,
    name="typescript",
    grammar="tree_sitter_typescript",
    grammar_function="language_typescript",
    extensions=frozenset({".ts", ".mts", ".cts"}),
    interpreters=re.compile(rb"(?:ts-node|tsx|ts-node-esm)"),
    rules={
        **JAVASCRIPT.rules,
        "abstract_class_declaration": _CLASS,
        "abstract_method_signature": _MEMBER,
        "method_signature": _MEMBER,
        "function_signature": _FUNCTION,
        "public_field_definition": _FIELD,
        "interface_declaration": Rule(Kind.CLASS, field_name),
        "enum_declaration": Rule(Kind.CLASS, field_name),
        "type_alias_declaration": Rule(Kind.CLASS, field_name, lambda node: node.child_by_field_name("value")),
        "internal_module": _MODULE,
        "module": _MODULE,
    },
)

TSX: Final = replace(
    TYPESCRIPT, name="tsx", grammar_function="language_tsx", extensions=frozenset({".tsx"}), interpreters=None
)
