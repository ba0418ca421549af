"""The promises of a function's head about its body: one side takes it back, new code of the other needs it.

A function that is no longer asynchronous may not wait, one of another type may not return the old value, a method
that became static has no object. Each side alone is right, and head and body are different lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import Rows, changed_rows, rows_with
from commonhold.merging.given_names import names_given_by
from commonhold.merging.layout import FileElement
from commonhold.merging.profile import Profile
from commonhold.merging.syntax import innermost, text_of
from commonhold.merging.verdict import Reason, Spot

_FUNCTION: Final = re.compile(r"function|method|func_literal|constructor|lambda|initializer|\Ainit_")
_BODY: Final = re.compile(r"\A(?:block|body_statement|compound_statement|function_body|statement_block)\Z")
_PARAMETERS: Final = re.compile(r"\A(?:formal_parameters|function_value_parameters|method_parameters|parameters)\Z")
_SUFFIXED: Final = re.compile(r"\A(?:nullable_type|optional_type|user_type)\Z")
_RETURNING: Final = re.compile(
    r"\A(?:control_transfer_statement|jump_expression|return(?:_expression|_statement)?|try_expression)\Z"
)
_CALL: Final = re.compile(rb"(?<![\w.])(?!(?:if|for|while|switch|when|match|return|catch)\b)[\w.]+!?\s*\(")
_EVERYTHING: Final = re.compile(rb"\w+")
# A word of the head; whether losing it matters, or getting it; and the acts of a body that need it, or its absence.
_NEEDS: Final = (
    (rb"\basync\b", True, re.compile(rb"\bawait\b|\basync\s+(?:for|with)\b"), "whether {} is asynchronous"),
    (rb"\bsuspend\b", True, _CALL, "whether {} can be suspended"),
    (rb"\*", True, re.compile(rb"\byield\b"), "whether {} is a generator"),
    (rb"\bthrows\b", True, re.compile(rb"\bthrow\b|\btry\b(?!\s*[{?!])|" + _CALL.pattern), "which errors {} throws"),
    (rb"\bsynchronized\b", True, _EVERYTHING, "whether {} holds a lock"),
    (rb"\bstatic\b", False, re.compile(rb"(?<!\w)(?:this|self|super|base)\b(?!\s*::)"), "whether {} is static"),
    (rb"\bnoexcept\b", False, re.compile(rb"\bthrow\b"), "whether {} throws"),
    (rb"\bconst(?:expr|eval)\b|\bconst\s+(?:unsafe\s+)?fn\b", False, _CALL, "whether {} is constant"),
)
_CHANGING: Final = ((rb"\bmutating\b|\bmut\s+self\b", True), (rb"\breadonly\b|\)\s*(?:noexcept\s*)?const\b", False))
_OBJECT: Final = rb"(?:\b(?:self|this)(?:\.|->)\w+|(?<![\w.>$:])(?:%s)\b)"
_PATH: Final = rb"(?:(?:\.|->)\w+|\[[^\]\n]{0,80}\])*"
_ASSIGNED: Final = (
    rb"\s*(?:(?:[-+*/%|&^]|<<|>>)?=(?!=)|\+\+|--|\.(?:append|clear|extend|insert|pop|push|remove|sort)\w*\()"
)

Key = tuple[bytes, ...]


@dataclass(frozen=True)
class _Function:
    """One version of a function with a body."""

    node: Node
    body: Node

    @cached_property
    def head(self) -> bytes:
        """The text before the body."""
        return (self.node.text or b"")[: self.body.start_byte - self.node.start_byte]

    @cached_property
    def parameters(self) -> Node | None:
        """The list of its parameters."""
        found = self.node.child_by_field_name("parameters")
        return found or next((each for each in self.node.named_children if _PARAMETERS.match(each.type)), None)

    @cached_property
    def type(self) -> bytes:
        """The type of its value as the head writes it; of several values in Go those of all, without names."""
        trailing = next((each for each in _below(self.node, self.body) if each.type == "trailing_return_type"), None)
        fields = map(self.node.child_by_field_name, ("return_type", "result", "returns", "type"))
        found = trailing or next((each for each in fields if each is not None), None)
        if found is None:
            start = self.parameters.end_byte if self.parameters is not None else self.node.start_byte
            behind = (each for each in self.node.named_children if start <= each.start_byte < self.body.start_byte)
            found = next((each for each in behind if _SUFFIXED.match(each.type)), None)
        if found is None:
            return b""
        if found.type == "parameter_list":
            given = (each.child_by_field_name("type") or each for each in found.named_children)
            return b",".join(each.text or b"" for each in given)
        return b" ".join((found.text or b"").lstrip(b":-> ").split())

    def says(self, word: bytes) -> bool:
        """Whether the head says something of the function, not of the type of its value or of a parameter."""
        before = self.head
        if self.parameters is not None and b"self" not in word and b")" not in word:
            start, end = (at - self.node.start_byte for at in (self.parameters.start_byte, self.parameters.end_byte))
            before = before[:start] + before[end:]
        return re.search(word, before) is not None

    @cached_property
    def exits(self) -> int:
        """How often its value is returned."""
        return sum(1 for each in _below(self.body) if _RETURNING.match(each.type))


def broken_promises(base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each function of which one side changed a promise that the other's new code in it needs."""
    for at, (promising, working) in enumerate(((ours, theirs), (theirs, ours))):
        gone, _ = changed_rows(base.source, promising.source)
        heads = {key: each for key, each in _functions(base, gone) if gone.meet(each.node) and _is_head_on(each, gone)}
        if not heads:
            continue
        now = dict(_functions(promising, rows_with(promising.source, {key[-1] for key in heads})))
        bodies = dict(_functions(working, changed_rows(base.source, working.source)[1]))
        for key in heads.keys() & now.keys() & bodies.keys():
            what = _broken(heads[key], now[key], bodies[key], base)
            if what is not None:
                shown = repr(key[-1].decode(errors="replace"))
                why = f"one side changed {what.format(shown)}, and the other's new code in its body relies on that"
                rows = [(each.node.start_point.row, each.body.end_point.row + 1) for each in (now[key], bodies[key])]
                first, second = reversed(rows) if at else rows
                yield Spot(Reason.INTERFERES, why, ours=first, theirs=second)


def _broken(was: _Function, now: _Function, body: _Function, base: FileElement) -> str | None:
    """Return the changed promise that new code in a body needs."""
    if not _is_wider(was.type, now.type) and body.exits > was.exits:
        return "the type of the value of {}"
    lines = set((was.body.text or b"").splitlines())
    code = [line for line in (body.body.text or b"").splitlines() if line not in lines]
    new = b"\n".join(line for line in code if not line.strip().startswith((base.profile.comment_mark, b"*", b"/*")))
    for word, is_lost, sign, what in _NEEDS:
        if was.says(word) is is_lost and now.says(word) is not is_lost and sign.search(new):
            return what
    fields = rb"|".join(map(re.escape, _fields(was.node))) or rb"(?!)"
    members = _OBJECT % fields
    if was.says(rb"\bstatic\b") < now.says(rb"\bstatic\b") and re.search(members, new):
        return "whether {} is static"
    changes = any(was.says(word) is is_lost and now.says(word) is not is_lost for word, is_lost in _CHANGING)
    is_changed = changes and re.search(members + _PATH + _ASSIGNED, new)
    return "whether {} may change its object" if is_changed else None


def _is_wider(was: bytes, now: bytes) -> bool:
    """Whether a type has all the values that another has, as far as the text shows."""
    if now in (was, was + b"?", b"?" + was, b"Optional[" + was + b"]"):
        return True
    variants = [{each.strip() for each in of.split(b"|")} for of in (was, now)]
    return variants[0] <= variants[1]


def _is_head_on(function: _Function, rows: Rows) -> bool:
    first = function.node.start_point.row
    return any(first <= row <= function.body.start_point.row for row in rows.rows)


def _functions(element: FileElement, rows: Rows) -> Iterator[tuple[Key, _Function]]:
    """Yield the functions that meet some rows, each with its name and those of the definitions around it."""
    for node in rows.nodes(element.node):
        if _FUNCTION.search(node.type):
            body = node.child_by_field_name("body") or next(
                (each for each in node.named_children if _BODY.match(each.type)), None
            )
            key = tuple(reversed([*_names_around(node, element.profile)])) if body is not None else ()
            if body is not None and key and key[-1]:
                yield key, _Function(node, body)


def _names_around(node: Node, profile: Profile) -> Iterator[bytes]:
    yield _name(node, profile) or _name(node.parent, profile)
    around = node.parent
    while around is not None:
        if around.type in profile.classes or around.type in profile.functions:
            yield _name(around, profile)
        around = around.parent


def _name(node: Node | None, profile: Profile) -> bytes:
    """Return the name of a definition, or of what holds a function without one."""
    if node is None:
        return b""
    fields = ("name", "declarator", "key", "type") if node.type not in profile.classes else ("name", "type")
    named = next(filter(None, map(node.child_by_field_name, fields)), None)
    return text_of(innermost(named) if named is not None else None)


def _fields(function: Node) -> Iterator[bytes]:
    """Yield the fields of the class around a function that belong to its objects."""
    around = function.parent
    for each in around.named_children if around is not None else ():
        if each.type in {"field_declaration", "property_declaration"} and b"static" not in (each.text or b""):
            declared = (each, *_below(each))
            yield from (name for node in declared for name in names_given_by(node) if b"(" not in name)


def _below(node: Node, until: Node | None = None) -> Iterator[Node]:
    stack = [node]
    while stack:
        each = stack.pop()
        yield from (each,) if each is not node else ()
        stack += (child for child in each.named_children if until is None or child.id != until.id)
