"""Cases in which the order or the number of both sides' additions has a meaning that the text does not show.

Examples are positional fields, members that get the next number, a count beside the counted things, the steps of a
sequence, and an exit before code that the other side wants to run at the end.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from commonhold.merging.effects import effects_of
from commonhold.merging.footprint import footprint_of
from commonhold.merging.layout import Element, Shape
from commonhold.merging.profile import Profile

_QUOTED_OR_NUMBER: Final = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'|(?<![\w.])\d+(?!\w)")
_NUMBER: Final = re.compile(rb"(?<![\w.])\d+(?![\d.])")
_COUNTED_ON: Final = re.compile(rb"\bauto\(\)|\biota\b")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Names of lists whose entries are run or tried in order, or known by position.
_ORDERED: Final = frozenset(
    word
    for line in (
        "args argv before chain chains columns command commands entrypoint fallbacks fieldnames filters handlers",
        "headers hooks instructions interceptors layers loaders middleware middlewares migrations operations order",
        "ordered ordering passes path paths patterns phases pipeline pipelines plugins precedence priorities priority",
        "processors queue route routes script scripts sequence stage stages statements step steps transformers",
        "transforms urlpatterns",
    )
    for word in line.split()
)
# Names of lists whose entries are found by their content.
_UNORDERED: Final = frozenset(
    word
    for line in (
        "all allow allowed allowlist author authors bench bin blocklist categories category classifiers contributors",
        "declarations denied dependencies dependency deny disabled enabled example exclude excluded excludes exports",
        "extend extends extensions extras features hosts ids ignore ignored ignores include includes install keywords",
        "known labels languages maintainers members namespace names origins owners package packages permissions",
        "platforms requirements requires reserved roles scopes skip supported tags targets test topics types whitelist",
    )
    for word in line.split()
)
_TEXT: Final = re.compile(rb"[rbuf]{0,2}(?:\"[^\"\n]*\"|'[^'\n]*')", re.IGNORECASE)
_CONSTANT: Final = re.compile(rb"-?\d[\w.]*|(?:\w+\.)*[A-Z][A-Z\d_]*|[Tt]rue|[Ff]alse|None|null|nil")
_DATA_WORD: Final = re.compile(rb"[^\[\]{}:\n]+")
_DATA_SCALARS: Final = frozenset({"block_sequence_item", "flow_node"})
_CASES: Final = re.compile(rb"\bparametrize\Z|\b(?:it|test|describe)\.(?:\w+\.)?each\Z")
_TYPE_MAKING: Final = re.compile(rb"\b(?:namedtuple|NamedTuple|make_dataclass|make_class|\w*(?:Enum|Flag))\Z")
_SEQUENCES: Final = frozenset(
    {"array", "array_expression", "array_initializer", "block_sequence", "flow_sequence", "list", "initializer_list"}
)
_NAME_FIELDS: Final = ("left", "name", "key", "pattern", "declarator", "field")
# Classes whose constructor is generated from their fields, in the order of these.
_PLACED_BY: Final = re.compile(rb"@(?:\w+\.)*(?:dataclass|define|frozen|mutable|attrs|attr\.s|s|dataclass_transform)\b")
_PLACED_AS: Final = re.compile(rb"\b(?:NamedTuple|Struct)\b")
_CONSTRUCTED_BY: Final = re.compile(rb"@(?:\w+ArgsConstructor|Value|Data)\b")
_BY_NAME_ONLY: Final = re.compile(rb"\bkw_only\s*=\s*True\b")
_LEAVING: Final = frozenset(
    {
        "control_transfer_statement",
        "goto_statement",
        "jump_expression",
        "raise_statement",
        "return",
        "return_expression",
        "return_statement",
        "throw_expression",
        "throw_statement",
    }
)
# Nodes besides calls that may call what does not return.
_CALLING: Final = frozenset({"call", "exit_statement", "macro_invocation", "method_invocation"})
_YIELD_BREAK: Final = re.compile(rb"yield\s+break\b")
_HOOK: Final = re.compile(rb"\.?use[A-Z]")  # React counts these calls, so each must be reached every time
_LOOPS: Final = re.compile(r"\A(?:for|while|do|loop|enhanced_for|repeat|switch|until)")


def renumbered(base: bytes, now: bytes) -> bool:
    """Whether two texts differ in nothing but whole numbers."""
    if base == now:
        return False
    return _QUOTED_OR_NUMBER.sub(_blanked, base) == _QUOTED_OR_NUMBER.sub(_blanked, now)


def _blanked(match: re.Match[bytes]) -> bytes:
    return b"0" if match[0][:1].isdigit() else match[0]


def take_one_number(before: Sequence[Element], mine: Sequence[Element], others: Sequence[Element]) -> bool:
    """Whether both sides continue the numbers before them, and arrive at the same one."""
    runs = [[each for each in run if not (each.is_definition or each.has_body)] for run in (mine, others)]
    if not all(runs):
        return False
    if all(_COUNTED_ON.search(run[0].text) for run in runs):
        return True
    numbers = [_number(each) for each in (*before[-2:], runs[0][0], runs[1][0])]
    if len(numbers) < len(("last but one", "last", "ours", "theirs")) or None in numbers:
        return False
    first = numbers[0] or 0
    return numbers == [first, first + 1, first + 2, first + 2]


def _number(element: Element) -> int | None:
    found = _NUMBER.findall(element.text)
    return int(found[-1]) if len(found) == 1 else None


def is_sequence(holder: Element, new: Sequence[Element]) -> bool:
    """Whether the order of a list, to which both sides add `new` entries at one point, may be observed.

    It may if the list's name says so (`STEPS`, `middleware`), if the file takes entries by position, or if an entry is
    no constant: it may have an effect, or be tried before others. A list with the name of a set (`__all__`,
    `dependencies`) has no order, nor have the cases of a test.
    """
    if holder.list_kind not in _SEQUENCES:
        return False
    name = _name_of(holder.node)
    words = {word.lower() for word in _WORD.findall(name or "")}
    if _makes_a_type(holder.node) or words & _ORDERED or (name is not None and _is_taken_by_place(name, holder.source)):
        return True
    if words & _UNORDERED or _holds_cases(holder.node):
        return False
    return not all(map(_is_constant, new))


def _is_constant(entry: Element) -> bool:
    """Whether an entry has no effect by itself: a text, a number, the name of a constant; in data any word."""
    text = entry.text.removeprefix(b"- ").strip()
    word = _DATA_WORD if entry.list_kind in _DATA_SCALARS else _CONSTANT
    return _TEXT.fullmatch(text) is not None or word.fullmatch(text) is not None


def _is_taken_by_place(name: str, source: bytes) -> bool:
    """Whether a file indexes a list, or iterates over it together with numbers or another list."""
    listed = re.escape(name.encode())
    by_place = rb"\b%s(?:\[\s*-?\d|\.(?:first|last|index|indexOf|pop|shift)\b)" % listed
    numbered = rb"\b(?:enumerate|next|reversed|zip)\((?:[^()\n]*\b)?%s\b" % listed
    return re.search(by_place + b"|" + numbered, source) is not None


def _makes_a_type(node: Node) -> bool:
    """Whether a list is given to a function that makes a type, with a member for each entry, in their order."""
    around = node.parent
    call = around.parent if around is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and _TYPE_MAKING.search(function.text or b"") is not None


def _holds_cases(node: Node) -> bool:
    """Whether a list is given to a function that runs a test once for each entry."""
    around = node.parent
    call = around.parent if around is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and _CASES.search(function.text or b"") is not None


def _name_of(node: Node) -> str | None:
    """Return the name of the nearest named node around a list."""
    around: Node | None = node
    for _ in range(5):
        around = around.parent if around is not None else None
        if around is None:
            return None
        for name in _NAME_FIELDS:
            found = around.child_by_field_name(name)
            if found is not None:
                return (found.text or b"").decode(errors="replace")
        if around.type == "pair" and around.named_children:
            return (around.named_children[0].text or b"").decode(errors="replace")
    return None


def placed(holder: Element) -> tuple[bytes, ...] | None:
    """Return the members of a block or list whose position has a meaning, in order; None if positions mean nothing."""
    has_place = _placing(holder)
    return None if has_place is None else tuple(_known_as(each) for each in holder.children if has_place(each))


def _known_as(element: Element) -> bytes:
    return element.text.partition(b"=")[0].partition(b":")[0].strip()


def _placing(holder: Element) -> Callable[[Element], bool] | None:
    node = holder.node
    while node.type.startswith("preproc_") and node.parent is not None:  # its members belong to the node around it
        node = node.parent
    kind, around = holder.list_kind if node is holder.node else node.type, node.parent
    if around is None:
        return None
    if kind == "enumerator_list":
        return lambda each: b"=" not in each.text
    if kind == "field_declaration_list" and around.type == "struct_specifier":
        return lambda each: each.node.type == "field_declaration" and b"(" not in each.text
    if around.type == "class_declaration" and kind == "class_body":
        marks = next((each.text or b"" for each in around.named_children if each.type == "modifiers"), b"")
        return _is_object_field if _CONSTRUCTED_BY.search(marks) else None
    if around.type == "class_definition" and kind == "block":
        return _placing_in_class(around)
    return None


def _is_object_field(member: Element) -> bool:
    return member.node.type == "field_declaration" and b"static " not in member.text


def _placing_in_class(around: Node) -> Callable[[Element], bool] | None:
    bases = around.child_by_field_name("superclasses")
    inherited = (bases.text or b"") if bases is not None else b""
    outer = around.parent
    decorated = outer is not None and outer.type == "decorated_definition"
    marks = b"\n".join(each.text or b"" for each in outer.children[:-1]) if outer is not None and decorated else b""
    if _BY_NAME_ONLY.search(marks + inherited):
        return None
    if _PLACED_BY.search(marks) or _PLACED_AS.search(inherited):
        return lambda each: b":" in each.text.partition(b"=")[0] and b"ClassVar" not in each.text and _is_plain(each)
    if b"Enum" in inherited or b"Flag" in inherited:
        return lambda each: _COUNTED_ON.search(each.text) is not None
    return None


def _is_plain(element: Element) -> bool:
    return not (element.is_definition or element.has_body or element.is_prose)


def exits_of(elements: Iterable[Element]) -> int:
    """Return at how many points elements may leave their block; an exit inside a definition leaves only that."""
    code = (each for each in elements if not each.is_definition)
    return sum(1 for each in code for _ in _leaving(each.node, each.profile, in_loop=False))


def _leaving(node: Node, profile: Profile, *, in_loop: bool) -> Iterator[Node]:
    kind = node.type
    binding = profile.bindings.get(kind)
    if kind in profile.functions or (binding is not None and binding.is_scope):
        return
    ends = _called(node, profile) in profile.node_effects.leaving or _YIELD_BREAK.match(node.text or b"") is not None
    is_command = kind == "command" and (node.text or b"").partition(b" ")[0] in {b"exit", b"return"}
    if (
        kind in _LEAVING
        or is_command
        or ends
        or (kind in profile.exits and not kind.startswith("yield") and not in_loop)
    ):
        yield node
    for child in node.named_children:
        yield from _leaving(child, profile, in_loop=in_loop or _LOOPS.match(kind) is not None)


def _called(node: Node, profile: Profile) -> str:
    """Return what a node calls: a function, a macro, a method of Java, a construct of PHP."""
    if node.type in profile.calls:
        called = node.child_by_field_name(profile.calls[node.type])
        text = (called.text or b"") if called is not None else b""
    else:
        text = (node.text or b"").partition(b"(")[0].partition(b" ")[0].rstrip(b"!;") if node.type in _CALLING else b""
    return text.decode(errors="replace")


def does_something(element: Element) -> bool:
    """Whether a statement is run for its effect: it calls without using the result, or changes a lasting object."""
    profile = element.profile
    if element.is_definition or element.is_prose or element.node.type in profile.imports:
        return False
    effects = effects_of([element.node], profile)
    footprint = footprint_of([element.node], profile)
    if footprint.changes_items or any(name.startswith(b".") for name in effects.defines):
        return True
    is_kept = any(
        child.type in profile.bindings and not profile.bindings[child.type].mutates for child in _near(element)
    )
    return footprint.does_anything and (not is_kept or any(map(_HOOK.match, effects.calls)))


def _near(element: Element) -> Iterator[Node]:
    yield element.node
    yield from element.node.named_children if element.shape is not Shape.LEAF else ()
