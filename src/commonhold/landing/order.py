"""PURE: which entries are tested next, and in which order; and which changes are likely to conflict.

A batch is the first entries of the queue by priority and age, so that each entry has its turn, however many arrive. In
a batch, entries that overlap no others are merged first: of a change that meets three others, three land, not one.
A failed batch is halved until the culprit is alone, before others of its priority have their turn: no entry is
overtaken by a younger one that may conflict with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from commonhold.kernel.entry import EntryRecord, EntryState
from commonhold.kernel.keys import Key, canonical, overlaps

Touched = Mapping[str, frozenset[str]]
"""The canonical keys that a change touches, by the name of the change."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Two changes that touch the same regions: their names, and the keys of the first that overlap the second's."""

    one: str
    other: str
    keys: tuple[str, ...]


def next_batch(
    queue: Iterable[EntryRecord], touched: Touched, failing: str | None, most: int
) -> tuple[EntryRecord, ...]:
    """Return the entries to test next, in the order in which to merge them; at most `most`, none if all wait.

    `failing` is the head of the branch if it fails a check by itself: entries that are held at it wait. `touched` has
    the keys by the id of the entry (none: unknown).
    """
    waiting = [each for each in queue if each.state is EntryState.QUEUED and each.held_at != failing]
    ready = sorted(waiting, key=lambda each: (-each.entry.priority, each.number))
    suspected = [each for each in ready if each.suspected_in]
    if suspected:
        above = [each for each in ready if not each.suspected_in and each.entry.priority > suspected[0].entry.priority]
        if above:
            return arranged(above[:most], touched)
        group = [each for each in suspected if each.suspected_in == suspected[0].suspected_in]
        return tuple(group[: min(most, (len(group) + 1) // 2)])
    return arranged(ready[:most], touched)


def arranged(window: Sequence[EntryRecord], touched: Touched) -> tuple[EntryRecord, ...]:
    """Return the same entries in the order in which fewest conflict: within a priority, those without overlaps first.

    Each next one overlaps the fewest that are placed already, then the fewest that are left, then is the oldest.
    """
    names = {each.id: touched.get(each.id, frozenset()) for each in window}
    met: dict[str, set[str]] = {each.id: set() for each in window}
    for found in predicted(names):
        met[found.one].add(found.other)
        met[found.other].add(found.one)
    placed: list[EntryRecord] = []
    left = list(window)
    while left:
        done, rest = {each.id for each in placed}, {each.id for each in left}
        placed.append(
            min(
                left,
                key=lambda each: (
                    -each.entry.priority,
                    len(met[each.id] & done),
                    len(met[each.id] & rest),
                    each.number,
                ),
            )
        )
        left.remove(placed[-1])
    return tuple(placed)


def predicted(touched: Touched) -> tuple[Prediction, ...]:
    """Return the pairs of changes that touch the same regions, in the order of their names in `touched`."""
    places = {name: _by_path(keys) for name, keys in touched.items()}
    found = []
    for (one, mine), (other, theirs) in combinations(places.items(), 2):
        keys = [
            str(key)
            for path in sorted(mine.keys() & theirs.keys())
            for key in mine[path]
            if any(_meet(key, each) for each in theirs[path])
        ]
        if keys:
            found.append(Prediction(one, other, tuple(keys)))
    return tuple(found)


def _by_path(keys: Iterable[str]) -> dict[tuple[str, ...], list[Key]]:
    found: dict[tuple[str, ...], list[Key]] = {}
    for key in map(canonical, sorted(keys)):
        found.setdefault(key.path, []).append(key)
    return found


def _meet(one: Key, other: Key) -> bool:
    """Whether changes to two regions meet. A lease on a file's header covers the file, a change to it does not."""
    if any(each.is_header and len(each.names) == 1 for each in (one, other)):
        return one == other or not (one.names and other.names)
    return overlaps(one, other)
