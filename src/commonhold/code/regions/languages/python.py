"""Python."""

import re
import unicodedata
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.indented import outline_indented
from commonhold.code.regions.language import Language, Layout, Rule
from commonhold.code.regions.node_names import text_of
from commonhold.kernel.keys import Kind


def _name(node: Node) -> str:
    """Return the name as Python compares it."""
    name = node.child_by_field_name("name") or node
    text = text_of(name)
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


_FUNCTION: Final = Rule(Kind.FUNCTION, _name)

PYTHON: Final = Language(
    name="python",
    outline=outline_indented,
    grammar="tree_sitter_python",
    extensions=frozenset({".py", ".pyi", ".pyw"}),
    interpreters=re.compile(rb"(?:python|pypy)[0-9.]*"),
    rules={
        "function_definition": _FUNCTION,
        "class_definition": Rule(Kind.CLASS, _name),
        "decorated_definition": _FUNCTION,
    },
    wrapper_kinds=frozenset(
        {
            "block",
            "case_clause",
            "elif_clause",
            "else_clause",
            "except_clause",
            "except_group_clause",
            "finally_clause",
            "for_statement",
            "if_statement",
            "match_statement",
            "try_statement",
            "while_statement",
            "with_statement",
        }
    ),
    comment_mark=b"#",
    layout=Layout(
        top=2,
        opens=re.compile(
            rb"""\A(?:[^#"':]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|:(?!\s*(?:#|\Z)))*+:\s*(?:#.*)?\Z""", re.DOTALL
        ),
        closes=re.compile(rb"(?!)"),
    ),
    statement_suffixes=("_statement", "_definition"),
    declared_encoding=re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"),
    text_kind="string_content",
)
