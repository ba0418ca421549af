"""Go, Rust and Swift."""

import re
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.language import Language, Rule
from commonhold.code.regions.languages.common import BRACKETS, C_TAIL, nests_comments
from commonhold.code.regions.nested import outline_nested
from commonhold.code.regions.node_names import field_name, first_of, fixed, has, plain_type, text_of
from commonhold.kernel.keys import Kind

_GO_TYPE: Final = re.compile(r"[A-Za-z_]\w*")


def _receiver_name(node: Node) -> str | None:
    """Name a method by its type, pointer or not: `func (s *Store) Get()` is `Store:Get`."""
    receiver = node.child_by_field_name("receiver")
    given = first_of(receiver, "parameter_declaration") if receiver is not None else None
    kind = given.child_by_field_name("type") if given is not None else None
    match = _GO_TYPE.search(plain_type(text_of(kind))) if kind is not None else None
    return f"{match[0]}:{field_name(node)}" if match else field_name(node)


def _structure_of(node: Node) -> Node | None:
    kind = node.child_by_field_name("type")
    return kind if kind is not None and kind.type in ("struct_type", "interface_type") else None


def _structure_name(node: Node) -> str | None:
    return field_name(node) if _structure_of(node) is not None else None


def _structure_body(node: Node) -> Node | None:
    kind = _structure_of(node)
    return None if kind is None else first_of(kind, "field_declaration_list") or kind


def _function_variable(node: Node) -> str | None:
    """Return the name of the one variable of a declaration, if it is a function."""
    spec = first_of(node, "var_spec")
    value = spec.child_by_field_name("value") if spec is not None else None
    return field_name(spec) if spec is not None and value is not None and has(value, "func_literal") else None


GO: Final = Language(
    name="go",
    outline=outline_nested,
    grammar="tree_sitter_go",
    extensions=frozenset({".go"}),
    rules={
        "function_declaration": Rule(Kind.FUNCTION, field_name),
        "method_declaration": Rule(Kind.FUNCTION, _receiver_name),
        "method_elem": Rule(Kind.FUNCTION, field_name),
        "type_spec": Rule(Kind.CLASS, _structure_name, _structure_body),
        "var_declaration": Rule(Kind.FUNCTION, _function_variable),
    },
    wrapper_kinds=frozenset({"type_declaration"}),
    shell_kinds=frozenset({"type_declaration"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)


def _impl_name(node: Node) -> str | None:
    """Name an `impl` by its trait and type, since it has no name: `impl Display for Point`."""
    kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
    of = f"{'!' if has(node, '!') else ''}{plain_type(text_of(trait))} for " if trait is not None else ""
    return None if kind is None else f"impl {of}{plain_type(text_of(kind))}"


def _module_name(node: Node) -> str | None:
    return field_name(node) if has(node, "declaration_list") else None


_RUST_FUNCTION: Final = Rule(Kind.FUNCTION, field_name)
_RUST_TYPE: Final = Rule(Kind.CLASS, field_name)

RUST: Final = Language(
    name="rust",
    outline=outline_nested,
    grammar="tree_sitter_rust",
    extensions=frozenset({".rs"}),
    rules={
        "function_item": _RUST_FUNCTION,
        "function_signature_item": _RUST_FUNCTION,
        "macro_definition": _RUST_FUNCTION,
        "struct_item": _RUST_TYPE,
        "enum_item": _RUST_TYPE,
        "union_item": _RUST_TYPE,
        "trait_item": _RUST_TYPE,
        "impl_item": Rule(Kind.CLASS, _impl_name),
        "mod_item": Rule(Kind.CLASS, _module_name),
    },
    wrapper_kinds=frozenset({"declaration_list", "foreign_mod_item"}),
    lead_kinds=frozenset({"attribute_item"}),
    comment_kinds=frozenset({"block_comment", "line_comment"}),
    loose_comment=re.compile(rb"//!|/\*!"),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)


def _labelled(node: Node) -> str | None:
    """Name a function by the labels of its parameters, as Swift writes it: `move(to:by:)`."""
    name = _after_word(node)
    labels = "".join(f"{_label(each)}:" for each in node.children if each.type == "parameter")
    return None if name is None else f"{name}({labels})"


def _label(parameter: Node) -> str:
    name = parameter.child_by_field_name("external_name") or parameter.child_by_field_name("name")
    return text_of(name) if name is not None else "_"


def _after_word(node: Node) -> str | None:
    """Return the word or sign behind `func`, or the word itself: field `name` may be that of an operator's result."""
    words = [child for child in node.children if child.type not in ("comment", "modifiers", "multiline_comment")]
    index = 1 if words and words[0].type == "func" else 0
    return text_of(words[index]) if index < len(words) else None


def _swift_class_name(node: Node) -> str | None:
    name = field_name(node)
    if name is None or not has(node, "extension"):
        return name
    protocols = [plain_type(text_of(each)) for each in node.children if each.type == "inheritance_specifier"]
    return f"extension {plain_type(name)}{': ' if protocols else ''}{','.join(protocols)}"


def _computed_name(node: Node) -> str | None:
    """Return the name of a property that is computed, or observed."""
    name = node.child_by_field_name("name")
    is_computed = node.child_by_field_name("computed_value") is not None or has(node, "willset_didset_block")
    return text_of(name) if name is not None and is_computed else None


_SWIFT_FUNCTION: Final = Rule(Kind.FUNCTION, _labelled)

SWIFT: Final = Language(
    name="swift",
    outline=outline_nested,
    grammar="tree_sitter_swift",
    extensions=frozenset({".swift"}),
    rules={
        "function_declaration": _SWIFT_FUNCTION,
        "protocol_function_declaration": _SWIFT_FUNCTION,
        "init_declaration": _SWIFT_FUNCTION,
        "subscript_declaration": _SWIFT_FUNCTION,
        "deinit_declaration": Rule(Kind.FUNCTION, fixed("deinit")),
        "property_declaration": Rule(Kind.FUNCTION, _computed_name),
        "class_declaration": Rule(Kind.CLASS, _swift_class_name),
        "protocol_declaration": Rule(Kind.CLASS, field_name),
    },
    lead_kinds=frozenset({"attribute"}),
    comment_kinds=frozenset({"comment", "multiline_comment"}),
    beyond=nests_comments,
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)
