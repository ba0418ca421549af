"""Python, JavaScript, TypeScript, PHP and Ruby: what edits put into their programs."""

from dataclasses import replace
from typing import Final

from bench.merging.generated.grammar import Grammar, Insert, beside

_PYTHON_BODY: Final = "block<function_definition"

PYTHON: Final = Grammar(
    "python",
    ".py",
    lines={
        "add import": (
            beside("module", "import json", "import_statement", "import_from_statement"),
            beside("module", "from math import floor", "import_statement", "import_from_statement"),
            beside("module", "import math as {name}", "import_statement", "import_from_statement"),
        ),
        "add function": (
            Insert("module", "\n\ndef {name}(value, other={n}):\n    return value + other\n\n\n"),
            Insert("module", "\n\nclass {Name}:\n    size = {n}\n\n\n"),
        ),
        "add constant": (Insert("module", "{name} = {n}"), Insert("module", "{name} = {variable}")),
        "add member": (
            Insert("block<class_definition", "\ndef {name}(self):\n    return {n}\n"),
            Insert("block<class_definition", "\n@property\ndef {name}(self):\n    return {n}\n"),
        ),
        "add field": (
            Insert("block<class_definition", "{name} = {n}"),
            Insert("block<class_definition", "{name}: int = {n}"),
            Insert("block<class_definition", "{name}: int"),
        ),
        "take next number": (Insert("block<class_definition", "{name} = {next}"), Insert("module", "{name} = {next}")),
        "add local": (Insert(_PYTHON_BODY, "{name} = {n}"), Insert(_PYTHON_BODY, "{name} = {variable}")),
        "add statement": (
            Insert(_PYTHON_BODY, "print({n})"),
            Insert(_PYTHON_BODY, "{variable} = {n}"),
            Insert(_PYTHON_BODY, "{variable} += {n}"),
            Insert(_PYTHON_BODY, "{variable}.append({n})"),
            Insert(_PYTHON_BODY, "del {variable}"),
        ),
        "add use": (
            Insert(_PYTHON_BODY, "{function}()"),
            Insert(_PYTHON_BODY, "{type}({n})"),
            Insert("module", "{function}()"),
        ),
        "early return": (
            Insert(_PYTHON_BODY, "return {n}"),
            Insert(_PYTHON_BODY, "if {variable}:\n    return {n}"),
            Insert(_PYTHON_BODY, "if not {variable}:\n    raise ValueError({n})"),
        ),
        "add decorator": (
            beside("block<class_definition", "@staticmethod", "function_definition"),
            beside("module", "@functools.cache", "function_definition"),
        ),
        "add match arm": (Insert("block<match_statement", "case {n}:\n    pass"),),
    },
    entries={
        "add parameter": (
            Insert("parameters", "{name}={n}"),
            Insert("parameters", "*, {name}={n}"),
            Insert("parameters", "{name}"),
        ),
        "add argument": (Insert("argument_list", "{name}={n}"), Insert("argument_list", "{n}")),
        "add list item": (
            Insert("list", "{n}"),
            Insert("tuple", "{n}"),
            Insert("set", "{n}"),
            Insert("list", "'{name}'"),
        ),
        "add key": (Insert("dictionary", "'{name}': {n}"),),
    },
    copied=frozenset({"function_definition", "class_definition", "assignment"}),
    statements=frozenset({"block", "module"}),
    functions=frozenset({"function_definition"}),
    types=frozenset({"class_definition"}),
    parameters=frozenset({"parameters"}),
    calls=frozenset({"call"}),
    arguments=frozenset({"argument_list"}),
    lists=frozenset({"argument_list", "list", "dictionary", "parameters"}),
    constants=frozenset({"integer", "string"}),
    parameter="{name}",
    comment="# {}",
)

_SCRIPT_BODY: Final = "statement_block"

JAVASCRIPT: Final = Grammar(
    "javascript",
    ".js",
    lines={
        "add import": (
            beside("program", 'import {name} from "./{name}.js";', "import_statement"),
            beside("program", 'import {{name}} from "./shapes.js";', "import_statement"),
        ),
        "add function": (
            Insert("program", "\nexport function {name}(value, other = {n}) {\n    return value + other;\n}\n"),
            Insert("program", "\nfunction {name}(value) {\n    return value;\n}\n"),
        ),
        "add constant": (Insert("program", "const {name} = {n};"), Insert("program", "export const {name} = {n};")),
        "add member": (
            Insert("class_body", "\n{name}() {\n    return {n};\n}\n"),
            Insert("class_body", "\nget {name}() {\n    return {n};\n}\n"),
            Insert("class_body", "\nstatic {name}(value) {\n    return value;\n}\n"),
        ),
        "add field": (Insert("class_body", "{name} = {n};"), Insert("class_body", "static {name} = {n};")),
        "add local": (
            Insert(_SCRIPT_BODY, "const {name} = {n};"),
            Insert(_SCRIPT_BODY, "let {name} = {variable};"),
        ),
        "add statement": (
            Insert(_SCRIPT_BODY, "console.log({n});"),
            Insert(_SCRIPT_BODY, "{variable} = {n};"),
            Insert(_SCRIPT_BODY, "{variable}.push({n});"),
            Insert(_SCRIPT_BODY, "delete {variable}.{name};"),
        ),
        "add use": (Insert(_SCRIPT_BODY, "{function}({n});"), Insert(_SCRIPT_BODY, "new {type}();")),
        "early return": (
            Insert(_SCRIPT_BODY, "if ({variable}) {\n    return {variable};\n}"),
            Insert(_SCRIPT_BODY, "if (!{variable}) {\n    throw new Error('{name}');\n}"),
        ),
        "add match arm": (
            Insert("switch_body", "case {n}:\n    break;"),
            Insert("switch_body", 'case "{name}":\n    break;'),
        ),
    },
    entries={
        "add parameter": (Insert("formal_parameters", "{name} = {n}"), Insert("formal_parameters", "{name}")),
        "add argument": (Insert("arguments", "{n}"),),
        "add list item": (Insert("array", "{n}"), Insert("array", '"{name}"')),
        "add key": (
            Insert("object", "{name}: {n}"),
            Insert("object", "{name}() {}"),
            Insert("object", '"{name}": {n}'),
        ),
        "add imported name": (Insert("named_imports", "{name}"), Insert("export_clause", "{function}")),
    },
    copied=frozenset({"function_declaration", "class_declaration", "method_definition", "lexical_declaration", "pair"}),
    statements=frozenset({"statement_block", "program"}),
    functions=frozenset({"function_declaration", "method_definition"}),
    types=frozenset({"class_declaration"}),
    parameters=frozenset({"formal_parameters"}),
    calls=frozenset({"call_expression"}),
    arguments=frozenset({"arguments"}),
    lists=frozenset({"arguments", "array", "object", "formal_parameters", "named_imports"}),
    constants=frozenset({"number", "string"}),
    identifiers=frozenset({"identifier", "property_identifier"}),
    parameter="{name}",
)

TYPESCRIPT: Final = replace(
    JAVASCRIPT,
    name="typescript",
    suffix=".ts",
    lines={
        **JAVASCRIPT.lines,
        "add function": (
            Insert(
                "program",
                "\nexport function {name}(value: number, other = {n}): number {\n    return value + other;\n}\n",
            ),
            Insert("program", "\ninterface {Name} {\n    size: number;\n}\n"),
            Insert("program", "\ntype {Name} = {n};\n"),
        ),
        "add member": (
            Insert("class_body", "\n{name}(): number {\n    return {n};\n}\n"),
            Insert("class_body", "\nget {name}(): number {\n    return {n};\n}\n"),
            Insert("interface_body", "{name}(value: number): void;"),
            Insert("class_body", "\nabstract {name}(): void;"),
        ),
        "add field": (
            Insert("class_body", "{name} = {n};"),
            Insert("class_body", "private readonly {name}: string = '{n}';"),
            Insert("interface_body", "{name}: number;"),
            Insert("interface_body", "{name}?: string;"),
            Insert("object_type", "{name}: number;"),
        ),
        "add use": (
            Insert(_SCRIPT_BODY, "{function}({n});"),
            Insert(_SCRIPT_BODY, "new {type}();"),
            Insert(_SCRIPT_BODY, "let {name}: {type};"),
            Insert("program", "declare const {name}: {type};"),
        ),
    },
    entries={
        **JAVASCRIPT.entries,
        "add parameter": (
            Insert("formal_parameters", "{name} = {n}"),
            Insert("formal_parameters", "{name}?: number"),
            Insert("formal_parameters", "{name}: number"),
        ),
        "take next number": (Insert("enum_body", "{Name} = {next}"), Insert("enum_body", "{Name}")),
    },
    copied=JAVASCRIPT.copied
    | {
        "interface_declaration",
        "type_alias_declaration",
        "enum_declaration",
        "property_signature",
        "method_signature",
        "public_field_definition",
    },
    functions=JAVASCRIPT.functions | {"method_signature", "function_signature"},
    types=frozenset({"class_declaration", "interface_declaration", "enum_declaration", "type_alias_declaration"}),
    lists=JAVASCRIPT.lists | {"enum_body"},
    identifiers=frozenset({"identifier", "property_identifier", "type_identifier"}),
    parameter="{name}: number",
)

_PHP_BODY: Final = "compound_statement"

PHP: Final = Grammar(
    "php",
    ".php",
    lines={
        "add import": (
            beside("program", "use Added\\{Name};", "namespace_use_declaration"),
            beside("program", "use Other\\{Name};", "namespace_use_declaration"),
        ),
        "add function": (
            Insert("program", "\nfunction {name}($value, $other = {n})\n{\n    return $value;\n}\n"),
            Insert("program", "\nclass {Name}\n{\n    public $size = {n};\n}\n"),
        ),
        "add constant": (Insert("declaration_list", "const {Name} = {n};"), Insert("program", "const {Name} = {n};")),
        "add member": (
            Insert("declaration_list", "\npublic function {name}()\n{\n    return {n};\n}\n"),
            Insert("declaration_list", "\nprivate static function {name}($value)\n{\n    return $value;\n}\n"),
            Insert("declaration_list", "\nabstract protected function {name}();\n"),
        ),
        "add field": (
            Insert("declaration_list", "private ${name} = {n};"),
            Insert("declaration_list", "public static ${name} = {n};"),
        ),
        "add local": (Insert(_PHP_BODY, "${name} = {n};"),),
        "add statement": (
            Insert(_PHP_BODY, "echo {n};"),
            Insert(_PHP_BODY, "{variable} = {n};"),
            Insert(_PHP_BODY, "{variable}[] = {n};"),
            Insert(_PHP_BODY, "unset({variable});"),
        ),
        "add use": (Insert(_PHP_BODY, "{function}({n});"), Insert(_PHP_BODY, "new {type}();")),
        "early return": (Insert(_PHP_BODY, "if ({variable}) {\n    return;\n}"), Insert(_PHP_BODY, "return {n};")),
        "add match arm": (Insert("switch_block", "case {n}:\n    break;"),),
        "take next number": (
            Insert("enum_declaration_list", "case {Name} = {next};"),
            Insert("enum_declaration_list", "case {Name};"),
        ),
    },
    entries={
        "add parameter": (Insert("formal_parameters", "${name} = {n}"), Insert("formal_parameters", "${name}")),
        "add argument": (Insert("arguments", "{n}"), Insert("arguments", "{name}: {n}")),
        "add list item": (Insert("array_creation_expression", "{n}"),),
        "add key": (Insert("array_creation_expression", "'{name}' => {n}"),),
    },
    copied=frozenset(
        {"function_definition", "class_declaration", "method_declaration", "property_declaration", "const_declaration"}
    ),
    statements=frozenset({"compound_statement"}),
    functions=frozenset({"function_definition", "method_declaration"}),
    types=frozenset({"class_declaration", "interface_declaration"}),
    parameters=frozenset({"formal_parameters"}),
    calls=frozenset({"function_call_expression", "member_call_expression"}),
    arguments=frozenset({"arguments"}),
    lists=frozenset({"arguments", "array_creation_expression", "formal_parameters"}),
    constants=frozenset({"integer", "string"}),
    identifiers=frozenset({"variable_name"}),
    moved=frozenset({"namespace_use_declaration"}),
    parameter="${name}",
)

_RUBY_BODY: Final = "body_statement<method"

RUBY: Final = Grammar(
    "ruby",
    ".rb",
    lines={
        "add import": (beside("program", "require 'json'", "call"), beside("program", "require '{name}'", "call")),
        "add function": (
            Insert("program", "\ndef {name}(value, other = {n})\n  value + other\nend\n"),
            Insert("program", "\nclass {Name}\n  SIZE = {n}\nend\n"),
        ),
        "add constant": (Insert("program", "{Name} = {n}"), Insert("body_statement<class", "{Name} = {n}")),
        "add member": (
            Insert("body_statement<class", "\ndef {name}\n  {n}\nend\n"),
            Insert("body_statement<class", "\ndef self.{name}(value)\n  value\nend\n"),
        ),
        "add field": (Insert("body_statement<class", "attr_accessor :{name}"),),
        "add local": (Insert(_RUBY_BODY, "{name} = {n}"), Insert(_RUBY_BODY, "@{name} = {n}")),
        "add statement": (
            Insert(_RUBY_BODY, "puts {n}"),
            Insert(_RUBY_BODY, "{variable} = {n}"),
            Insert(_RUBY_BODY, "{variable} << {n}"),
            Insert(_RUBY_BODY, "{variable} += {n}"),
        ),
        "add use": (Insert(_RUBY_BODY, "{function}"), Insert(_RUBY_BODY, "{type}.new({n})")),
        "early return": (Insert(_RUBY_BODY, "return if {variable}"), Insert(_RUBY_BODY, "return {n}")),
        "add match arm": (Insert("case", "when {n}\n  nil", frozenset({"when"})),),
    },
    entries={
        "add parameter": (
            Insert("method_parameters", "{name}: {n}"),
            Insert("method_parameters", "{name} = {n}"),
            Insert("method_parameters", "{name}"),
        ),
        "add argument": (Insert("argument_list", "{n}"), Insert("argument_list", "{name}: {n}")),
        "add list item": (Insert("array", "{n}"), Insert("array", ":{name}")),
        "add key": (Insert("hash", "{name}: {n}"), Insert("hash", "'{name}' => {n}")),
    },
    copied=frozenset({"method", "class", "singleton_method", "assignment"}),
    statements=frozenset({"body_statement", "then", "block_body", "program"}),
    functions=frozenset({"method", "singleton_method"}),
    types=frozenset({"class", "module"}),
    parameters=frozenset({"method_parameters"}),
    calls=frozenset({"call"}),
    arguments=frozenset({"argument_list"}),
    lists=frozenset({"argument_list", "array", "hash", "method_parameters"}),
    constants=frozenset({"integer", "string"}),
    parameter="{name}",
    comment="# {}",
)
