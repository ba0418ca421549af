"""Which definitions of a file have another body than before, and which attributes of their object that is about.

What differs in comments, blank space or documentation alone does not behave differently.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from tree_sitter import Node, Tree

from commonhold.linking.attributes import Attribute, attributes
from commonhold.regions.discover import discover
from commonhold.regions.region import Region, RegionMap


@dataclass(frozen=True, slots=True)
class Touched:
    """A definition that a side gave another body, or made (`is_new`).

    `attributes` are those of its object that it uses, before or after; `written` those that a changed line sets.
    """

    qualname: str
    is_new: bool = False
    attributes: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()

    @property
    def owner(self) -> str:
        """The class that it is a member of; empty at the top level."""
        return self.qualname.rpartition(".")[0]


def touched(path: str, before: bytes | None, after: bytes | None) -> tuple[Touched, ...]:
    """The functions and methods that are new or behave otherwise, in file order; nothing where a side has no file."""
    if after is None or before == after:
        return ()
    old, new = _bodies(discover(before or b"", path)), _bodies(discover(after, path))
    return tuple(
        _touched(qualname, old.get(qualname), body)
        for qualname, body in new.items()
        if qualname not in old or old[qualname].differs(body)
    )


@dataclass(frozen=True, slots=True)
class _Body:
    """A function or method in one version of its file."""

    source: RegionMap
    region: Region

    @property
    def text(self) -> bytes:
        """Its bytes."""
        return self.source.source[self.region.start : self.region.end]

    def differs(self, other: "_Body") -> bool:
        """Whether the program in it is another."""
        if self.region.hash == other.region.hash:
            return False
        return self.tokens() != other.tokens()

    def tokens(self) -> Sequence[bytes]:
        """What the program consists of."""
        found = [leaf.text or b"" for leaf in self._leaves()]
        return found or [self.text]

    def _leaves(self) -> Iterator[Node]:
        return _leaves(self.source.tree, self.region) if self.source.tree else iter(())

    def attributes(self) -> Sequence[Attribute]:
        """The attributes of its object, with lines from 0 counted from its own first."""
        if self.source.tree is None:
            return ()
        row = self.source.source.count(b"\n", 0, self.region.start)
        return attributes(self.source.tree, self.source.language, self.region.start, self.region.end, row)


def _bodies(source: RegionMap) -> Mapping[str, _Body]:
    """Functions and methods by name, without the numbers of repeated ones: the last counts."""
    return {each.key.bare().qualname: _Body(source, each) for each in source.regions if each.is_body}


def _leaves(tree: Tree, region: Region) -> Iterator[Node]:
    """The tokens in a region, in order, without comments and strings that stand alone."""
    pending = [tree.root_node]
    while pending:
        node = pending.pop()
        is_outside = node.end_byte <= region.start or node.start_byte >= region.end
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
    gone, come = _changed_rows(old.text if old else b"", new.text)
    written = {each.name for each in before if each.is_written and each.row in gone}
    written |= {each.name for each in after if each.is_written and each.row in come}
    used = frozenset(each.name for each in (*before, *after))
    return Touched(qualname, old is None, used, frozenset(written))


def _changed_rows(before: bytes, after: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """The lines that differ, from 0, in either text."""
    old, new = before.split(b"\n"), after.split(b"\n")
    gone: set[int] = set()
    come: set[int] = set()
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            gone.update(range(start, end))
            come.update(range(first, last))
    return frozenset(gone), frozenset(come)
