"""JSON, YAML and TOML: what edits put into their files."""

from typing import Final

from bench.merging.generated.grammar import Grammar, Insert

JSON: Final = Grammar(
    "json",
    ".json",
    lines={},
    entries={
        "add key": (
            Insert("object", '"{name}": {n}'),
            Insert("object", '"{name}": "{n}"'),
            Insert("object", '"{name}": {"size": {n}}'),
        ),
        "add list item": (Insert("array", "{n}"), Insert("array", '"{name}"'), Insert("array", '{"{name}": {n}}')),
    },
    copied=frozenset({"pair"}),
    moved=frozenset({"pair"}),
    lists=frozenset({"object", "array"}),
    constants=frozenset({"number", "string"}),
    comment="",
)

YAML: Final = Grammar(
    "yaml",
    ".yaml",
    lines={
        "add key": (
            Insert("block_mapping", "{name}: {n}"),
            Insert("block_mapping", "{name}:\n  size: {n}"),
            Insert("block_mapping", "'{name}': &{name} {n}"),
        ),
        "add list item": (
            Insert("block_sequence", "- {n}"),
            Insert("block_sequence", "- name: {name}\n  size: {n}"),
        ),
    },
    entries={"add entry": (Insert("flow_sequence", "{n}"), Insert("flow_mapping", "{name}: {n}"))},
    copied=frozenset({"block_mapping_pair"}),
    moved=frozenset({"block_mapping_pair", "block_sequence_item"}),
    lists=frozenset({"flow_sequence", "flow_mapping"}),
    constants=frozenset({"integer_scalar", "string_scalar", "double_quote_scalar", "single_quote_scalar"}),
    comment="# {}",
)

TOML: Final = Grammar(
    "toml",
    ".toml",
    lines={
        "add key": (
            Insert("table", "{name} = {n}"),
            Insert("document", "{name} = {n}"),
            Insert("table", "{name}.size = {n}"),
        ),
        "add table": (
            Insert("document", "\n[{name}]\nsize = {n}\n"),
            Insert("document", "\n[{name}.inner]\nsize = {n}\n"),
            Insert("document", "\n[[{name}]]\nsize = {n}\n"),
        ),
    },
    entries={
        "add list item": (Insert("array", "{n}"), Insert("array", '"{name}"')),
        "add entry": (Insert("inline_table", "{name} = {n}"),),
    },
    copied=frozenset({"pair"}),
    moved=frozenset({"pair", "table"}),
    lists=frozenset({"array"}),
    constants=frozenset({"integer", "string"}),
    comment="# {}",
)
