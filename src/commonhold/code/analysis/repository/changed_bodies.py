"""The definitions of a file whose body changed, and the attributes of their object that this concerns.

Differences in comments, blank space or documentation alone do not count: they change no behaviour.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

from tree_sitter import Node, Tree

from commonhold.code.analysis.repository.attributes import Attribute, attributes
from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.discover import discover
from commonhold.code.regions.encoding import as_utf8, encoding_of
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.languages import language_for
from commonhold.code.regions.region import Region
from commonhold.kernel.keys import Kind

_WORD: Final = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Touched:
    """A definition whose body a side changed, or that it added (`is_new`).

    `attributes` are those of its object that it uses, before or after; `written` those that a changed line sets;
    `words` all names on changed lines. `is_header`: it is the header of a class, which sets the names on its lines.
    """

    qualname: str
    is_new: bool = False
    attributes: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    is_header: bool = False

    @property
    def owner(self) -> str:
        """The class that it is a member or the header of; empty at the top level."""
        return self.qualname if self.is_header else self.qualname.rpartition(".")[0]


def touched(path: str, before: bytes | None, after: bytes | None) -> tuple[Touched, ...]:
    """Return the functions and methods that are new or changed, and the changed headers of existing classes.

    They are in file order, headers last; none if a side has no file.
    """
    if after is None or before == after:
        return ()
    old, new = _File(path, before or b""), _File(path, after)
    bodies = tuple(
        _touched(qualname, old.bodies.get(qualname), body)
        for qualname, body in new.bodies.items()
        if qualname not in old.bodies or old.bodies[qualname].differs(body)
    )
    headers = tuple(
        _touched_header(qualname, old.headers[qualname], header)
        for qualname, header in new.headers.items()
        if qualname in old.headers and old.headers[qualname].differs(header)
    )
    return (*bodies, *headers)


@dataclass(frozen=True)
class _File:
    """One version of a file."""

    path: str
    source: bytes

    @cached_property
    def bodies(self) -> "Mapping[str, _Body]":
        """Functions and methods by name, without the numbers of repeated ones: the last counts."""
        return {each.key.bare().qualname: _Body(self, each) for each in self._regions if each.is_body}

    @cached_property
    def headers(self) -> "Mapping[str, _Body]":
        """The headers of classes, by class name."""
        found = [each for each in self._regions if each.kind is Kind.CLASS_HEADER and each.parent is not None]
        return {each.parent.bare().qualname: _Body(self, each) for each in found if each.parent}

    @cached_property
    def _regions(self) -> Sequence[Region]:
        return discover(self.source, self.path).regions

    @cached_property
    def language(self) -> Language | None:
        """The language, if it has a grammar, and the bytes are those that the grammar reads."""
        found = language_for(self.path, self.source)
        if found is None or not found.grammar:
            return None
        try:
            text = as_utf8(self.source, encoding_of(self.source, found))
        except UnicodeError:
            return None
        return found if text is self.source else None

    @cached_property
    def tree(self) -> Tree | None:
        """The syntax tree, if there is one; it is only computed for differing parts."""
        try:
            return parse(self.source, self.language) if self.language else None
        except BudgetExceededError:
            return None


@dataclass(frozen=True, slots=True)
class _Body:
    """A function or method in one version of its file."""

    file: _File
    region: Region

    @property
    def text(self) -> bytes:
        """Its bytes; of a header, those between the members."""
        return b"".join(self.file.source[start:end] for start, end in self.region.spans)

    def differs(self, other: "_Body") -> bool:
        """Whether the program in it differs."""
        return self.region.hash != other.region.hash and self.tokens() != other.tokens()

    def tokens(self) -> Sequence[bytes]:
        """The tokens of its program."""
        if self.file.tree is None:
            return [self.text]
        leaves = (leaf for span in self.region.spans for leaf in _leaves(self.file.tree, *span))
        return [self.file.source[leaf.start_byte : leaf.end_byte] for leaf in leaves]

    def attributes(self) -> Sequence[Attribute]:
        """The attributes of its object, with lines counted from 0 at its first line."""
        if self.file.tree is None or self.file.language is None:
            return ()
        row = self.file.source.count(b"\n", 0, self.region.start)
        return attributes(self.file.tree, self.file.language.name, self.region.start, self.region.end, row)


def _leaves(tree: Tree, start: int, end: int) -> Iterator[Node]:
    """Yield the tokens between two bytes, in order, without comments and strings that stand alone."""
    pending = [tree.root_node]
    while pending:
        node = pending.pop()
        is_outside = node.end_byte <= start or node.start_byte >= end
        if is_outside or "comment" in node.type or _is_documentation(node):
            continue
        if node.children:
            pending.extend(reversed(node.children))
        else:
            yield node


def _is_documentation(node: Node) -> bool:
    return node.type == "expression_statement" and [each.type for each in node.children] == ["string"]


def _touched(qualname: str, old: _Body | None, new: _Body) -> Touched:
    before, after = (old.attributes() if old else ()), new.attributes()
    texts = old.text if old else b"", new.text
    gone, come = _changed_rows(*texts)
    written = {each.name for each in before if each.is_written and each.row in gone}
    written |= {each.name for each in after if each.is_written and each.row in come}
    used = frozenset(each.name for each in (*before, *after))
    words = frozenset(word for text, rows in zip(texts, (gone, come), strict=True) for word in _words(text, rows))
    return Touched(qualname, old is None, used, frozenset(written), words)


def _touched_header(qualname: str, old: _Body, new: _Body) -> Touched:
    """Return a changed header; it sets the names at the start of its changed lines, behind any modifiers."""
    texts = old.text, new.text
    words = frozenset(
        word for text, rows in zip(texts, _changed_rows(*texts), strict=True) for word in _words(text, rows)
    )
    return Touched(qualname, written=words, words=words, is_header=True)


def _words(text: bytes, rows: Collection[int]) -> Iterator[str]:
    lines = text.decode("utf-8", "replace").split("\n")
    return (word for row in rows for word in _WORD.findall(lines[row]))


def _changed_rows(before: bytes, after: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """Return the lines that differ, from 0, in either text."""
    old, new = before.split(b"\n"), after.split(b"\n")
    gone: set[int] = set()
    come: set[int] = set()
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            gone.update(range(start, end))
            come.update(range(first, last))
    return frozenset(gone), frozenset(come)
