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
_RUST_STATEMENTS: Final = ("let_declaration", "expression_statement")


def _in_rust(text: str) -> Insert:
    """A statement: beside others, so that it does not follow the value of its block."""
    return beside(_RUST_BODY, text, *_RUST_STATEMENTS)


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
            Insert("source_file", "\npub fn {name}<T: Clone>(value: &T) -> T {\n    value.clone()\n}\n"),
            Insert("source_file", "\npub struct {Name} {\n    size: i32,\n}\n"),
            Insert("source_file", "\npub enum {Name} {\n    First,\n    Second(i32),\n}\n"),
            Insert("source_file", "\npub trait {Name} {\n    fn size(&self) -> i32;\n}\n"),
            Insert("source_file", "\npub mod {name} {\n    pub fn size() -> i32 {\n        {n}\n    }\n}\n"),
            Insert("source_file", "\nmacro_rules! {name} {\n    () => {\n        {n}\n    };\n}\n"),
        ),
        "add implementation": (
            Insert("source_file", "\nimpl {type} {\n    pub fn {name}(&self) -> i32 {\n        {n}\n    }\n}\n"),
            *(
                Insert(
                    "source_file", f"\nimpl {trait} for {{type}} {{\n    fn {method} {{\n        todo!()\n    }}\n}}\n"
                )
                for trait, method in (
                    ("Clone", "clone(&self) -> Self"),
                    ("Default", "default() -> Self"),
                    ("PartialEq", "eq(&self, _: &Self) -> bool"),
                    ("From<i32>", "from(_: i32) -> Self"),
                    ("Drop", "drop(&mut self)"),
                )
            ),
        ),
        "add constant": (
            Insert("source_file", "pub const {Name}: i32 = {n};"),
            Insert("source_file", 'pub static {Name}: &str = "{name}";'),
            Insert("declaration_list<impl_item", "const {Name}: i32 = {n};"),
            Insert("declaration_list<trait_item", "const {Name}: i32 = {n};"),
        ),
        "add member": (
            Insert("declaration_list<impl_item", "\npub fn {name}(&self) -> i32 {\n    {n}\n}\n"),
            Insert("declaration_list<impl_item", "\npub fn {name}(value: i32) -> i32 {\n    value + {n}\n}\n"),
            Insert("declaration_list<trait_item", "\nfn {name}(&self) -> i32;\n"),
            Insert("declaration_list<trait_item", "\nfn {name}(&self) -> i32 {\n    {n}\n}\n"),
        ),
        "add field": (Insert("field_declaration_list", "pub {name}: i32,"),),
        "add local": (
            _in_rust("let {name} = {n};"),
            _in_rust("let mut {name} = vec![{n}];"),
            _in_rust("let {name} = &{local};"),
            _in_rust("let {name} = |value: i32| value + {n};"),
        ),
        "shadow": (_in_rust("let {local} = {n};"), _in_rust("let {local} = {local};")),
        "add statement": (
            _in_rust('println!("{name}");'),
            _in_rust("{local} += {n};"),
            _in_rust("{local}.push({n});"),
            _in_rust("drop({local});"),
            _in_rust("assert!({local} > {n});"),
            _in_rust("for _ in 0..{n} {\n    {local} += 1;\n}"),
        ),
        "add use": (
            _in_rust("let _ = {function}();"),
            _in_rust("let _ = {function}({n});"),
            _in_rust("let _: Option<{type}> = None;"),
            Insert("source_file", "pub type {Name} = {type};"),
            Insert("source_file", "pub fn {name}(value: &{type}) -> &{type} {\n    value\n}"),
        ),
        "use a trait": (
            Insert("source_file", "pub fn {name}(value: &{type}) -> {type} {\n    value.clone()\n}"),
            Insert("source_file", 'pub fn {name}(value: &{type}) -> String {\n    format!("{:?}", value)\n}'),
            Insert("source_file", "pub fn {name}() -> {type} {\n    {type}::default()\n}"),
            Insert("source_file", "pub fn {name}(value: &{type}) -> bool {\n    value == value\n}"),
        ),
        "early return": (
            _in_rust("if {n} > 3 {\n    todo!();\n}"),
            _in_rust("if {local} > {n} {\n    return {n};\n}"),
            _in_rust("return {n};"),
        ),
        "add decorator": (
            beside("source_file", "#[derive(Clone)]", "struct_item", "enum_item"),
            beside("source_file", "#[derive(Debug, PartialEq)]", "struct_item", "enum_item"),
            beside("source_file", "#[allow(dead_code)]", "function_item"),
            beside("source_file", "#[must_use]", "function_item"),
            beside("declaration_list<impl_item", "#[inline]", "function_item"),
        ),
        "add match arm": (Insert("match_block", "{n} => todo!(),"), Insert("match_block", "_ => todo!(),")),
        "add variant": (
            Insert("enum_variant_list", "{Name},"),
            Insert("enum_variant_list", "{Name} = {next},"),
            Insert("enum_variant_list", "{Name}(i32),"),
        ),
    },
    entries={
        "add parameter": (Insert("parameters", "{name}: i32"),),
        "add argument": (Insert("arguments", "{n}"),),
        "add derived trait": tuple(
            Insert("token_tree<attribute", trait) for trait in ("Clone", "Copy", "Debug", "Default", "PartialEq")
        ),
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
    locals=frozenset({"let_declaration"}),
    tries=2,  # few are accepted, and rustc judges them in one call
    parameter="{name}: i32",
)

_JAVA_BODY: Final = "block<method_declaration"
_JAVA_STATEMENTS: Final = (
    "local_variable_declaration",
    "expression_statement",
    "if_statement",
    "enhanced_for_statement",
)


def _in_java(text: str) -> Insert:
    """A statement: beside others, so that it does not follow what returns."""
    return beside(_JAVA_BODY, text, *_JAVA_STATEMENTS)


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
            Insert("program", "\nrecord {Name}(int size) {\n}\n"),
            Insert("program", "\nenum {Name} {\n    FIRST, SECOND\n}\n"),
            Insert("class_body", "\nstatic class {Name} {\n    int size = {n};\n}\n"),
            Insert("class_body", "\ninterface {Name} {\n    int size();\n}\n"),
        ),
        "add constant": (
            Insert("class_body", "static final int {Name} = {n};"),
            Insert("interface_body", "int {Name} = {n};"),
        ),
        "add member": (
            Insert("class_body", "\nint {name}() {\n    return {n};\n}\n"),
            Insert("class_body", "\nint {name}(int value) {\n    return value;\n}\n"),
            Insert("class_body", "\nint {name}(long value) {\n    return {n};\n}\n"),
            Insert("class_body", "\nstatic <T> T {name}(T value) {\n    return value;\n}\n"),
            Insert("class_body", "\nabstract int {name}();\n"),
            Insert("class_body", "\nprivate int {name}(String value) {\n    return value.length();\n}\n"),
            Insert("interface_body", "int {name}(int value);"),
            Insert("interface_body", "default int {name}() {\n    return {n};\n}"),
            Insert("enum_body_declarations", "\nint {name}() {\n    return {n};\n}\n"),
        ),
        "add constructor": (
            Insert("class_body", "\n{holder}(int value) {\n}\n"),
            Insert("class_body", "\n{holder}(String value) {\n}\n"),
            Insert("class_body", "\nprivate {holder}() {\n}\n"),
        ),
        "add override": (
            Insert("class_body", '\n@Override\npublic String toString() {\n    return "{name}";\n}\n'),
            Insert("class_body", "\n@Override\npublic int hashCode() {\n    return {n};\n}\n"),
            Insert("class_body", "\npublic boolean equals(Object other) {\n    return this == other;\n}\n"),
        ),
        "add field": (
            Insert("class_body", "int {name} = {n};"),
            Insert("class_body", "final String {name};"),
            Insert("class_body", 'private final String {name} = "{name}";'),
            Insert("class_body", "static int {name};"),
        ),
        "add local": (
            _in_java("int {name} = {n};"),
            _in_java("var {name} = {local};"),
            _in_java("final String {name} = String.valueOf({local});"),
        ),
        "add statement": (
            _in_java("System.out.println({n});"),
            _in_java("{local} = {n};"),
            _in_java("{local} += {n};"),
            _in_java("{local}.add({n});"),
            _in_java("{local}.clear();"),
            _in_java("assert {n} > 1;"),
            _in_java("for (int {name} = 0; {name} < {n}; {name}++) {\n    System.out.println({name});\n}"),
        ),
        "add use": (
            _in_java("{function}();"),
            _in_java("{function}({n});"),
            _in_java("new {type}();"),
            _in_java("new {type}({n}, {n});"),
            _in_java("{type} {name} = null;"),
            Insert("class_body", "{type} {name};"),
            Insert("class_body", "\nstatic class {Name} extends {type} {\n}\n"),
            Insert("class_body", "\nstatic {type} {name}() {\n    return new {type}();\n}\n"),
        ),
        "early return": (
            _in_java("if ({local} == null) {\n    throw new IllegalStateException();\n}"),
            _in_java("if ({local} > {n}) {\n    return {n};\n}"),
            _in_java("if ({n} > 3) {\n    throw new IllegalStateException();\n}"),
            _in_java("if ({n} > 3) {\n    return {n};\n}"),
        ),
        "add decorator": (
            beside("class_body", "@Override", "method_declaration"),
            beside("class_body", "@Deprecated", "method_declaration", "field_declaration"),
            beside("class_body", '@SuppressWarnings("{name}")', "method_declaration", "field_declaration"),
            beside("program", "@FunctionalInterface", "interface_declaration"),
            beside("program", "@Deprecated", "class_declaration", "enum_declaration"),
        ),
        "add match arm": (
            beside("switch_block", "case {n}:\n    break;", "switch_block_statement_group"),
            beside("switch_block", "case {n}:\n    return {n};", "switch_block_statement_group"),
            beside("switch_block", "case {n} -> {}", "switch_rule"),
        ),
    },
    entries={
        "add parameter": (Insert("formal_parameters", "int {name}"),),
        "add argument": (Insert("argument_list", "{n}"),),
        "add list item": (Insert("array_initializer", "{n}"),),
        "add variant": (Insert("enum_body", "{Name}"),),
        "add interface": (Insert("type_list", "Cloneable"), Insert("type_list", "java.io.Serializable")),
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
    locals=frozenset({"local_variable_declaration"}),
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

_CPP_BODY: Final = "compound_statement<function_definition"
_CPP_STATEMENTS: Final = ("declaration", "expression_statement", "if_statement", "for_range_loop")


def _in_cpp(text: str) -> Insert:
    """A statement: beside others."""
    return beside(_CPP_BODY, text, *_CPP_STATEMENTS)


CPP: Final = replace(
    C,
    name="cpp",
    suffix=".cpp",
    lines={
        **C.lines,
        "add import": (
            beside("translation_unit", "#include <vector>", "preproc_include"),
            beside("translation_unit", "#include <algorithm>", "preproc_include"),
            beside("translation_unit", "using {name} = int;", "preproc_include", "using_declaration"),
        ),
        "add function": (
            *C.lines["add function"],
            Insert("declaration_list", "\nint {name}(int value) {\n    return value + {n};\n}\n"),
            Insert("declaration_list", "\nint {name}(const char *value) {\n    return {n};\n}\n"),
            Insert("declaration_list", "\ntemplate <typename T> T {name}(T value) {\n    return value;\n}\n"),
            Insert("declaration_list", "\nclass {Name} {\npublic:\n    int size = {n};\n};\n"),
            Insert("declaration_list", "\nenum class {Name} { first, second };\n"),
            Insert("declaration_list", "\nnamespace {name} {\nconst int size = {n};\n}\n"),
        ),
        "add constant": (
            *C.lines["add constant"],
            Insert("declaration_list", "constexpr int {name} = {n};"),
            Insert("declaration_list", "static_assert({n} > 1);"),
        ),
        "add member": (
            Insert("field_declaration_list", "int {name}() const { return {n}; }"),
            Insert("field_declaration_list", "int {name}(int value) { return value; }"),
            Insert("field_declaration_list", "virtual void {name}() = 0;"),
            Insert("field_declaration_list", "virtual int {name}() { return {n}; }"),
            Insert("field_declaration_list", "static int {name}(int value);"),
            Insert("field_declaration_list", "template <typename T> T {name}(T value) { return value; }"),
        ),
        "add constructor": (
            Insert("field_declaration_list", "explicit {holder}(int value) {}"),
            Insert("field_declaration_list", "{holder}(const {holder} &) = delete;"),
            Insert("field_declaration_list", "{holder}() = default;"),
            Insert("field_declaration_list", "virtual ~{holder}() {}"),
        ),
        "add operator": (
            Insert("field_declaration_list", "bool operator==(const {holder} &) const { return true; }"),
            Insert("declaration_list", "inline bool operator<(const {type} &, const {type} &) { return false; }"),
        ),
        "add section": (Insert("field_declaration_list", "private:"), Insert("field_declaration_list", "public:")),
        "add local": (
            _in_cpp("int {name} = {n};"),
            _in_cpp("auto {name} = {local};"),
            _in_cpp("const auto &{name} = {local};"),
            _in_cpp("auto {name} = [](int value) { return value + {n}; };"),
        ),
        "add statement": (
            *C.lines["add statement"],
            _in_cpp("{local} = {n};"),
            _in_cpp("{local} += {n};"),
            _in_cpp("{local}.push_back({n});"),
            _in_cpp("{local}.clear();"),
            _in_cpp("for (int {name} = 0; {name} < {n}; ++{name}) {\n}"),
        ),
        "add use": (
            *C.lines["add use"],
            _in_cpp("{type}{};"),
            _in_cpp("{type}({n}, {n});"),
            _in_cpp("auto {name} = {function}({n});"),
            Insert("declaration_list", "inline {type} *{name}({type} *value) { return value; }"),
            Insert("declaration_list", "class {Name} : public {type} {};"),
            Insert("declaration_list", "inline bool {name}(const {type} &value) { return value == value; }"),
        ),
        "early return": (
            _in_cpp("if ({local})\n    return {n};"),
            _in_cpp("if ({local} > {n}) {\n    return {n};\n}"),
            _in_cpp("if ({n} > 3) {\n    throw {n};\n}"),
        ),
    },
    entries={**C.entries, "add parameter": (*C.entries["add parameter"], Insert("parameter_list", "int {name} = {n}"))},
    types=C.types | {"class_specifier"},
    copied=C.copied | {"class_specifier"},
    statements=frozenset({"compound_statement"}),
    locals=frozenset({"declaration"}),
    comment="// {}",
)
