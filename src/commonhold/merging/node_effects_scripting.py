"""The effects of nodes in Python, JavaScript, TypeScript, Ruby, PHP and shells, and in languages of data."""

from dataclasses import replace
from typing import Final

from commonhold.merging.node_effects import NodeEffects, words

PYTHON: Final = NodeEffects(
    plain=words(
        "argument_list as_pattern as_pattern_target assert_statement assignment augmented_assignment",
        "binary_operator block boolean_operator break_statement chevron comparison_operator",
        "concatenated_string conditional_expression continue_statement decorated_definition decorator",
        "dictionary elif_clause else_clause expression_list expression_statement format_expression",
        "format_specifier if_statement interpolation keyword_argument list list_pattern named_expression",
        "not_operator pair parenthesized_expression pass_statement pattern_list raise_statement",
        "return_statement set slice string tuple tuple_pattern type_conversion unary_operator while_statement",
    ),
    inert=words(
        "class_definition ellipsis escape_interpolation escape_sequence false float function_definition",
        "global_statement integer lambda line_continuation none nonlocal_statement string_content string_end",
        "string_start true type type_alias_statement",
    ),
    pure=words(
        "NewType ParamSpec TypeVar abc.abstractmethod abs abstractmethod attrs.define bool cache",
        "cached_property callable cast chr classmethod contextlib.contextmanager contextmanager dataclass",
        "dataclasses.dataclass dataclasses.field field final float frozenset functools.cache",
        "functools.cached_property functools.lru_cache functools.wraps hash id int isinstance issubclass len",
        "logging.getLogger lru_cache object ord os.path.join overload override property pytest.fixture",
        "pytest.mark.asyncio pytest.mark.parametrize pytest.mark.skip pytest.mark.skipif",
        "pytest.mark.usefixtures pytest.mark.xfail range re.compile repr round staticmethod str super",
        "t.NewType t.ParamSpec t.TypeVar t.cast t.final t.overload type typing.NewType typing.TypeVar",
        "typing.cast typing.final typing.overload typing.override",
    ),
    iterating=words("all any dict enumerate list max min next reversed set sorted sum tuple zip"),
    leaving=words("exit os._exit quit sys.exit"),
    imports_run=True,
    assigning_declares=True,
    running=words("class_definition"),
)

JAVASCRIPT: Final = NodeEffects(
    plain=words(
        "arguments array array_pattern assignment_expression assignment_pattern",
        "augmented_assignment_expression binary_expression break_statement catch_clause",
        "computed_property_name continue_statement debugger_statement do_statement else_clause",
        "empty_statement export_statement expression_statement field_definition finally_clause if_statement",
        "labeled_statement lexical_declaration object object_assignment_pattern object_pattern pair",
        "pair_pattern parenthesized_expression return_statement sequence_expression",
        "shorthand_property_identifier_pattern statement_block string switch_body switch_case switch_default",
        "switch_statement template_string template_substitution ternary_expression throw_statement",
        "try_statement unary_expression update_expression variable_declaration variable_declarator",
        "while_statement",
    )
    | {"unary_expression delete"},
    inert=words(
        "arrow_function class class_body class_declaration class_static_block escape_sequence export_clause",
        "false function_declaration function_expression generator_function generator_function_declaration",
        "hash_bang_line html_comment meta_property method_definition namespace_export null number",
        "optional_chain private_property_identifier regex statement_identifier string_fragment super this",
        "true undefined",
    ),
    operators={"unary_expression": frozenset({"delete"})},
    pure=words(
        "Array.isArray Boolean Map Math.abs Math.ceil Math.floor Math.max Math.min Math.round Number",
        "Object.keys Set String Symbol WeakMap WeakSet parseFloat parseInt",
    ),
    importing=words("require"),
    leaving=words("process.exit"),
    creations={"new_expression": "constructor"},
    imports_run=True,
    running=words("class class_declaration"),
)

_JSX: Final = words(
    "jsx_attribute jsx_closing_element jsx_element jsx_expression jsx_opening_element", "jsx_self_closing_element"
)
_JSX_TEXT: Final = words("html_character_reference jsx_text")

TYPESCRIPT: Final = replace(
    JAVASCRIPT,
    plain=(JAVASCRIPT.plain - {"field_definition"})
    | words("as_expression non_null_expression public_field_definition", "satisfies_expression type_assertion"),
    inert=JAVASCRIPT.inert
    | words(
        "abstract_class_declaration abstract_method_signature accessibility_modifier ambient_declaration",
        "call_signature construct_signature enum_declaration function_signature index_signature",
        "interface_declaration internal_module method_signature module override_modifier predefined_type",
        "property_signature type_alias_declaration type_annotation type_arguments",
    ),
)
TSX: Final = replace(TYPESCRIPT, plain=TYPESCRIPT.plain - {"type_assertion"} | _JSX, inert=TYPESCRIPT.inert | _JSX_TEXT)
JAVASCRIPT_WITH_JSX: Final = replace(JAVASCRIPT, plain=JAVASCRIPT.plain | _JSX, inert=JAVASCRIPT.inert | _JSX_TEXT)

RUBY: Final = NodeEffects(
    plain=words(
        "argument_list array assignment begin binary block_body body_statement",
        "break",
        "chained_string",
        "conditional delimited_symbol element_reference else elsif ensure hash if if_modifier interpolation",
        "left_assignment_list next operator_assignment pair parenthesized_statements range return string",
        "string_array symbol_array then unary unless unless_modifier",
    ),
    inert=words(
        "alias bare_string bare_symbol character class class_variable complex empty_statement encoding",
        "escape_sequence false file float hash_key_symbol integer lambda line method module nil operator",
        "rational regex self simple_symbol singleton_method string_content true uninterpreted",
    ),
    operators={"binary": frozenset({"<<", ">>"})},
    pure=words("attr_accessor attr_reader attr_writer"),
    importing=words("require require_relative"),
    leaving=words("abort exit fail raise throw"),
    imports_run=True,
    assigning_declares=True,
    bare_names_call=True,
    without_value=frozenset(),
)

PHP: Final = NodeEffects(
    plain=words(
        "argument arguments array_creation_expression array_element_initializer assignment_expression",
        "augmented_assignment_expression binary_expression break_statement cast_expression colon_block",
        "compound_statement conditional_expression const_declaration const_element continue_statement",
        "else_clause else_if_clause empty_statement encapsed_string expression_statement heredoc heredoc_body",
        "if_statement list_literal nowdoc pair parenthesized_expression return_statement sequence_expression",
        "string throw_expression unary_op_expression update_expression while_statement",
    ),
    inert=words(
        "anonymous_function arrow_function boolean cast_type class_constant_access_expression",
        "class_declaration enum_case enum_declaration escape_sequence float function_definition heredoc_end",
        "heredoc_start integer interface_declaration method_declaration namespace_definition nowdoc_body",
        "nowdoc_string null php_tag property_declaration qualified_name string_content trait_declaration",
        "use_declaration",
    ),
    pure=words(
        "array_key_exists count in_array intval is_array is_int is_null is_string isset max min strlen",
        "strtolower strtoupper trim",
    ),
    leaving=words("die exit"),
    assigning_declares=True,
)

SHELL: Final = NodeEffects(
    plain=words(
        "arithmetic_expansion array binary_expression compound_statement concatenation declaration_command",
        "do_group elif_clause else_clause expansion if_statement list negated_command",
        "parenthesized_expression postfix_expression simple_expansion string subscript test_command",
        "unary_expression variable_assignment variable_assignments",
    ),
    inert=words(
        "ansi_c_string function_definition number raw_string regex special_variable_name string_content",
        "test_operator translated_string",
    ),
    leaving=words("break", "continue exec exit return"),
    imports_run=True,
)

# Nothing in these is run; whether their entries may stand in any order is decided elsewhere.
JSON: Final = NodeEffects(inert=words("array document false null number object pair string true"))
YAML: Final = NodeEffects(
    inert=words(
        "alias anchor block_mapping block_mapping_pair block_node block_scalar block_sequence",
        "block_sequence_item document flow_mapping flow_node flow_pair flow_sequence reserved_directive tag",
        "tag_directive yaml_directive",
    )
)
TOML: Final = NodeEffects(
    inert=words(
        "array bare_key boolean document dotted_key float inline_table integer local_date local_date_time",
        "local_time offset_date_time pair quoted_key string table table_array_element",
    )
)
