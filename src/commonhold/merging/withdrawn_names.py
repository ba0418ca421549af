"""The names that a file no longer defines: functions, types, members, constants and attributes.

Only names that others can use are considered: a name that a body assigns stays inside, unless it is an attribute of the
object.
"""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import WORD, Rows, changed_rows, rows_with
from commonhold.merging.given_names import names_given_by
from commonhold.merging.layout import Element
from commonhold.merging.profile import Profile
from commonhold.merging.prose import lines_of

_ASSIGNING: Final = {"assignment": "left", "preproc_function_def": "name", "variable_declarator": "name"}
_TEXT: Final = re.compile(r"string|symbol|text|content|fragment")
_LOOKING_UP: Final = re.compile(
    rb"(?:[\w.]+[.:>])?(?:__all__\s*\+?=|(?:getattr|hasattr|setattr|delattr|attrgetter|methodcaller|eval|exec|globals\(\)"
    rb"|locals\(\)|patch|object|send|public_send|__send__|respond_to\?|method|instance_method|define_method|const_get"
    rb"|call_user_func|call_user_func_array|is_callable|method_exists|usefixtures|getMethod|getDeclaredMethod|getField"
    rb"|GetMethod|GetProperty|MethodByName|FieldByName|NSSelectorFromString|Reflect\.get)\s*[(\[ ]"
    rb"|(?:Exclude|Extract|Omit|Pick)\s*<)"
)
_LONGEST_CALL: Final = 30
_SET: Final = re.compile(rb"(?:\b(?:self|this)\.|@)(\w+)\s*(?::[^=\n]+)?=(?!=)")


def withdrawn_names(before: Element, after: Element) -> Iterator[tuple[bytes, int]]:
    """Yield the names that are no longer defined, each with the row on which it was."""
    if before.text == after.text or not (before.profile.calls or before.profile.method_calls):
        return
    gone, _ = changed_rows(before.source, after.source)
    were = dict(_defined(before, gone))
    if were:
        present = {name for name, _ in _defined(after, rows_with(after.source, were))}
        yield from ((name, row) for name, row in were.items() if name not in present)


def defines(element: Element, name: bytes) -> bool:
    """Whether a version of a file defines a name that others can use."""
    return name in element.source and any(
        each == name for each, _ in _defined(element, rows_with(element.source, {name}))
    )


def newly_written(before: Element, after: Element) -> dict[bytes, int]:
    """Return the words that are written more often than before, with the row of the last one."""
    gone, come = changed_rows(before.source, after.source)
    old, new = lines_of(before.source), lines_of(after.source)
    known = {word for row in gone.rows for word in WORD.findall(old[row])}
    return {word: row for row in come.rows for word in WORD.findall(new[row]) if word not in known}


def is_code(element: Element, word: bytes, row: int) -> bool:
    """Whether a word on a row is a name, not part of a comment or text; with a dot before it, the name of a member."""
    is_member, bare = word.startswith(b"."), word.lstrip(b".")
    leaves = [node for node in Rows([row]).nodes(element.node) if not node.named_child_count]
    named = (node for node in leaves if node.text == bare and _is_name(node, element.profile))
    if any(not is_member or _is_of_object(node, element.profile) for node in named):
        return True
    written = re.compile(rb"(?<!\w)%s(?!\w)" % re.escape(bare))
    return any(written.search(node.text or b"") and _is_looked_up(node) for node in leaves)


def _is_looked_up(leaf: Node) -> bool:
    """Whether a text is, or contains, a name that running code looks up: in a call that does so, or in `__all__`."""
    node: Node | None = leaf if _TEXT.search(leaf.type) else None
    for _ in range(5):
        node = node.parent if node is not None else None
        if node is None or node.end_point.row - node.start_point.row > _LONGEST_CALL:
            return False
        if _LOOKING_UP.match(node.text or b""):
            return True
    return False


def _is_of_object(node: Node, profile: Profile) -> bool:
    """Whether a name is that of a member; in some languages it may stand without the object."""
    around = node.parent.type if node.parent is not None else ""
    is_reached = around in profile.members or around in profile.method_calls or around in profile.setters
    return is_reached or profile.node_effects.has_outer_variables


def _is_name(node: Node, profile: Profile) -> bool:
    return node.type in profile.identifiers or node.type.endswith(("identifier", "name", "constant"))


def _defined(element: Element, rows: Rows) -> Iterator[tuple[bytes, int]]:
    profile = element.profile
    stack = [element.node] if rows.rows else []
    while stack:
        node = stack.pop()
        if not rows.meet(node):
            continue
        is_function = node.type in profile.functions and node.type not in profile.classes
        yield from ((name, node.start_point.row) for name in _names_of(node, profile, is_function=is_function))
        if not is_function:
            stack += node.named_children


def _names_of(node: Node, profile: Profile, *, is_function: bool) -> Iterator[bytes]:
    if is_function:
        yield from _SET.findall(node.text or b"")
    if node.type in profile.definitions:
        naming = profile.naming.get(node.type)
        name = node.child_by_field_name("name")
        found = naming(node) if naming is not None else (name.text or b"").decode() if name is not None else None
        if found:
            yield found.encode().partition(b"(")[0].rpartition(b".")[2]
        else:
            yield from names_given_by(node)
    elif node.type in _ASSIGNING:
        target = node.child_by_field_name(_ASSIGNING[node.type])
        yield from [target.text or b""] if target is not None and not target.named_child_count else []
    elif node.parent is not None and node.parent.type == "enum_body" and node.type == "property_identifier":
        yield node.text or b""
    else:
        yield from names_given_by(node)
