"""JSON, YAML and TOML: their keys; the cells of notebooks; the statements of SQL."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.cells import outline_cells
from commonhold.code.regions.language import Language, Layout, Rule
from commonhold.code.regions.languages.common import BRACKETS, C_TAIL, HASH_TAIL
from commonhold.code.regions.nested import outline_nested
from commonhold.code.regions.node_names import first_of, has, itself, json_text, text_of, unquoted
from commonhold.code.regions.statements import outline_statements
from commonhold.kernel.keys import Kind

_KEY_DEPTH: Final = 3
_NEVER: Final = re.compile(rb"(?!)")


def _json_name(node: Node) -> str | None:
    key = node.child_by_field_name("key")
    return None if key is None else json_text(key)


def _json_object(node: Node) -> Node | None:
    value = node.child_by_field_name("value")
    return value if value is not None and value.type == "object" and has(value, "pair") else None


def _json_section(node: Node) -> str | None:
    return _json_name(node) if _json_object(node) is not None else None


JSON: Final = Language(
    name="json",
    outline=outline_nested,
    grammar="tree_sitter_json",
    extensions=frozenset({".json", ".geojson", ".webmanifest", ".har"}),
    filenames=frozenset({"composer.lock", "Pipfile.lock", "flake.lock", ".watchmanconfig"}),
    rules={"pair": Rule(Kind.SECTION, _json_section, _json_object, Rule(Kind.ENTRY, _json_name))},
    wrapper_kinds=frozenset({"object"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    file_body="object",
    max_depth=_KEY_DEPTH,
    comment_mark=b"//",
    layout=Layout(top=0, nested=0, separator=b","),
)

# JSON with comments, as many tools accept it.
JSONC: Final = replace(
    JSON,
    name="jsonc",
    extensions=frozenset({".jsonc", ".json5", ".code-workspace", ".code-snippets"}),
    filenames=frozenset({"tsconfig.json", "jsconfig.json", ".eslintrc", ".eslintrc.json", ".babelrc", ".swcrc"}),
)


NOTEBOOK: Final = replace(
    JSON, name="notebook", outline=outline_cells, extensions=frozenset({".ipynb"}), filenames=frozenset()
)


def _yaml_name(node: Node) -> str | None:
    key = node.child_by_field_name("key")
    return None if key is None else unquoted(text_of(key))


def _yaml_mapping(node: Node) -> Node | None:
    value = node.child_by_field_name("value")
    return first_of(value, "block_mapping") if value is not None and value.type == "block_node" else None


def _yaml_section(node: Node) -> str | None:
    return _yaml_name(node) if _yaml_mapping(node) is not None else None


def _yaml_document(node: Node) -> str | None:
    """Name a document of a stream of several, if a line of its own begins it; else it is just the file."""
    return "document" if has(node, "---") and _has_sibling(node) else None


def _has_sibling(node: Node) -> bool:
    before, after = node.prev_named_sibling, node.next_named_sibling
    while before is not None and before.type != "document":
        before = before.prev_named_sibling
    while before is None and after is not None and after.type != "document":
        after = after.next_named_sibling
    return before is not None or after is not None


YAML: Final = Language(
    name="yaml",
    outline=outline_nested,
    grammar="tree_sitter_yaml",
    extensions=frozenset({".yml", ".yaml", ".cff"}),
    filenames=frozenset({".clang-format", ".clang-tidy", ".clangd", ".prettierrc", ".yamllint"}),
    rules={
        "document": Rule(Kind.SECTION, _yaml_document, itself),
        "block_mapping_pair": Rule(Kind.SECTION, _yaml_section, _yaml_mapping, Rule(Kind.ENTRY, _yaml_name)),
    },
    wrapper_kinds=frozenset({"block_mapping", "block_node", "document"}),
    open_kinds=frozenset(
        {
            "block_mapping",
            "block_mapping_pair",
            "block_node",
            "block_sequence",
            "block_sequence_item",
            "document",
        }
    ),
    closers=frozenset(),
    tail=HASH_TAIL,
    max_depth=_KEY_DEPTH + 1,
    # The scanner of this grammar keeps the open blocks in a buffer, and does not check its bounds.
    beyond=re.compile(rb"^[ \t?:-]{100}", re.MULTILINE).search,
    layout=Layout(top=0, nested=0, opens=re.compile(rb":\s*(?:#.*)?\Z"), closes=_NEVER),
)


def _toml_name(node: Node) -> str | None:
    key = first_of(node, "bare_key", "dotted_key", "quoted_key")
    return None if key is None else ":".join(unquoted(text_of(part)) for part in _toml_parts(key))


def _toml_parts(key: Node) -> Iterator[Node]:
    """Yield the parts of a key, which nest in the order of its dots."""
    if key.type != "dotted_key":
        yield key
    else:
        for each in key.named_children:
            yield from _toml_parts(each)


_TABLE: Final = Rule(Kind.SECTION, _toml_name, itself)

TOML: Final = Language(
    name="toml",
    outline=outline_nested,
    grammar="tree_sitter_toml",
    extensions=frozenset({".toml"}),
    filenames=frozenset({"Cargo.lock", "poetry.lock", "uv.lock", "Pipfile", "pdm.lock"}),
    rules={"table": _TABLE, "table_array_element": _TABLE, "pair": Rule(Kind.ENTRY, _toml_name)},
    open_kinds=frozenset({"table", "table_array_element"}),
    closers=frozenset(),
    tail=HASH_TAIL,
    layout=Layout(top=1, nested=0, opens=re.compile(rb"\A\s*\["), closes=_NEVER),
)

SQL: Final = Language(
    name="sql",
    outline=outline_statements,
    extensions=frozenset({".sql", ".ddl", ".pgsql", ".psql", ".mysql"}),
    comment_mark=b"--",
    layout=Layout(opens=_NEVER, closes=_NEVER),
)
