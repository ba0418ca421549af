"""Go, Rust, Java, C and C++: what edits put into their programs."""

from dataclasses import replace
from typing import Final

from bench.merging.generated.grammar import Grammar, Insert, beside

_GO_BODY: Final = "statement_list<block"

GO: Final = Grammar(
    "go",
    ".go",
    lines={
        "add import": (
            beside("import_spec_list", '{name} "math/rand"', "import_spec"),
            beside("import_spec_list", '_ "embed"', "import_spec"),
            beside("source_file", 'import _ "math"', "import_declaration"),
        ),
        "add function": (
            Insert("source_file", "\nfunc {name}(value int) int {\n    return value + {n}\n}\n"),
            Insert("source_file", "\ntype {Name} struct {\n    size int\n}\n"),
        ),
        "add constant": (Insert("source_file", "const {name} = {n}"), Insert("source_file", "var {name} = {n}")),
        "add member": (
            Insert("source_file", "\nfunc (it *{type}) {name}() int {\n    return {n}\n}\n"),
            Insert("interface_type", "{name}(value int) int"),
        ),
        "add field": (
            Insert("field_declaration_list", "{name} int"),
            Insert("field_declaration_list", '{Name} string `json:"{name}"`'),
        ),
        "take next number": (
            beside("const_declaration", "{name} = {next}", "const_spec"),
            beside("const_declaration", "{name}", "const_spec"),
        ),
        "add local": (Insert(_GO_BODY, "{name} := {n}\n_ = {name}"), Insert(_GO_BODY, "var {name} int\n_ = {name}")),
        "add statement": (
            Insert(_GO_BODY, "println({n})"),
            Insert(_GO_BODY, "{variable} = {n}"),
            Insert(_GO_BODY, "{variable}++"),
            Insert(_GO_BODY, "{variable} = append({variable}, {n})"),
        ),
        "add use": (
            Insert(_GO_BODY, "{function}()"),
            Insert(_GO_BODY, "_ = {type}{}"),
            Insert(_GO_BODY, "_ = {type}{{n}}"),
            Insert("source_file", "var _ = {function}"),
        ),
        "early return": (Insert(_GO_BODY, "if {variable} == nil {\n    return\n}"), Insert(_GO_BODY, "return")),
        "add match arm": (
            beside("expression_switch_statement", "case {n}:", "expression_case"),
            beside("type_switch_statement", "case {type}:", "type_case"),
        ),
    },
    entries={
        "add parameter": (Insert("parameter_list", "{name} int"), Insert("parameter_list", "{name} ...int")),
        "add argument": (Insert("argument_list", "{n}"),),
        "add list item": (Insert("literal_value", "{n}"), Insert("literal_value", '"{name}"')),
        "add key": (Insert("literal_value", "{name}: {n}"), Insert("literal_value", '"{name}": {n}')),
    },
    copied=frozenset(
        {
            "function_declaration",
            "method_declaration",
            "type_declaration",
            "const_spec",
            "field_declaration",
            "var_spec",
        }
    ),
    statements=frozenset({"statement_list"}),
    functions=frozenset({"function_declaration", "method_declaration"}),
    types=frozenset({"type_spec"}),
    parameters=frozenset({"parameter_list"}),
    calls=frozenset({"call_expression"}),
    arguments=frozenset({"argument_list"}),
    lists=frozenset({"argument_list", "literal_value"}),
    constants=frozenset({"int_literal", "interpreted_string_literal"}),
    moved=frozenset({"import_spec"}),
    parameter="{name} int",
)

_RUST_BODY: Final = "block<function_item"

RUST: Final = Grammar(
    "rust",
    ".rs",
    lines={
        "add import": (
            beside("source_file", "use std::collections::BTreeMap;", "use_declaration"),
            beside("source_file", "use std::fmt as {name};", "use_declaration"),
        ),
        "add function": (
            Insert("source_file", "\npub fn {name}(value: i32) -> i32 {\n    value + {n}\n}\n"),
            Insert("source_file", "\npub struct {Name} {\n    size: i32,\n}\n"),
            Insert("source_file", "\npub trait {Name} {\n    fn size(&self) -> i32;\n}\n"),
            Insert("source_file", "\nimpl {type} {\n    pub fn {name}(&self) -> i32 {\n        {n}\n    }\n}\n"),
            Insert(
                "source_file", "\nimpl Clone for {type} {\n    fn clone(&self) -> Self {\n        todo!()\n    }\n}\n"
            ),
        ),
        "add constant": (
            Insert("source_file", "const {Name}: i32 = {n};"),
            Insert("declaration_list<impl_item", "const {Name}: i32 = {n};"),
        ),
        "add member": (
            Insert("declaration_list<impl_item", "\npub fn {name}(&self) -> i32 {\n    {n}\n}\n"),
            Insert("declaration_list<trait_item", "\nfn {name}(&self) -> i32;\n"),
            Insert("declaration_list<trait_item", "\nfn {name}(&self) -> i32 {\n    {n}\n}\n"),
        ),
        "add field": (Insert("field_declaration_list", "pub {name}: i32,"),),
        "add local": (Insert(_RUST_BODY, "let {name} = {n};"), Insert(_RUST_BODY, "let {name} = {variable};")),
        "add statement": (
            Insert(_RUST_BODY, 'println!("{name}");'),
            Insert(_RUST_BODY, "{variable} += {n};"),
            Insert(_RUST_BODY, "{variable}.push({n});"),
            Insert(_RUST_BODY, "drop({variable});"),
        ),
        "add use": (
            Insert(_RUST_BODY, "let _ = {function}();"),
            Insert(_RUST_BODY, "let _: Option<{type}> = None;"),
            Insert("source_file", "type {Name} = {type};"),
        ),
        "early return": (Insert(_RUST_BODY, "if {n} > 3 {\n    todo!();\n}"), Insert(_RUST_BODY, "return;")),
        "add decorator": (
            beside("source_file", "#[derive(Clone)]", "struct_item", "enum_item"),
            beside("source_file", "#[derive(Debug, PartialEq)]", "struct_item", "enum_item"),
            beside("source_file", "#[allow(dead_code)]", "function_item"),
        ),
        "add match arm": (Insert("match_block", "{n} => todo!(),"), Insert("match_block", "_ => todo!(),")),
        "add variant": (Insert("enum_variant_list", "{Name},"), Insert("enum_variant_list", "{Name} = {next},")),
    },
    entries={
        "add parameter": (Insert("parameters", "{name}: i32"),),
        "add argument": (Insert("arguments", "{n}"),),
        "add list item": (Insert("array_expression", "{n}"), Insert("array_expression", '"{name}"')),
        "add key": (Insert("field_initializer_list", "{name}: {n}"),),
        "add imported name": (Insert("use_list", "{name}"), Insert("use_list", "self")),
    },
    copied=frozenset(
        {"function_item", "struct_item", "enum_item", "const_item", "field_declaration", "enum_variant", "trait_item"}
    ),
    statements=frozenset({"block"}),
    functions=frozenset({"function_item", "function_signature_item"}),
    types=frozenset({"struct_item", "enum_item"}),
    parameters=frozenset({"parameters"}),
    calls=frozenset({"call_expression"}),
    arguments=frozenset({"arguments"}),
    lists=frozenset({"arguments", "array_expression", "field_initializer_list"}),
    constants=frozenset({"integer_literal", "string_literal"}),
    identifiers=frozenset({"identifier", "field_identifier", "type_identifier"}),
    moved=frozenset({"use_declaration", "impl_item"}),
    parameter="{name}: i32",
)

_JAVA_BODY: Final = "block<method_declaration"

JAVA: Final = Grammar(
    "java",
    ".java",
    lines={
        "add import": (
            beside("program", "import java.util.List;", "import_declaration", "package_declaration"),
            beside("program", "import java.awt.List;", "import_declaration", "package_declaration"),
            beside("program", "import java.util.*;", "import_declaration", "package_declaration"),
        ),
        "add function": (
            Insert("program", "\nclass {Name} {\n    int size = {n};\n}\n"),
            Insert("class_body", "\nstatic class {Name} {\n    int size = {n};\n}\n"),
            Insert("class_body", "\ninterface {Name} {\n    int size();\n}\n"),
        ),
        "add constant": (Insert("class_body", "static final int {Name} = {n};"),),
        "add member": (
            Insert("class_body", "\nint {name}() {\n    return {n};\n}\n"),
            Insert("class_body", "\nint {name}(int value) {\n    return value;\n}\n"),
            Insert("class_body", "\n{Name}(int value) {\n}\n"),
            Insert("class_body", "\nabstract int {name}();\n"),
            Insert("interface_body", "int {name}(int value);"),
            Insert("interface_body", "default int {name}() {\n    return {n};\n}"),
        ),
        "add field": (Insert("class_body", "int {name} = {n};"), Insert("class_body", "final String {name};")),
        "add local": (Insert(_JAVA_BODY, "int {name} = {n};"), Insert(_JAVA_BODY, "var {name} = {variable};")),
        "add statement": (
            Insert(_JAVA_BODY, "System.out.println({n});"),
            Insert(_JAVA_BODY, "{variable} = {n};"),
            Insert(_JAVA_BODY, "{variable}++;"),
            Insert(_JAVA_BODY, "{variable}.add({n});"),
        ),
        "add use": (
            Insert(_JAVA_BODY, "{function}();"),
            Insert(_JAVA_BODY, "new {type}();"),
            Insert(_JAVA_BODY, "{type} {name} = null;"),
        ),
        "early return": (
            Insert(_JAVA_BODY, "if ({variable} == null) {\n    throw new IllegalStateException();\n}"),
            Insert(_JAVA_BODY, "if ({variable} > {n}) {\n    return;\n}"),
        ),
        "add decorator": (
            beside("class_body", "@Override", "method_declaration"),
            beside("class_body", "@Deprecated", "method_declaration", "field_declaration"),
            beside("class_body", '@SuppressWarnings("{name}")', "method_declaration", "field_declaration"),
            beside("program", "@FunctionalInterface", "interface_declaration"),
        ),
        "add match arm": (
            beside("switch_block", "case {n}:\n    break;", "switch_block_statement_group"),
            beside("switch_block", "case {n} -> {}", "switch_rule"),
        ),
    },
    entries={
        "add parameter": (Insert("formal_parameters", "int {name}"),),
        "add argument": (Insert("argument_list", "{n}"),),
        "add list item": (Insert("array_initializer", "{n}"),),
        "add variant": (Insert("enum_body", "{Name}"),),
    },
    copied=frozenset(
        {
            "method_declaration",
            "class_declaration",
            "field_declaration",
            "interface_declaration",
            "enum_constant",
            "constructor_declaration",
        }
    ),
    statements=frozenset({"block", "constructor_body"}),
    functions=frozenset({"method_declaration", "constructor_declaration"}),
    types=frozenset({"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}),
    parameters=frozenset({"formal_parameters"}),
    calls=frozenset({"method_invocation", "object_creation_expression"}),
    arguments=frozenset({"argument_list"}),
    lists=frozenset({"argument_list", "array_initializer", "formal_parameters"}),
    constants=frozenset({"decimal_integer_literal", "string_literal"}),
    identifiers=frozenset({"identifier", "type_identifier"}),
    moved=frozenset({"import_declaration"}),
    parameter="int {name}",
)

_C_BODY: Final = "compound_statement"

C: Final = Grammar(
    "c",
    ".c",
    lines={
        "add import": (
            beside("translation_unit", "#include <stddef.h>", "preproc_include"),
            beside("translation_unit", "#define {Name} {n}", "preproc_include", "preproc_def"),
        ),
        "add function": (
            Insert("translation_unit", "\nint {name}(int value)\n{\n    return value + {n};\n}\n"),
            Insert("translation_unit", "\nstatic int {name}(void);\n"),
            Insert("translation_unit", "\nstruct {name} {\n    int size;\n};\n"),
            Insert("translation_unit", "\ntypedef int {name};\n"),
        ),
        "add constant": (
            Insert("translation_unit", "static const int {name} = {n};"),
            Insert("translation_unit", "int {name};"),
        ),
        "add field": (
            Insert("field_declaration_list", "int {name};"),
            Insert("field_declaration_list", "const char *{name};"),
        ),
        "add local": (Insert(_C_BODY, "int {name} = {n};"),),
        "add statement": (Insert(_C_BODY, "{variable} = {n};"), Insert(_C_BODY, "{variable}++;"), Insert(_C_BODY, ";")),
        "add use": (
            Insert(_C_BODY, "{function}({n});"),
            Insert(_C_BODY, "(void) sizeof(struct {type});"),
            Insert(_C_BODY, "(void) {variable};"),
        ),
        "early return": (Insert(_C_BODY, "if ({variable})\n    return {n};"), Insert(_C_BODY, "return;")),
        "add match arm": (beside("compound_statement<switch_statement", "case {n}:\n    break;", "case_statement"),),
    },
    entries={
        "add parameter": (Insert("parameter_list", "int {name}"),),
        "add argument": (Insert("argument_list", "{n}"),),
        "add list item": (Insert("initializer_list", "{n}"),),
        "add key": (Insert("initializer_list", ".{name} = {n}"),),
        "take next number": (Insert("enumerator_list", "{Name} = {next}"), Insert("enumerator_list", "{Name}")),
    },
    copied=frozenset(
        {
            "function_definition",
            "declaration",
            "field_declaration",
            "struct_specifier",
            "preproc_def",
            "type_definition",
        }
    ),
    statements=frozenset({"compound_statement"}),
    functions=frozenset({"function_definition"}),
    types=frozenset({"struct_specifier", "enum_specifier"}),
    parameters=frozenset({"parameter_list"}),
    calls=frozenset({"call_expression"}),
    arguments=frozenset({"argument_list"}),
    lists=frozenset({"argument_list", "initializer_list", "enumerator_list"}),
    constants=frozenset({"number_literal", "string_literal"}),
    identifiers=frozenset({"identifier", "field_identifier", "type_identifier"}),
    moved=frozenset({"preproc_include"}),
    parameter="int {name}",
    comment="/* {} */",
)

CPP: Final = replace(
    C,
    name="cpp",
    suffix=".cpp",
    lines={
        **C.lines,
        "add import": (
            beside("translation_unit", "#include <vector>", "preproc_include"),
            beside("translation_unit", "using {name} = int;", "preproc_include", "using_declaration"),
        ),
        "add member": (
            Insert("field_declaration_list", "int {name}() const { return {n}; }"),
            Insert("field_declaration_list", "virtual void {name}() = 0;"),
            Insert("field_declaration_list", "static int {name}(int value);"),
            Insert("field_declaration_list", "explicit {Name}(int value);"),
        ),
        "add use": (*C.lines["add use"], Insert(_C_BODY, "{type}{};"), Insert(_C_BODY, "auto {name} = {variable};")),
    },
    entries={**C.entries, "add parameter": (*C.entries["add parameter"], Insert("parameter_list", "int {name} = {n}"))},
    types=C.types | {"class_specifier"},
    copied=C.copied | {"class_specifier"},
    statements=frozenset({"compound_statement"}),
    comment="// {}",
)
