"""The effects of nodes in compiled languages."""

from dataclasses import replace
from typing import Final

from commonhold.merging.node_effects import NodeEffects, words

GO: Final = NodeEffects(
    plain=words(
        "argument_list assignment_statement binary_expression block break_statement composite_literal",
        "const_declaration const_spec continue_statement dec_statement default_case expression_case",
        "expression_list expression_statement expression_switch_statement fallthrough_statement if_statement",
        "inc_statement keyed_element literal_element literal_value parenthesized_expression return_statement",
        "short_var_declaration slice_expression statement_list type_assertion_expression",
        "type_conversion_expression unary_expression var_declaration var_spec var_spec_list",
    ),
    inert=words(
        "array_type blank_identifier channel_type empty_statement escape_sequence false field_declaration",
        "field_declaration_list field_identifier float_literal func_literal function_declaration function_type",
        "generic_type imaginary_literal int_literal",
        "interface_type interpreted_string_literal iota map_type method_declaration method_elem nil",
        "package_clause parameter_declaration parameter_list type_elem",
        "package_identifier pointer_type qualified_type raw_string_literal rune_literal slice_type",
        "struct_type true type_arguments type_declaration type_identifier",
    ),
    operators={"unary_expression": frozenset({"<-", "*"})},
    pure=words(
        "bool byte cap complex errors.New float32 float64 int int16 int32 int64 int8 len make max min new",
        "rune string uint uint16 uint32 uint64 uint8",
    ),
    leaving=words("log.Fatal log.Fatalf os.Exit panic"),
    has_outer_variables=True,
    must_be_used=True,
)

RUST: Final = NodeEffects(
    plain=words(
        "arguments array_expression assignment_expression base_field_initializer binary_expression block",
        "break_expression compound_assignment_expr continue_expression else_clause expression_statement",
        "field_initializer field_initializer_list if_expression let_chain let_condition let_declaration",
        "match_arm match_block match_expression mut_pattern parenthesized_expression range_expression",
        "ref_pattern reference_expression reference_pattern return_expression shorthand_field_initializer",
        "struct_expression tuple_expression tuple_pattern type_cast_expression unary_expression",
    ),
    inert=words(
        "associated_type attribute_item boolean_literal char_literal closure_expression const_item crate",
        "empty_statement enum_item escape_sequence extern_crate_declaration field_declaration float_literal",
        "foreign_mod_item function_item function_signature_item generic_type impl_item inner_attribute_item",
        "integer_literal label lifetime macro_definition mod_item mutable_specifier negative_literal",
        "primitive_type raw_string_literal reference_type scoped_identifier scoped_type_identifier self",
        "static_item string_literal struct_item super trait_item type_identifier type_item union_item",
        "unit_expression visibility_modifier",
    ),
    pure=words("Err HashMap::new HashSet::new None Ok Some String::from String::new Vec::new"),
    leaving=words(
        "anyhow::bail anyhow::ensure assert assert_eq assert_ne bail debug_assert ensure panic",
        "std::process::exit todo unimplemented unreachable",
    ),
    declared_first=True,
    without_value=words("expression_statement let_declaration"),
    moving={
        "arguments": "",
        "array_expression": "",
        "assignment_expression": "right",
        "field_initializer": "value",
        "let_declaration": "value",
        "return_expression": "",
        "shorthand_field_initializer": "",
        "tuple_expression": "",
    },
)

JAVA: Final = NodeEffects(
    plain=words(
        "argument_list array_creation_expression array_initializer assert_statement assignment_expression",
        "binary_expression block break_statement cast_expression catch_clause constant_declaration",
        "continue_statement dimensions_expr do_statement expression_statement field_declaration",
        "finally_clause if_statement instanceof_expression labeled_statement local_variable_declaration",
        "parenthesized_expression return_statement ternary_expression throw_statement try_statement",
        "unary_expression update_expression variable_declarator while_statement",
    ),
    inert=words(
        "annotation_type_declaration annotation_type_element_declaration array_type binary_integer_literal",
        "boolean_type character_literal class_declaration class_literal compact_constructor_declaration",
        "constructor_declaration decimal_floating_point_literal decimal_integer_literal dimensions",
        "enum_declaration false floating_point_type generic_type hex_floating_point_literal",
        "hex_integer_literal integral_type interface_declaration lambda_expression marker_annotation",
        "method_declaration method_reference modifiers null_literal octal_integer_literal package_declaration",
        "record_declaration scoped_type_identifier string_literal super this true type_identifier void_type",
    ),
    pure=words(
        "ArrayDeque ArrayList AtomicBoolean AtomicInteger AtomicLong HashMap HashSet LinkedHashMap",
        "LinkedHashSet LinkedList Object StringBuilder TreeMap TreeSet",
    ),
    creations={"object_creation_expression": "type"},
    has_outer_variables=True,
    leaving=words("Runtime.getRuntime().exit System.exit"),
)

KOTLIN: Final = NodeEffects(
    plain=words(
        "as_expression assignment binary_expression block collection_literal do_while_statement if_expression",
        "in_expression interpolation is_expression labeled_expression multi_variable_declaration",
        "parenthesized_expression property_declaration range_expression return_expression string_literal",
        "throw_expression unary_expression value_argument value_arguments variable_declaration when_entry",
        "when_expression when_subject while_statement",
    )
    | {"unary_expression ++", "unary_expression --"},
    inert=words(
        "annotation anonymous_function callable_reference character_literal class_declaration",
        "companion_object enum_entry escape_sequence float_literal function_declaration getter lambda_literal",
        "modifiers multiline_string_literal nullable_type number_literal object_declaration package_header",
        "secondary_constructor setter string_content super_expression this_expression type_alias user_type",
    ),
    operators={"unary_expression": frozenset({"++", "--"})},
    pure=words(
        "arrayListOf arrayOf emptyList emptyMap emptySet hashMapOf hashSetOf listOf mapOf mutableListOf",
        "mutableMapOf mutableSetOf setOf",
    ),
    # The escape stands for a T: the function of Kotlin is not a note of unfinished work.
    leaving=words("\x54ODO assert check checkNotNull error exitProcess require requireNotNull"),
    has_outer_variables=True,
)

_SCALA_PLAIN: Final = ("!=", "%", "&&", "*", "+", "-", "/", "<", "<=", "==", ">", ">=", "||", "to", "until", "->", "::")
SCALA_CHANGING: Final = ("%=", "*=", "++=", "+=", "-=", "/=")

SCALA: Final = NodeEffects(
    plain=words(
        "arguments ascription_expression assignment_expression block case_block case_clause",
        "do_while_expression identifiers if_expression indented_block interpolated_string",
        "interpolated_string_expression interpolation match_expression parenthesized_expression",
        "prefix_expression return_expression throw_expression tuple_expression tuple_pattern val_definition",
        "var_definition while_expression",
    )
    | {f"infix_expression {sign}" for sign in _SCALA_PLAIN + SCALA_CHANGING},
    inert=words(
        "annotation boolean_literal character_literal class_definition comment enum_definition",
        "escape_sequence extension_definition floating_point_literal function_declaration function_definition",
        "generic_type given_definition integer_literal lambda_expression modifiers null_literal",
        "object_definition operator_identifier package_clause package_object string trait_definition",
        "type_definition type_identifier unit val_declaration var_declaration",
    ),
    operators={"infix_expression": frozenset(_SCALA_PLAIN + SCALA_CHANGING)},
    pure=words("List List.empty Map Map.empty None Option Option.empty Seq Seq.empty Set Set.empty Some Vector"),
    leaving=words("assert require sys.error sys.exit"),
    without_value=words("assignment_expression return_expression val_definition var_definition while_expression"),
    has_outer_variables=True,
)

SWIFT: Final = NodeEffects(
    plain=words(
        "additive_expression array_literal as_expression assignment bitwise_operation call_suffix",
        "check_expression comparison_expression conjunction_expression control_transfer_statement",
        "dictionary_literal directly_assignable_expression disjunction_expression else equality_expression",
        "guard_statement if_statement interpolated_expression line_string_literal multi_line_string_literal",
        "multiplicative_expression navigation_suffix nil_coalescing_expression pattern prefix_expression",
        "property_declaration range_expression statements ternary_expression tuple_expression value_argument",
        "value_arguments value_binding_pattern while_statement",
    )
    | {"call_expression ["},
    inert=words(
        "associatedtype_declaration attribute bang bin_literal boolean_literal class_declaration",
        "computed_property deinit_declaration enum_entry function_declaration hex_literal init_declaration",
        "integer_literal lambda_literal line_str_text modifiers multi_line_str_text nil_literal oct_literal",
        "operator_declaration protocol_declaration protocol_function_declaration",
        "protocol_property_declaration raw_string_literal real_literal regex_literal self_expression",
        "special_literal str_escaped_char subscript_declaration super_expression throw_keyword",
        "type_annotation typealias_declaration user_type value_argument_label willset_didset_block",
    ),
    operators={"call_expression": frozenset({"["})},
    pure=words("Bool Double Int String abs max min"),
    leaving=words("assert assertionFailure fatalError precondition preconditionFailure"),
    has_outer_variables=True,
)

C: Final = NodeEffects(
    plain=words(
        "argument_list array_declarator assignment_expression binary_expression break_statement",
        "case_statement cast_expression comma_expression compound_literal_expression compound_statement",
        "conditional_expression continue_statement declaration do_statement else_clause expression_statement",
        "if_statement init_declarator initializer_list initializer_pair parenthesized_expression",
        "pointer_declarator return_statement switch_statement unary_expression update_expression",
        "while_statement",
    ),
    inert=words(
        "alignof_expression attribute_specifier char_literal concatenated_string enum_specifier false",
        "field_declaration field_designator function_declarator function_definition linkage_specification",
        "null number_literal offsetof_expression preproc_def preproc_function_def primitive_type",
        "sized_type_specifier sizeof_expression storage_class_specifier string_literal struct_specifier true",
        "type_definition type_descriptor type_identifier type_qualifier union_specifier",
    ),
    leaving=words("abort assert exit"),
    has_outer_variables=True,
    declared_first=True,
)

CPP: Final = replace(
    C,
    plain=C.plain
    | words("catch_clause condition_clause init_statement subscript_argument_list throw_statement try_statement"),
    inert=C.inert
    | words(
        "access_specifier alias_declaration auto class_specifier concept_definition decltype enumerator",
        "friend_declaration lambda_expression namespace_alias_definition namespace_definition",
        "placeholder_type_specifier qualified_identifier raw_string_literal static_assert_declaration",
        "template_declaration template_type this user_defined_literal using_declaration",
    ),
    operators={"binary_expression": frozenset({"<<", ">>"})},
    pure=words("std::map std::max std::min std::move std::optional std::set std::string std::to_string std::vector"),
    leaving=C.leaving | words("std::abort std::exit std::terminate"),
    classes=frozenset({"declaration"}),
    moving={"call_expression std::move": "arguments"},
)

CSHARP: Final = NodeEffects(
    plain=words(
        "argument argument_list array_creation_expression as_expression assignment_expression",
        "binary_expression block bracketed_argument_list break_statement cast_expression catch_clause",
        "checked_expression conditional_expression continue_statement do_statement empty_statement",
        "expression_statement field_declaration finally_clause if_statement",
        "implicit_array_creation_expression initializer_expression interpolated_string_expression",
        "interpolation is_expression is_pattern_expression local_declaration_statement",
        "parenthesized_expression postfix_unary_expression prefix_unary_expression property_declaration",
        "return_statement throw_expression throw_statement try_statement tuple_expression",
        "variable_declaration variable_declarator while_statement",
    )
    | {f"{fix}fix_unary_expression {sign}" for fix in ("pre", "post") for sign in ("++", "--")},
    inert=words(
        "accessor_list anonymous_method_expression array_type arrow_expression_clause attribute_list",
        "boolean_literal character_literal class_declaration constant_pattern constructor_declaration",
        "conversion_operator_declaration declaration_pattern default_expression delegate_declaration",
        "destructor_declaration discard enum_declaration enum_member_declaration event_declaration",
        "event_field_declaration explicit_interface_specifier file_scoped_namespace_declaration generic_name",
        "implicit_type indexer_declaration integer_literal interface_declaration interpolation_brace",
        "interpolation_quote interpolation_start lambda_expression local_function_statement",
        "method_declaration modifier namespace_declaration null_literal nullable_type operator_declaration",
        "predefined_type raw_string_literal real_literal record_declaration sizeof_expression string_content",
        "string_literal struct_declaration typeof_expression verbatim_string_literal",
    ),
    operators={f"{fix}fix_unary_expression": frozenset({"++", "--"}) for fix in ("pre", "post")},
    pure=words("Dictionary HashSet List Queue Stack StringBuilder nameof object string.IsNullOrEmpty"),
    creations={"object_creation_expression": "type"},
    has_outer_variables=True,
)
