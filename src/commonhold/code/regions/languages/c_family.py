"""C, C++ and C#."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.language import Language, Rule, body_field
from commonhold.code.regions.languages.common import BRACKETS, C_TAIL
from commonhold.code.regions.nested import outline_nested
from commonhold.code.regions.node_names import (
    colons,
    field_name,
    first_of,
    path_name,
    plain_type,
    text_of,
    with_types,
)
from commonhold.kernel.keys import Kind

_NAMES: Final = frozenset(
    {
        "destructor_name",
        "field_identifier",
        "identifier",
        "operator_cast",
        "operator_name",
        "qualified_identifier",
        "template_function",
        "type_identifier",
    }
)
_AROUND: Final = ("parenthesized_declarator", "reference_declarator")
_SPECIFIERS: Final = ("class_specifier", "enum_specifier", "struct_specifier", "union_specifier")


def _declarator_of(node: Node) -> tuple[Node | None, Node | None]:
    """Return the name that a declarator declares, however deep, and the parameters directly behind it."""
    parameters, name = None, None
    for each in _declarators(node):
        if each.type in _NAMES:
            name = each
            break
        if each.type == "function_declarator":
            parameters = each.child_by_field_name("parameters")
    return name, parameters


def _declarators(node: Node) -> Iterator[Node]:
    found = node.child_by_field_name("declarator")
    while found is not None:
        yield found
        inner = found.child_by_field_name("declarator")
        # Parentheses and references around a declarator have no field for it.
        found = inner or (next(reversed(found.named_children), None) if found.type in _AROUND else None)


def _c_name(node: Node) -> str | None:
    name, _ = _declarator_of(node)
    return None if name is None else colons(text_of(name))


def _cpp_name(node: Node) -> str | None:
    name, parameters = _declarator_of(node)
    if name is None or name.type == "operator_cast" or parameters is None:
        return None if name is None else plain_type(text_of(name).partition("(")[0])
    return with_types(_cpp_qualified(text_of(name)), _cpp_types(parameters))


def _cpp_qualified(text: str) -> str:
    return ":".join(part.strip() for part in text.split("::") if part.strip())


def _cpp_types(parameters: Node) -> Iterator[str]:
    for each in parameters.named_children:
        if each.type == "variadic_parameter_declaration" or each.type.endswith("parameter_declaration"):
            kind = _without_name(each)
            if kind != "void":
                yield kind
    if parameters.child_count and any(child.type == "..." for child in parameters.children):
        yield "[]"


def _without_name(parameter: Node) -> str:
    """Return the type of a parameter: its text without its name and its default."""
    default = parameter.child_by_field_name("default_value")
    end = (default.start_byte if default is not None else parameter.end_byte) - parameter.start_byte
    name, _ = _declarator_of(parameter)
    data = (parameter.text or b"")[:end].rstrip(b"= \t\n")
    if name is not None:
        cut = name.start_byte - parameter.start_byte, name.end_byte - parameter.start_byte
        data = data[: cut[0]] + data[cut[1] :]
    return data.decode(errors="replace").strip()


def _specified_name(node: Node) -> str | None:
    """Return the name of a struct, class, union or enum with its members; a mere mention of one defines nothing."""
    return colons(field_name(node) or "") or None if body_field(node) is not None else None


def _typedef_name(node: Node) -> str | None:
    """Return the new name of a type that is written out in its `typedef`."""
    name, _ = _declarator_of(node)
    return text_of(name) if name is not None and _typedef_body(node) is not None else None


def _typedef_body(node: Node) -> Node | None:
    kind = node.child_by_field_name("type")
    return body_field(kind) if kind is not None and kind.type in _SPECIFIERS else None


def _namespace_name(node: Node) -> str:
    return path_name(node) or "(anonymous)"


_SPECIFIED: Final = Rule(Kind.CLASS, _specified_name)

C: Final = Language(
    name="c",
    outline=outline_nested,
    grammar="tree_sitter_c",
    extensions=frozenset({".c", ".h"}),
    rules={
        "function_definition": Rule(Kind.FUNCTION, _c_name),
        "preproc_function_def": Rule(Kind.FUNCTION, field_name),
        "struct_specifier": _SPECIFIED,
        "union_specifier": _SPECIFIED,
        "enum_specifier": _SPECIFIED,
        "type_definition": Rule(Kind.CLASS, _typedef_name, _typedef_body),
    },
    wrapper_kinds=frozenset(
        {
            "declaration_list",
            "linkage_specification",
            "preproc_elif",
            "preproc_elifdef",
            "preproc_else",
            "preproc_if",
            "preproc_ifdef",
        }
    ),
    shell_kinds=frozenset({"declaration", "linkage_specification"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)

CPP: Final = replace(
    C,
    name="cpp",
    grammar="tree_sitter_cpp",
    extensions=frozenset({".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl", ".tpp"}),
    rules={
        **C.rules,
        "function_definition": Rule(Kind.FUNCTION, _cpp_name),
        "class_specifier": _SPECIFIED,
        "namespace_definition": Rule(Kind.CLASS, _namespace_name),
    },
    shell_kinds=C.shell_kinds | {"field_declaration", "template_declaration"},
)


def _csharp_types(parameters: Node | None) -> Iterator[str]:
    for index, each in enumerate(parameters.children if parameters is not None else ()):
        kind = each.child_by_field_name("type") if each.type == "parameter" else None
        if parameters is not None and parameters.field_name_for_child(index) == "type":
            kind = each
        if kind is not None:
            yield text_of(kind)


def _csharp_method(node: Node) -> str | None:
    """Name a method by its name and the types of its parameters; with the interface that it names, if any."""
    name = field_name(node)
    explicit = first_of(node, "explicit_interface_specifier")
    before = f"{plain_type(text_of(explicit).rstrip('.'))}:" if explicit is not None else ""
    return None if name is None else with_types(before + name, _csharp_types(node.child_by_field_name("parameters")))


def _csharp_property(node: Node) -> str | None:
    name = field_name(node)
    explicit = first_of(node, "explicit_interface_specifier")
    before = f"{plain_type(text_of(explicit).rstrip('.'))}:" if explicit is not None else ""
    return None if name is None else before + name


def _csharp_destructor(node: Node) -> str:
    return f"~{field_name(node)}()"


def _csharp_operator(node: Node) -> str:
    """Name an operator by its sign, or by the type that it converts to."""
    words = [text_of(each) for each in node.children if each.type not in ("modifier", "attribute_list")]
    sign = words[words.index("operator") + 1] if "operator" in words[:-1] else ""
    return with_types(f"operator {plain_type(sign)}", _csharp_types(node.child_by_field_name("parameters")))


def _csharp_indexer(node: Node) -> str:
    return with_types("this", _csharp_types(node.child_by_field_name("parameters")))


_CSHARP_METHOD: Final = Rule(Kind.FUNCTION, _csharp_method)
_CSHARP_TYPE: Final = Rule(Kind.CLASS, field_name)
_CSHARP_PROPERTY: Final = Rule(Kind.FUNCTION, _csharp_property)
_CSHARP_OPERATOR: Final = Rule(Kind.FUNCTION, _csharp_operator)

CSHARP: Final = Language(
    name="csharp",
    outline=outline_nested,
    grammar="tree_sitter_c_sharp",
    extensions=frozenset({".cs", ".csx"}),
    rules={
        "method_declaration": _CSHARP_METHOD,
        "constructor_declaration": _CSHARP_METHOD,
        "local_function_statement": _CSHARP_METHOD,
        "destructor_declaration": Rule(Kind.FUNCTION, _csharp_destructor),
        "operator_declaration": _CSHARP_OPERATOR,
        "conversion_operator_declaration": _CSHARP_OPERATOR,
        "indexer_declaration": Rule(Kind.FUNCTION, _csharp_indexer),
        "property_declaration": _CSHARP_PROPERTY,
        "event_declaration": _CSHARP_PROPERTY,
        "class_declaration": _CSHARP_TYPE,
        "struct_declaration": _CSHARP_TYPE,
        "interface_declaration": _CSHARP_TYPE,
        "record_declaration": _CSHARP_TYPE,
        "record_struct_declaration": _CSHARP_TYPE,
        "enum_declaration": _CSHARP_TYPE,
        "namespace_declaration": Rule(Kind.CLASS, path_name),
    },
    wrapper_kinds=frozenset({"declaration_list", "preproc_elif", "preproc_else", "preproc_if"}),
    shell_kinds=frozenset({"global_statement"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)
