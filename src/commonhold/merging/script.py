"""The changes of one side to a sequence of elements: those that it kept, perhaps changed, and those it inserted."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Final

from commonhold.merging.align import Pair, best, common, equal_ends, increasing
from commonhold.merging.layout import Element, Shape
from commonhold.merging.order_sensitivity import exits_of

_LIKE: Final = 0.4
# These are present or absent: none is the changed form of another.
_ATOMS: Final = frozenset({"import_spec", "preproc_include"})
_LIKE_UNDER_ANOTHER_NAME: Final = 0.7


@dataclass(frozen=True, slots=True)
class Hunk:
    """The base elements [start, stop) were replaced by `new`; an insertion if start is stop."""

    start: int
    stop: int
    new: tuple[Element, ...]

    @property
    def is_insertion(self) -> bool:
        """Whether no element was replaced."""
        return self.start == self.stop


@dataclass(frozen=True)
class Script:
    """`kept` are the counterparts of the base elements `old` (None: gone, or moved), `hunks` the rest, in order.

    `moved` are definitions that stand elsewhere now, by the index of the base element; they are in a hunk, too.
    """

    old: Sequence[Element]
    kept: Sequence[Element | None]
    hunks: Sequence[Hunk]
    moved: Mapping[int, Element]

    def insertion(self, position: int) -> tuple[Element, ...]:
        """Return the elements inserted before the base element at `position`, if nothing was removed there."""
        hunk = self._by_start.get(position)
        return hunk.new if hunk is not None and hunk.is_insertion else ()

    def stop_at(self, position: int) -> int:
        """Return the end of the base elements replaced from `position` on; `position` if that one was not replaced."""
        hunk = self._by_start.get(position)
        return hunk.stop if hunk is not None else position

    def side(self, start: int, stop: int) -> list[Element]:
        """Return the elements in place of the base elements [start, stop), in the side's order; none for moved ones."""
        found: list[Element] = []
        for index in range(start, stop):
            hunk = self._by_start.get(index)
            if hunk is not None and (index > start or not hunk.is_insertion):
                found += hunk.new
            kept = self.kept[index]
            if kept is not None:
                found.append(kept)
        return found

    def origin(self, element: Element) -> int | None:
        """Return the index of the base element that was moved here; None for a new one."""
        return self._origins.get(id(element))

    def moves_none(self, start: int, stop: int) -> bool:
        """Whether none of the base elements [start, stop) was moved."""
        return self.moved.keys().isdisjoint(range(start, stop))

    def moves_all(self, start: int, stop: int) -> bool:
        """Whether all of the base elements [start, stop) were moved, and nothing took their place."""
        return all(index in self.moved for index in range(start, stop)) and not self.side(start, stop)

    def loses_any(self, start: int, stop: int) -> bool:
        """Whether one of the base elements [start, stop) is not at its place any more."""
        return any(self.kept[index] is None for index in range(start, stop))

    @cached_property
    def touched(self) -> frozenset[int]:
        """The base elements that were changed or lost, by index; places of insertions are below zero."""
        pairs = enumerate(zip(self.old, self.kept, strict=True))
        changed = {index for index, (old, new) in pairs if new is None or new.text != old.text}
        return frozenset(changed | {-1 - hunk.start for hunk in self.hunks})

    def exits(self) -> Iterator[tuple[int, Element]]:
        """Yield the new points at which the block may be left, by the index of the base element, in order."""
        found = [(hunk.start, hunk.new[-1]) for hunk in self.hunks if hunk.new and self._leaves_more(hunk)]
        pairs = zip(self.old, self.kept, strict=True)
        found += (
            (index, new)
            for index, (old, new) in enumerate(pairs)
            if new is not None and new.text != old.text and exits_of([new]) > exits_of([old])
        )
        yield from sorted(found, key=itemgetter(0))

    def lost_exits(self) -> Iterator[tuple[int, Element]]:
        """Yield the points at which the block was left and is no more, by the index of the base element, in order."""
        for hunk in self.hunks:
            if exits_of(self.old[hunk.start : hunk.stop]) > exits_of(hunk.new):
                yield hunk.start, self.old[hunk.start]

    def _leaves_more(self, hunk: Hunk) -> bool:
        return exits_of(hunk.new) > exits_of(self.old[hunk.start : hunk.stop])

    @cached_property
    def _by_start(self) -> Mapping[int, Hunk]:
        return {hunk.start: hunk for hunk in self.hunks}

    @cached_property
    def _origins(self) -> Mapping[int, int]:
        return {id(element): index for index, element in self.moved.items()}


def script(base: Element, side: Element) -> Script:
    """Return the script from the children of `base` to those of `side`; computed once."""
    known = base.scripts.get(id(side))
    if not isinstance(known, Script):
        known = base.scripts[id(side)] = _script(base, side)
    return known


def _script(base: Element, side: Element) -> Script:
    old, new = base.children, side.children
    pairs = _matched(old, new, base.shape)
    kept: list[Element | None] = [None] * len(old)
    for index, other in pairs:
        kept[index] = new[other]
    hunks = list(_hunks(pairs, old, new))
    return Script(old, kept, hunks, _moves(old, kept, hunks))


def _hunks(pairs: Sequence[Pair], old: Sequence[Element], new: Sequence[Element]) -> Iterator[Hunk]:
    position = other = 0
    for index, place in [*pairs, (len(old), len(new))]:
        if position < index or other < place:
            yield Hunk(position, index, tuple(new[other:place]))
        position, other = index + 1, place + 1


def _matched(old: Sequence[Element], new: Sequence[Element], shape: Shape) -> list[Pair]:
    """Match equal ends first, since most of a file is unchanged; then the elements between."""
    head, tail = equal_ends([each.text for each in old], [each.text for each in new])
    inner = _matched_within(old[head : len(old) - tail], new[head : len(new) - tail], shape)
    ends = [(len(old) - at, len(new) - at) for at in range(tail, 0, -1)]
    return [*((at, at) for at in range(head)), *((i + head, j + head) for i, j in inner), *ends]


def _matched_within(old: Sequence[Element], new: Sequence[Element], shape: Shape) -> list[Pair]:
    pairs = _in_order([*_definitions(old, new), *common([each.text for each in old], [each.text for each in new])], old)
    found = list(pairs)
    position = other = 0
    like = _like_parts if shape is Shape.PARTS else _like
    for index, place in [*pairs, (len(old), len(new))]:
        inner = best(old[position:index], new[other:place], like)
        found += [(i + position, j + other) for i, j in inner]
        position, other = index + 1, place + 1
    return sorted(found)


def _definitions(old: Sequence[Element], new: Sequence[Element]) -> Iterator[Pair]:
    """Yield the definitions whose name stands once on each side: the surest anchors."""
    ours, theirs = _by_name(old), _by_name(new)
    return ((index, theirs[name]) for name, index in ours.items() if name in theirs)


def _by_name(elements: Sequence[Element]) -> dict[bytes, int]:
    named = [(each.name, index) for index, each in enumerate(elements) if each.is_definition and each.name]
    counts = Counter(name for name, _ in named)
    return {name: index for name, index in named if counts[name] == 1}


def _in_order(pairs: Sequence[Pair], old: Sequence[Element]) -> list[Pair]:
    """Return pairs that increase in both; definitions take precedence over elements that only look the same."""
    definitions = increasing(sorted({pair for pair in pairs if old[pair[0]].is_definition}))
    lefts, rights = {left for left, _ in definitions}, {right for _, right in definitions}
    others = {pair for pair in pairs if pair[0] not in lefts and pair[1] not in rights}
    kept = list(definitions)
    kept += (pair for pair in others if _fits(pair, definitions))
    return increasing(sorted(set(kept)))


def _fits(pair: Pair, anchors: Sequence[Pair]) -> bool:
    """Whether a pair lies between the same anchors on both sides."""
    return bisect_left(anchors, pair[0], key=itemgetter(0)) == bisect_left(anchors, pair[1], key=itemgetter(1))


def _like(one: Element, other: Element) -> float:
    """Return how surely two elements are one before and after the change: 0 for not at all."""
    if one.kind != other.kind:
        return 0.0
    if one.name is not None and one.name == other.name:
        return 2.0 + (_dice(one.tokens, other.tokens) if one.is_definition else 0.0)  # the likest of several overloads
    if one.text == other.text:
        return 1.5
    if one.node.type in _ATOMS:
        return 0.0
    alike = _dice(one.tokens, other.tokens)
    wanted = _LIKE if one.name is None else _LIKE_UNDER_ANOTHER_NAME
    return alike if alike >= wanted else 0.0


def _like_parts(one: Element, other: Element) -> float:
    """Compare parts by their kind; words and marks by their text."""
    if one.text == other.text:
        return 2.0
    return 1.0 if one.kind == other.kind and (one.node.is_named or one.nodes is not None) else 0.0


def _dice(one: Counter[bytes], other: Counter[bytes]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _moves(old: Sequence[Element], kept: Sequence[Element | None], hunks: Sequence[Hunk]) -> dict[int, Element]:
    """Return definitions that are gone from their place and stand under the same name at another."""
    gone = {name: index for name, index in _by_name(old).items() if kept[index] is None}
    there = {each.name: each for hunk in hunks for each in hunk.new if each.is_definition and each.name}
    return {index: there[name] for name, index in gone.items() if name in there}
