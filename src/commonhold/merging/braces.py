"""The profiles of the languages with braces: their common part, and how each of them differs."""

import re
from dataclasses import replace
from typing import Final

from commonhold.merging import node_effects_compiled as compiled
from commonhold.merging import node_effects_scripting as scripting
from commonhold.merging.profile import Binding, Order, Profile

# Methods that change their receiver, in any of these languages.
MUTATORS: Final = frozenset(
    {
        "add",
        "add_all",
        "addAll",
        "append",
        "appendleft",
        "clear",
        "delete",
        "discard",
        "emplace_back",
        "extend",
        "insert",
        "pop",
        "popitem",
        "popleft",
        "push",
        "push_back",
        "put",
        "remove",
        "reverse",
        "send",
        "set",
        "setdefault",
        "shift",
        "sort",
        "splice",
        "unshift",
        "update",
        "write",
        "writelines",
    }
)


def binding(*defines: str, names: str = "", is_scope: bool = False, mutates: bool = False) -> Binding:
    """Return a binding; `names` are fields between blanks."""
    return Binding(frozenset(defines), frozenset(names.split()), is_scope=is_scope, mutates=mutates)


_SCOPES: Final = (
    "arrow_function",
    "class",
    "class_declaration",
    "class_specifier",
    "closure_expression",
    "constructor_declaration",
    "enum_declaration",
    "enum_item",
    "func_literal",
    "function_declaration",
    "function_definition",
    "function_expression",
    "function_item",
    "generator_function_declaration",
    "impl_item",
    "interface_declaration",
    "internal_module",
    "lambda_expression",
    "lambda_literal",
    "local_function_statement",
    "method_declaration",
    "method_definition",
    "mod_item",
    "object_definition",
    "object_declaration",
    "struct_item",
    "struct_specifier",
    "trait_item",
)

BRACES: Final = Profile(
    blocks=frozenset(
        {
            "annotation_type_body",
            "block",
            "class_body",
            "compilation_unit",
            "compound_statement",
            "constructor_body",
            "declaration_list",
            "field_declaration_list",
            "import_spec_list",
            "indented_block",
            "interface_body",
            "interface_type",
            "match_block",
            "object_type",
            "program",
            "protocol_body",
            "source_file",
            "statement_block",
            "statement_list",
            "statements",
            "switch_body",
            "template_body",
            "translation_unit",
        }
    ),
    lists={
        "array": Order.FREE,
        "array_expression": Order.FREE,
        "array_initializer": Order.FREE,
        "enum_variant_list": Order.FREE,
        "enumerator_list": Order.FIXED,
        "export_clause": Order.FREE,
        "field_initializer_list": Order.FREE,
        "formal_parameters": Order.FIXED,
        "literal_value": Order.NAMED,
        "named_imports": Order.FREE,
        "object": Order.FREE,
        "object_pattern": Order.FREE,
        "parameter_list": Order.FIXED,
        "parameters": Order.FIXED,
        "arguments": Order.FIXED,
        "argument_list": Order.FIXED,
        "use_list": Order.FREE,
    },
    keyed={"pair": "key", "enum_variant": "name", "import_specifier": "name", "property_signature": "name"},
    optional_entries=frozenset({"keyed_element"}),
    clauses=frozenset(
        {
            "catch_clause",
            "case_clause",
            "default_case",
            "else_clause",
            "expression_case",
            "finally_clause",
            "match_arm",
            "switch_case",
            "switch_default",
        }
    ),
    comment_mark=b"//",
    text="",
    identifiers=frozenset(
        {
            "field_identifier",
            "identifier",
            "name",
            "property_identifier",
            "shorthand_property_identifier",
            "shorthand_property_identifier_pattern",
            "simple_identifier",
            "type_identifier",
            "variable_name",
        }
    ),
    members={
        "field_access": ("object", "field"),
        "member_access_expression": ("object", "name"),
        "member_expression": ("object", "property"),
        "selector_expression": ("operand", "field"),
    },
    subscripts={"subscript_expression": "object", "index_expression": "operand", "array_access": "array"},
    calls={"call_expression": "function", "function_call_expression": "function", "invocation_expression": "function"},
    method_calls={"method_invocation": "name", "member_call_expression": "name", "scoped_call_expression": "name"},
    bindings={
        **{kind: binding("name", is_scope=True) for kind in _SCOPES},
        "assignment_expression": binding("left"),
        "assignment_statement": binding("left"),
        "augmented_assignment_expression": binding("left", mutates=True),
        "compound_assignment_expr": binding("left", mutates=True),
        "const_spec": binding("name"),
        "enhanced_for_statement": binding("name"),
        "enum_constant": binding("name"),
        "enumerator": binding("name"),
        "field_definition": binding("property"),
        "for_expression": binding("pattern"),
        "for_in_statement": binding("left"),
        "for_statement": binding("left"),
        "inc_statement": binding("", mutates=True),
        "init_declarator": binding("declarator"),
        "let_declaration": binding("pattern"),
        "const_item": binding("name"),
        "static_item": binding("name"),
        "preproc_def": binding("name"),
        "preproc_function_def": binding("name"),
        "pair_pattern": binding("value", names="key"),
        "property_declaration": binding("name"),
        "range_clause": binding("left"),
        "short_var_declaration": binding("left"),
        "update_expression": binding("", "argument", mutates=True),
        "val_definition": binding("pattern"),
        "var_definition": binding("pattern"),
        "var_spec": binding("name"),
        "variable_declarator": binding("name"),
    },
    imports=frozenset(
        {
            "import",
            "import_declaration",
            "import_spec",
            "import_statement",
            "namespace_use_declaration",
            "preproc_include",
            "use_declaration",
            "using_directive",
        }
    ),
    exits=frozenset(
        {
            "assert_statement",
            "break_expression",
            "break_statement",
            "continue_expression",
            "continue_statement",
            "control_transfer_statement",
            "goto_statement",
            "jump_expression",
            "return_expression",
            "return_statement",
            "throw_expression",
            "throw_statement",
            "yield_expression",
        }
    ),
    mutators=MUTATORS,
    receivers=frozenset({"self", "this"}),
)

_SCRIPT: Final = replace(
    BRACES,
    wrapper="export_statement",
    wrapped="declaration",
    decorator="decorator",
    sections={"jsx_element": b"jsx_opening_element"},
    bindings={**BRACES.bindings, "unary_expression delete": binding("argument", mutates=True)},
    node_effects=scripting.JAVASCRIPT_WITH_JSX,
)

# Code inside a preprocessor condition consists of statements like those around it.
_C: Final = replace(
    BRACES,
    members={"field_expression": ("argument", "field")},
    subscripts={"subscript_expression": "argument"},
    lists={**BRACES.lists, "initializer_list": Order.FIXED},
    sections={
        "preproc_elif": b"\n",
        "preproc_else": b"#else",
        "preproc_if": b"\n",
        "preproc_ifdef": b"identifier",
    },
    clauses=BRACES.clauses | {"preproc_elif", "preproc_elifdef", "preproc_else"},
    identifiers=BRACES.identifiers | {"statement_identifier"},
    bindings={
        **BRACES.bindings,
        "declaration": binding("declarator"),
        "labeled_statement": binding("label"),
        "type_definition": binding("declarator"),
    },
    node_effects=compiled.C,
    has_overloads=False,
)

_TYPED: Final = replace(_SCRIPT, lists={**BRACES.lists, "union_type": Order.FREE}, separators={"union_type": b"|"})

_KOTLIN: Final = replace(
    BRACES,
    members={"navigation_expression": ("0", "-1")},
    subscripts={"index_expression": "0"},
    calls={"call_expression": "0"},
    bindings={
        **BRACES.bindings,
        "assignment": binding("left"),
        "property_declaration": binding(),
        "variable_declaration": binding(""),
        "unary_expression ++": binding("argument", mutates=True),
        "unary_expression --": binding("argument", mutates=True),
    },
    texts={
        kind: ("", re.compile(rb"(?<!\\)\$([A-Za-z_]\w*)")) for kind in ("multiline_string_literal", "string_literal")
    },
    node_effects=compiled.KOTLIN,
)

_SCALA: Final = replace(
    BRACES,
    members={"field_expression": ("value", "field")},
    subscripts={},
    bindings={
        **BRACES.bindings,
        **{f"infix_expression {sign}": binding("left", mutates=True) for sign in compiled.SCALA_CHANGING},
    },
    node_effects=compiled.SCALA,
)

_SWIFT: Final = replace(
    BRACES,
    members={"navigation_expression": ("target", "suffix")},
    subscripts={"call_expression [": "0"},
    calls={"call_expression": "0"},
    bindings={**BRACES.bindings, "assignment": binding("target")},
    node_effects=compiled.SWIFT,
)

_CSHARP: Final = replace(
    BRACES,
    members={"member_access_expression": ("expression", "name")},
    subscripts={"element_access_expression": "expression"},
    bindings={
        **BRACES.bindings,
        **{
            f"{fix}fix_unary_expression {sign}": binding("", mutates=True)
            for fix in ("pre", "post")
            for sign in ("++", "--")
        },
    },
    node_effects=compiled.CSHARP,
)

_PHP: Final = replace(
    BRACES,
    members={"member_access_expression": ("object", "name")},
    subscripts={"subscript_expression": "0"},
    bindings={**BRACES.bindings, "unset_statement": binding("", mutates=True), "const_element": binding("")},
    node_effects=scripting.PHP,
)

_RUST: Final = replace(
    BRACES,
    members={"field_expression": ("value", "field")},
    subscripts={"index_expression": "0"},
    calls={"call_expression": "function", "macro_invocation": "macro"},
    texts={
        kind: ("token_tree", re.compile(rb"(?<!\{)(?:\{\{)*\{([a-z_]\w*)(?::[^{}]*)?\}"))
        for kind in ("string_literal", "raw_string_literal")
    },
    node_effects=compiled.RUST,
)

BY_LANGUAGE: Final = {
    "javascript": replace(_SCRIPT, last_definition_counts=True),
    "typescript": replace(_TYPED, node_effects=scripting.TYPESCRIPT),
    "tsx": replace(_TYPED, node_effects=scripting.TSX),
    "go": replace(
        BRACES,
        sections={"expression_switch_statement": b"{", "type_switch_statement": b"{"},
        identifiers=BRACES.identifiers | {"label_name"},
        bindings={
            **BRACES.bindings,
            "dec_statement": binding("", mutates=True),
            "labeled_statement": binding("label"),
        },
        node_effects=compiled.GO,
    ),
    "java": replace(BRACES, node_effects=compiled.JAVA),
    "rust": _RUST,
    "c": _C,
    "cpp": replace(_C, node_effects=compiled.CPP, has_overloads=True),
    "csharp": _CSHARP,
    "php": _PHP,
    "kotlin": _KOTLIN,
    "scala": _SCALA,
    "swift": _SWIFT,
}
