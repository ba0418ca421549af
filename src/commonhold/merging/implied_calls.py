"""Special methods that a language calls for an operator, a condition, a loop or a text, without their name.

If one side defines, changes or removes such a method, and the other newly writes what calls it, the new code may mean
something else. The objects' types are not known, so a method of any class counts. One table serves all languages:
what calls `__eq__` in Python calls `equals` in Kotlin and `operator==` in C++.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import Rows, changed_rows
from commonhold.merging.layout import Element
from commonhold.merging.node_effects import words
from commonhold.merging.profile import Profile
from commonhold.merging.syntax import declared_name, text_of

_EQUAL: Final = words("__eq__ __ne__ equals Equals op_Equality")
_ORDERED: Final = words("__lt__ __gt__ __le__ __ge__ compareTo CompareTo <=> operator<=> valueOf")
_HASHED: Final = words("__hash__ __eq__ hashCode GetHashCode equals Equals")
_ITERATED: Final = words("__iter__ __next__ __getitem__ [Symbol.iterator] iterator GetEnumerator each")
_TRUE: Final = words("__bool__ __len__")
_TEXT: Final = words("__str__ __repr__ __format__ toString ToString to_s __toString valueOf [Symbol.toPrimitive]")
_ITEM: Final = words("__getitem__ __setitem__ __delitem__ __missing__ [] []= operator[] get set")
_SIGNS: Final = {
    "+": words("add plus + operator+ op_Addition") | _TEXT,
    "-": words("sub minus - operator- op_Subtraction"),
    "*": words("mul times * operator* op_Multiply"),
    "/": words("truediv div / operator/ op_Division"),
    "//": words("floordiv"),
    "%": words("mod rem % operator% op_Modulus"),
    "**": words("pow **"),
    "@": words("matmul"),
    "&": words("and & operator&"),
    "|": words("or | operator|"),
    "^": words("xor ^ operator^"),
    "<<": words("lshift << operator<<"),
    ">>": words("rshift >> operator>>"),
    "==": _EQUAL | words("== operator=="),
    "!=": _EQUAL | words("!= == operator!= operator=="),
    "<": _ORDERED | words("< operator<"),
    ">": _ORDERED | words("> operator>"),
    "<=": _ORDERED | words("<= operator<="),
    ">=": _ORDERED | words(">= operator>="),
    "=~": words("=~"),
    "===": words("==="),
    "in": words("__contains__ contains") | _ITERATED | _HASHED,
    "not in": words("__contains__ contains") | _ITERATED | _HASHED,
    ".": _TEXT,
}
_OPERATIONS: Final = words(
    "augmented_assignment augmented_assignment_expression assignment_expression binary binary_expression",
    "binary_operator comparison_operator compound_assignment_expr equality_expression infix_expression",
    "additive_expression comparison_expression multiplicative_expression operator_assignment",
)
_KINDS: Final = {
    **dict.fromkeys(words("set dictionary set_comprehension dictionary_comprehension"), _HASHED),
    **dict.fromkeys(words("for_statement for_in_clause list_splat spread_element for_in_statement"), _ITERATED),
    **dict.fromkeys(words("foreach_statement for_each_statement enhanced_for_statement for_range_loop"), _ITERATED),
    **dict.fromkeys(words("interpolation template_substitution encapsed_string"), _TEXT),
    **dict.fromkeys(words("subscript subscript_expression element_reference index_expression"), _ITEM),
    "class_definition": words("__init_subclass__"),
    "with_statement": words("__enter__ __exit__ __aenter__ __aexit__"),
    "unary_operator": words("__neg__ __pos__ __invert__"),
}
_CALLS: Final = {
    "bool": _TRUE,
    "dict": _HASHED,
    "frozenset": _HASHED,
    "getattr": words("__getattr__ __getattribute__"),
    "hasattr": words("__getattr__ __getattribute__"),
    "hash": _HASHED,
    "iter": _ITERATED,
    "len": words("__len__"),
    "list": _ITERATED,
    "print": _TEXT,
    "repr": words("__repr__"),
    "set": _HASHED,
    "sorted": _ORDERED | _ITERATED,
    "str": _TEXT,
    "String": _TEXT,
    "JSON.stringify": words("toJSON"),
    "json.Marshal": words("MarshalJSON MarshalText"),
    "fmt.Println": words("String Error"),
    "fmt.Printf": words("String Error"),
    "fmt.Sprint": words("String Error"),
    "fmt.Sprintf": words("String Error"),
}
_CALLED: Final = words("__call__ __invoke operator() invoke")
_SET: Final = words("__setattr__ __set")
_TESTED: Final = words("identifier attribute call subscript")
_SPECIAL: Final = frozenset(
    name
    for names in (*_SIGNS.values(), *_KINDS.values(), *_CALLS.values(), _TRUE, _CALLED, _SET)
    for each in names
    for name in ((each, f"__{each}__", f"__r{each}__", f"__i{each}__") if each.isalpha() else (each,))
)


def changed_specials(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the special methods that a side defined, changed or removed, each with a row."""
    for side, other, rows in zip(
        (before, after), (after, before), changed_rows(before.source, after.source), strict=True
    ):
        for node in rows.nodes(side.node):
            name = _special_name(node, side.profile)
            if name and (node.text or b"") not in other.source and _is_of_known_class(node, other):
                yield name.encode(), node.start_point.row


def implied_anew(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the special methods that new code may call, each with a row."""
    gone, come = changed_rows(before.source, after.source)
    known = Counter(name for name, _ in _implied(before, gone))
    for name, row in _implied(after, come):
        if known[name]:
            known[name] -= 1
        else:
            yield name.encode(), row


def _is_of_known_class(method: Node, other: Element) -> bool:
    """Whether the class around a method, if there is one, may have objects in both versions."""
    around = method.parent
    while around is not None and around.type not in other.profile.classes:
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return name is None or (name.text or b"") in other.source


def _special_name(node: Node, profile: Profile) -> str:
    if node.type not in profile.functions or node.type in profile.classes:
        return ""
    text = "".join(text_of(declared_name(node)).decode(errors="replace").split())
    return text if text in _SPECIAL else ""


def _implied(element: Element, rows: Rows) -> Iterator[tuple[str, int]]:
    for node in rows.nodes(element.node):
        names = _KINDS.get(node.type, frozenset())
        if node.type in _OPERATIONS:
            names = names.union(*(_SIGNS.get(each, _SIGNS.get(each.removesuffix("="), ())) for each in _signs(node)))
            names |= frozenset(f"__{mark}{each}__" for each in names if each.isalpha() for mark in ("", "r", "i"))
        elif node.type in element.profile.calls:
            function = node.child_by_field_name(element.profile.calls[node.type])
            names |= _CALLED | _CALLS.get(
                (function.text or b"").decode(errors="replace") if function is not None else "", frozenset()
            )
        elif node.type in {"assignment", "assignment_expression"} and _sets_a_member(node, element.profile):
            names |= _SET
        elif any(each.type in _TESTED for each in _tests(node)):
            names |= _TRUE
        yield from ((name, node.start_point.row) for name in names)


def _sets_a_member(node: Node, profile: Profile) -> bool:
    left = node.child_by_field_name("left")
    return left is not None and left.type in profile.members


def _signs(node: Node) -> Iterator[str]:
    return (each.type for each in node.children if not each.is_named)


def _tests(node: Node) -> Iterator[Node]:
    """Yield the parts of a node that are only asked whether they are true."""
    if node.type in {"boolean_operator", "not_operator", "assert_statement"}:
        yield from node.named_children[:2]
    elif (condition := node.child_by_field_name("condition")) is not None:
        yield condition
    elif node.type == "conditional_expression":
        yield node.named_children[1]
