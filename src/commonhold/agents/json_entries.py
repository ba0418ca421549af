"""Our entries in a JSON file of the user: put in and taken out so that nothing else in it moves.

Taking out restores, byte for byte, the text before putting in. This works because a container that the user had keeps
its brackets in place (into an empty one the first entry goes right behind its bracket), while in one that we made the
first entry begins a line.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from commonhold.agents.json_text import Node, parse

_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_BLANK: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DEFAULT_INDENT: Final = "  "
Own = Callable[[Any], bool]


class InTheWayError(ValueError):
    """The user's file has another type of value where an entry belongs: an object is needed, or an array."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value that is wanted in the file: an item of the array at `path`, or the member `key` of the object there."""

    path: tuple[str, ...]
    value: Any
    key: str | None = None


def installed(text: str | None, entries: Sequence[Entry], is_ours: Own) -> str:
    """Return the file with these entries of ours and no others. Raises NotJsonError and InTheWayError.

    A member of another author under the name of one of ours is left as it is.
    """
    if text is not None and is_installed(text, entries, is_ours):
        return text
    bare = None if text is None else removed(text, entries, is_ours)
    if bare is None or not bare.strip():
        made = "{}"
        for entry in entries:
            made = _put(made, entry)
        made = json.dumps(parse(made).value, indent=2, ensure_ascii=False)
        return f"{made}\n" if bare is None else f"{bare}{made}"
    for entry in entries:
        bare = _put(bare, entry)
    return bare


def is_installed(text: str, entries: Sequence[Entry], is_ours: Own) -> bool:
    """Whether all the entries are there as they are wanted, and no others of ours."""
    if not text.strip():
        return not entries
    root = parse(text)
    wanted = [entry for entry in entries if not _is_taken(root, entry, is_ours)]
    return all(_holds(root, entry) for entry in wanted) and len(_mine(root, entries, is_ours)) == len(wanted)


def taken(text: str | None, entries: Sequence[Entry], is_ours: Own) -> tuple[Entry, ...]:
    """Return the entries whose names another author has used in the file."""
    if text is None or not text.strip():
        return ()
    root = parse(text)
    return tuple(entry for entry in entries if _is_taken(root, entry, is_ours))


def removed(text: str, entries: Sequence[Entry], is_ours: Own) -> str | None:
    """Return the file without our entries in the members that `entries` are in; None if it contained nothing else.

    Raises NotJsonError.
    """
    if not text.strip():
        return text
    while True:
        root = parse(text)
        mine = _mine(root, entries, is_ours)
        if not mine:
            return text
        # The last goes first: the entry that was put in first is then alone in its container, as it was then.
        target = _outermost(root, mine[-1], text)
        if target is root:
            before, after = text[: root.start], text[root.end :]
            return None if not before and after == "\n" else before + after
        text = _cut(text, root, target)


def _mine(root: Node, entries: Sequence[Entry], is_ours: Own) -> list[Node]:
    """Return the outermost entries of ours, in order: members of objects and items of arrays."""
    tops = {entry.path[0] for entry in entries}
    return [found for top in root.items if top.key in tops for found in _inside(top, is_ours)]


def _inside(place: Node, is_ours: Own) -> Iterator[Node]:
    for each in place.items:
        if is_ours(each.value):
            yield each
        else:
            yield from _inside(each, is_ours)


def _parent(root: Node, child: Node) -> Node:
    return next(node for node in root.walk() if child in node.items)


def _outermost(root: Node, node: Node, text: str) -> Node:
    """Return the node to remove with the entry: the containers that we made for it and that contain nothing else."""
    while node is not root:
        parent = _parent(root, node)
        is_made_by_us = len(parent.items) == 1 and text[parent.start + 1 : node.begin].lstrip(" \t")[:1] in ("\n", "\r")
        has_comment = bool(text[parent.start + 1 : node.begin].strip() or text[node.end : parent.end - 1].strip())
        if not is_made_by_us or has_comment:
            return node
        node = parent
    return root


def _cut(text: str, root: Node, node: Node) -> str:
    parent = _parent(root, node)
    begin = len(text[: node.begin].rstrip())
    if node.comma is not None:
        return text[:begin] + text[node.comma + 1 :]
    place = parent.items.index(node)
    comma = parent.items[place - 1].comma if place else None
    text = text[:begin] + text[node.end :]
    return text if comma is None else text[:comma] + text[comma + 1 :]


def _is_taken(root: Node, entry: Entry, is_ours: Own) -> bool:
    if entry.key is None:
        return False
    place = _at(root, entry.path)
    member = place.member(entry.key) if place is not None else None
    return member is not None and not is_ours(member.value)


def _holds(root: Node, entry: Entry) -> bool:
    place = _at(root, entry.path)
    if place is None:
        return False
    if entry.key is None:
        return any(each.value == entry.value for each in place.items)
    member = place.member(entry.key)
    return member is not None and member.value == entry.value


def _at(root: Node, path: Sequence[str]) -> Node | None:
    place: Node | None = root
    for name in path:
        place = place.member(name) if place is not None else None
    return place


def _put(text: str, entry: Entry) -> str:
    place, left = parse(text), list(entry.path)
    _check(place, (), is_array=False)
    done: list[str] = []
    while left and (inner := place.member(left[0])) is not None:
        done.append(left.pop(0))
        place = inner
        _check(place, done, is_array=not left and entry.key is None)
    if not left and entry.key is not None and place.member(entry.key) is not None:
        return text
    if not left:
        return _insert(text, place, entry.key, entry.value)
    name, *inside = left
    value: Any = [entry.value] if entry.key is None else {entry.key: entry.value}
    for each in reversed(inside):
        value = {each: value}
    return _insert(text, place, name, value)


def _check(node: Node, path: Sequence[str], *, is_array: bool) -> None:
    if not isinstance(node.value, list if is_array else dict):
        where = ".".join(path) or "the whole"
        raise InTheWayError(f"{where} is no {'array' if is_array else 'object'}")


def _insert(text: str, place: Node, key: str | None, value: Any) -> str:  # noqa: ANN401 - JSON
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = found[1] if (found := _INDENT.search(text)) else _DEFAULT_INDENT
    line = text[text.rfind("\n", 0, place.begin) + 1 : place.begin]  # as far as the container begins
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    body = json.dumps(value, indent=unit, ensure_ascii=False)
    named = body if key is None else f"{json.dumps(key, ensure_ascii=False)}: {body}"
    if not place.items:
        at = place.start + 1
        return text[:at] + named.replace("\n", newline + outer) + text[at:]
    inner = outer + unit
    lead = newline + inner + named.replace("\n", newline + inner)
    last = place.items[-1]
    if last.comma is not None:
        at = _after_comments(text, last.comma + 1)
        return text[:at] + lead + "," + text[at:]
    at = _after_comments(text, last.end)
    return text[: last.end] + "," + text[last.end : at] + lead + text[at:]


def _after_comments(text: str, at: int) -> int:
    """Return the end of the last comment that follows, else `at`."""
    blank = _BLANK.match(text, at)
    return at + len(blank[0].rstrip()) if blank else at
