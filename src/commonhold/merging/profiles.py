"""The profiles of the languages that are merged by their structure, by the name of the language."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.language import Language, Rule
from commonhold.kernel.keys import CONTAINERS
from commonhold.merging import node_effects_scripting as scripting
from commonhold.merging.braces import BY_LANGUAGE, MUTATORS, binding
from commonhold.merging.profile import Order, Profile

PYTHON: Final = Profile(
    blocks=frozenset({"module", "block"}),
    lists={
        "argument_list": Order.NAMED,
        "dictionary": Order.FREE,
        "list": Order.FREE,
        "parameters": Order.NAMED,
        "set": Order.FREE,
        "tuple": Order.FIXED,
    },
    lone=frozenset({"tuple"}),
    runs={"import_from_statement": b"import", "import_statement": b"import", "future_import_statement": b"import"},
    definitions=frozenset({"class_definition", "function_definition"}),
    wrapper="decorated_definition",
    decorator="decorator",
    clauses=frozenset(
        {
            "case_clause",
            "elif_clause",
            "else_clause",
            "except_clause",
            "except_group_clause",
            "finally_clause",
        }
    ),
    keyed={
        "aliased_import": "alias",
        "default_parameter": "name",
        "keyword_argument": "name",
        "pair": "key",
        "typed_default_parameter": "name",
    },
    optional_entries=frozenset(
        {
            "default_parameter",
            "dictionary_splat",
            "dictionary_splat_pattern",
            "keyword_argument",
            "keyword_separator",
            "typed_default_parameter",
        }
    ),
    keyword_only_marks=frozenset({"dictionary_splat_pattern", "keyword_separator", "list_splat_pattern"}),
    parameters=frozenset({"parameters"}),
    spreads=frozenset({"dictionary_splat", "list_splat"}),
    functions=frozenset({"function_definition"}),
    classes=frozenset({"class_definition"}),
    members={"attribute": ("object", "attribute")},
    subscripts={"subscript": "value"},
    calls={"call": "function"},
    bindings={
        "assignment": binding("left"),
        "augmented_assignment": binding("left", mutates=True),
        "as_pattern": binding("alias"),
        "as_pattern_target": binding(""),
        "case_pattern": binding(""),
        "class_definition": binding("name", is_scope=True),
        "default_parameter": binding("name"),
        "delete_statement": binding(""),
        "for_in_clause": binding("left"),
        "for_statement": binding("left"),
        "function_definition": binding("name", is_scope=True),
        "dictionary_comprehension": binding(is_scope=True),
        "generator_expression": binding(is_scope=True),
        "global_statement": binding(""),
        "keyword_argument": binding(names="name"),
        "lambda": binding(is_scope=True),
        "lambda_parameters": binding(""),
        "list_comprehension": binding(is_scope=True),
        "named_expression": binding("name"),
        "nonlocal_statement": binding(""),
        "parameters": binding(""),
        "set_comprehension": binding(is_scope=True),
        "typed_default_parameter": binding("name"),
        "typed_parameter": binding(""),
    },
    imports=frozenset({"import_statement", "import_from_statement", "future_import_statement"}),
    exits=frozenset(
        {
            "assert_statement",
            "break_statement",
            "continue_statement",
            "raise_statement",
            "return_statement",
            "yield",
        }
    ),
    node_effects=scripting.PYTHON,
    mutators=MUTATORS,
    receivers=frozenset({"self", "cls"}),
    implied={"with_statement": (b".__enter__", b".__exit__"), "for_statement": (b".__iter__",)},
    has_indented_blocks=True,
    last_definition_counts=True,
    is_exact=True,
)

_JSON: Final = Profile(
    blocks=frozenset({"document"}),
    lists={"array": Order.FREE, "object": Order.FREE},
    keyed={"pair": "key"},
    comment_mark=b"//",
    node_effects=scripting.JSON,
    text="",
    is_exact=True,
)

_YAML: Final = Profile(
    blocks=frozenset({"block_mapping", "block_sequence", "document", "stream"}),
    lists={"flow_mapping": Order.FREE, "flow_sequence": Order.FREE},
    keyed={"block_mapping_pair": "key", "flow_pair": "key"},
    node_effects=scripting.YAML,
    text="",
    is_exact=True,
)


def _table_name(node: Node) -> str | None:
    """Return the name of a TOML table, as its header spells it."""
    header = (node.text or b"").partition(b"]")[0].lstrip(b"[").strip()
    return header.decode(errors="replace") or None


_TOML: Final = Profile(
    blocks=frozenset({"document"}),
    lists={"array": Order.FREE, "inline_table": Order.FREE},
    sections={"table": b"]", "table_array_element": b"]]"},
    definitions=frozenset({"table"}),
    naming={"table": _table_name},
    node_effects=scripting.TOML,
    text="",
    is_exact=True,
)

_CSS: Final = Profile(
    blocks=frozenset({"block", "keyframe_block_list", "stylesheet"}),
    comment_mark=b"/*",
    text="",
)

_SHELL: Final = Profile(
    last_definition_counts=True,
    blocks=frozenset({"compound_statement", "do_group", "program"}),
    clauses=frozenset({"case_item", "elif_clause", "else_clause"}),
    identifiers=frozenset({"variable_name", "word"}),
    bindings={
        "variable_assignment": binding("name"),
        "for_statement": binding("variable"),
        "function_definition": binding("name", is_scope=True),
    },
    subscripts={"subscript": "name"},
    calls={"command": "name"},
    node_effects=scripting.SHELL,
    text="",
)

_RUBY: Final = Profile(
    last_definition_counts=True,
    blocks=frozenset({"body_statement", "program", "then"}),
    lists={"array": Order.FREE, "hash": Order.FREE, "argument_list": Order.NAMED, "method_parameters": Order.NAMED},
    keyed={"pair": "key", "keyword_parameter": "name"},
    optional_entries=frozenset({"keyword_parameter", "pair"}),
    clauses=frozenset({"else", "elsif", "ensure", "rescue", "when"}),
    identifiers=frozenset({"constant", "global_variable", "identifier", "instance_variable"}),
    subscripts={"element_reference": "object"},
    setters={"call": ("receiver", "method")},
    method_calls={"call": "method"},
    bindings={
        "assignment": binding("left"),
        "operator_assignment": binding("left", mutates=True),
        "binary <<": binding("left", mutates=True),
        "class": binding("name", is_scope=True),
        "module": binding("name", is_scope=True),
        "method": binding("name", is_scope=True),
        "do_block": binding(is_scope=True),
        "method_parameters": binding(""),
        "block_parameters": binding(""),
    },
    exits=frozenset({"break", "next", "return", "yield"}),
    node_effects=scripting.RUBY,
    text="",
)

_BASES: Final[Mapping[str, Profile]] = {
    "python": PYTHON,
    "json": _JSON,
    "jsonc": _JSON,
    "yaml": _YAML,
    "toml": _TOML,
    "css": _CSS,
    "shell": _SHELL,
    "ruby": _RUBY,
    **BY_LANGUAGE,
}


_DATA: Final = frozenset({"json", "jsonc", "yaml", "toml", "css"})


@cache
def profile_of(language: Language) -> Profile | None:
    """Return the profile of a language, with the naming of its regions; None if its files are merged by lines."""
    base = _BASES.get(language.name)
    if base is None or base is PYTHON:
        return base
    leads = frozenset(language.comment_kinds), frozenset(language.lead_kinds)
    if language.name in _DATA:
        return replace(base, comments=leads[0], leads=leads[1])
    kinds = {kind: rule.kind for kind, rule in language.rules.items()}
    return replace(
        base,
        definitions=frozenset(kinds),
        naming={kind: _naming(rule) for kind, rule in language.rules.items()},
        functions=frozenset(kind for kind, found in kinds.items() if found not in CONTAINERS),
        classes=frozenset(kind for kind, found in kinds.items() if found in CONTAINERS),
        comments=leads[0],
        leads=leads[1],
    )


def _naming(rule: Rule) -> Callable[[Node], str | None]:
    """Return a function that names a node by a rule, or by the fallback of that rule if it does not fit."""

    def name(node: Node) -> str | None:
        found = rule.name(node)
        return found if found is not None or rule.otherwise is None else rule.otherwise.name(node)

    return name
