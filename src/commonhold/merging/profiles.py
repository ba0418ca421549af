"""The profiles of the languages whose structure is merged, one entry each."""

from collections.abc import Mapping
from typing import Final

from commonhold.merging.profile import Binding, Order, Profile

_MUTATORS: Final = frozenset(
    {
        "add",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "popleft",
        "push",
        "put",
        "remove",
        "reverse",
        "send",
        "set",
        "setdefault",
        "sort",
        "update",
        "write",
        "writelines",
    }
)


def _binding(*defines: str, names: str = "", is_scope: bool = False, mutates: bool = False) -> Binding:
    return Binding(frozenset(defines), frozenset(names.split()), is_scope=is_scope, mutates=mutates)


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
        "default_parameter": "name",
        "keyword_argument": "name",
        "pair": "key",
        "typed_default_parameter": "name",
    },
    optional_entries=frozenset(
        {
            "default_parameter",
            "dictionary_splat",
            "keyword_argument",
            "typed_default_parameter",
        }
    ),
    keyword_only_marks=frozenset({"keyword_separator", "list_splat_pattern"}),
    functions=frozenset({"function_definition"}),
    classes=frozenset({"class_definition"}),
    members={"attribute": ("object", "attribute")},
    subscripts={"subscript": "value"},
    calls={"call": "function"},
    bindings={
        "assignment": _binding("left"),
        "augmented_assignment": _binding("left", mutates=True),
        "as_pattern": _binding("alias"),
        "as_pattern_target": _binding(""),
        "class_definition": _binding("name", is_scope=True),
        "default_parameter": _binding("name"),
        "delete_statement": _binding(""),
        "for_in_clause": _binding("left"),
        "for_statement": _binding("left"),
        "function_definition": _binding("name", is_scope=True),
        "dictionary_comprehension": _binding(is_scope=True),
        "generator_expression": _binding(is_scope=True),
        "global_statement": _binding(""),
        "keyword_argument": _binding(names="name"),
        "lambda": _binding(is_scope=True),
        "lambda_parameters": _binding(""),
        "list_comprehension": _binding(is_scope=True),
        "named_expression": _binding("name"),
        "nonlocal_statement": _binding(""),
        "parameters": _binding(""),
        "set_comprehension": _binding(is_scope=True),
        "typed_default_parameter": _binding("name"),
        "typed_parameter": _binding(""),
    },
    imports=frozenset({"import_statement", "import_from_statement", "future_import_statement"}),
    exits=frozenset({"break_statement", "continue_statement", "raise_statement", "return_statement", "yield"}),
    effects=frozenset({"assert_statement", "await", "delete_statement"}),
    mutators=_MUTATORS,
    receivers=frozenset({"self", "cls"}),
    implied={"with_statement": (b".__enter__", b".__exit__"), "for_statement": (b".__iter__",)},
    has_indented_blocks=True,
)

PROFILES: Final[Mapping[str, Profile]] = {"python": PYTHON}
