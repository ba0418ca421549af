"""Traits of Rust that a type has by derivation: a new field may lack them, and new code may need a removed one."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import WORD, changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.syntax import field_text
from commonhold.merging.verdict import Reason, Spot

_DERIVED: Final = re.compile(rb"\bderive\(([^)]*)\)")
_ITEMS: Final = frozenset({"enum_item", "struct_item", "union_item"})
_SIMPLE: Final = frozenset(b"bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize".split())
_FLOATING: Final = frozenset({b"f32", b"f64"})
_OWNING: Final = frozenset(
    b"Arc BTreeMap BTreeSet Box Cow PathBuf Rc String Vec VecDeque static str std string".split()
)
_WRAPPING: Final = frozenset({b"Option", b"PhantomData"})
_WITHOUT_FLOATS: Final = frozenset({b"Eq", b"Hash", b"Ord"})
# New code that needs a trait without naming it.
_NEEDING: Final = {
    b"Clone": re.compile(rb"\.clone(?:d)?\(|\.to_vec\(|\bvec!\[[^;\]]*;"),
    b"Copy": re.compile(rb"\w"),
    b"Debug": re.compile(rb"\{[^{}\"]*:#?\?\}|\bdbg!|\bassert_(?:eq|ne)!"),
    b"Default": re.compile(rb"\bdefault\(\)|\.\.Default|unwrap_or_default|mem::take"),
    b"Display": re.compile(rb"\{\w*(?::[^?}]*)?\}|\.to_string\("),
    b"Eq": re.compile(rb"Hash(?:Map|Set)|BTree"),
    b"Hash": re.compile(rb"Hash(?:Map|Set)"),
    b"Ord": re.compile(rb"\bsort|\bmax\(|\bmin\(|BTree|\.cmp\("),
    b"PartialEq": re.compile(rb"[!=]=|\bassert_(?:eq|ne)!|\.contains\("),
    b"PartialOrd": re.compile(rb"[<>]=?|\.partial_cmp\("),
}

Traits = Mapping[bytes, frozenset[bytes]]


def missed_traits(language: str, base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side that changed the traits of a type on which the other's new code or field relies."""
    if language != "rust":
        return
    for at, (changing, writing) in enumerate(((ours, theirs), (theirs, ours))):
        was, now = _traits(base), _traits(changing)
        if was == now:
            continue
        met = next(_met(was, now, base, writing), None)
        if met is not None:
            row, why = met
            yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})


def _met(was: Traits, now: Traits, base: FileElement, writing: FileElement) -> Iterator[tuple[int, str]]:
    for name in was.keys() & now.keys():
        shown = name.decode(errors="replace")
        for row, type_ in _new_fields(base, writing, name) if now[name] - was[name] else ():
            lacking = min((each for each in now[name] - was[name] if not _has(type_, each, writing)), default=None)
            if lacking is not None:
                yield row, f"one side derived {lacking.decode()!r} for {shown!r}, and a new field may not have it"
        for trait in sorted(was[name] - now[name]):
            needing = next(_needing(trait, name, base, writing), None)
            if needing is not None:
                yield needing, f"one side took {trait.decode()!r} from {shown!r}, and the other's new code may need it"


def _traits(element: FileElement) -> Traits:
    """Return the traits of each type, derived or written."""
    found: dict[bytes, set[bytes]] = {}
    derived: list[bytes] = []
    for node in element.tree.root_node.named_children:
        if node.type == "attribute_item":
            derived += (each for match in _DERIVED.finditer(node.text or b"") for each in match[1].split(b","))
            continue
        if node.type in _ITEMS:
            found.setdefault(field_text(node, "name"), set()).update(_last(each) for each in derived if each.strip())
        elif node.type == "impl_item" and (trait := field_text(node, "trait")):
            of = WORD.findall(field_text(node, "type").partition(b"<")[0])[-1:]
            found.setdefault(of[0] if of else b"", set()).add(_last(trait))
        if not node.type.endswith("comment"):
            derived = []
    return {name: frozenset(traits) for name, traits in found.items()}


def _last(path: bytes) -> bytes:
    return path.partition(b"<")[0].rpartition(b"::")[2].strip()


def _new_fields(base: FileElement, side: FileElement, name: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the types of the fields that a side gave to a type."""
    for node in changed_rows(base.source, side.source)[1].nodes(side.tree.root_node):
        around: Node | None = node
        while around is not None and around.type not in _ITEMS:
            around = around.parent
        if around is None or field_text(around, "name") != name:
            continue
        if node.type == "field_declaration":
            yield node.start_point.row, field_text(node, "type")
        elif node.type == "ordered_field_declaration_list":
            yield node.start_point.row, node.text or b""


def _has(type_: bytes, trait: bytes, element: FileElement) -> bool:
    """Whether a type has a trait, as far as the file shows."""
    words = {each for each in WORD.findall(type_) if each not in {b"pub", b"crate", b"mut"}}
    known = _SIMPLE | _WRAPPING
    if trait not in _WITHOUT_FLOATS:
        known |= _FLOATING
    if trait != b"Copy" or type_.strip().startswith(b"&"):
        known |= _OWNING
    own = _traits(element)
    return all(each in known or each.islower() or trait in own.get(each, ()) for each in words - _FLOATING) and (
        not words & _FLOATING or known >= _FLOATING
    )


def _needing(trait: bytes, name: bytes, base: FileElement, side: FileElement) -> Iterator[int]:
    lines = lines_of(side.source)
    named = re.compile(rb"\b%s\b" % re.escape(name))
    for node in changed_rows(base.source, side.source)[1].nodes(side.tree.root_node):
        if node.parent is None or node.parent.parent is not None:
            continue
        rows = range(node.start_point.row, node.end_point.row + 1)
        new = [row for row in changed_rows(base.source, side.source)[1].rows if row in rows]
        of = node.next_named_sibling if node.type == "attribute_item" else None
        if of is not None and field_text(of, "name") == name:
            continue
        if of is not None and trait in WORD.findall(node.text or b"") and named.search(of.text or b""):
            yield node.start_point.row
        pattern = _NEEDING.get(trait)
        if pattern is None or node.type == "attribute_item" or not named.search(node.text or b""):
            continue
        yield from (row for row in new if pattern.search(lines[row]))
