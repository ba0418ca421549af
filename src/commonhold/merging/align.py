"""Find the elements that two sequences share, in order: all merges here are built on this."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, TypeVar

Pair = tuple[int, int]
Gap = tuple[int, int, int, int]
T = TypeVar("T")

_MAX_EDITS: Final = 450
_MAX_CELLS: Final = 20_000


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Return pairs of indices of equal elements, increasing in both; the longest such list that bounded time allows.

    Equal ends are paired first, then elements that occur once on each side (patience), then the rest between them by
    Myers' greedy algorithm with at most `_MAX_EDITS` edits (E. Myers, An O(ND) Difference Algorithm, 1986).
    """
    pairs: list[Pair] = []
    stack = [(0, len(left), 0, len(right))]
    while stack:
        low, high, start, stop = stack.pop()
        while low < high and start < stop and left[low] == right[start]:
            pairs.append((low, start))
            low, start = low + 1, start + 1
        while low < high and start < stop and left[high - 1] == right[stop - 1]:
            high, stop = high - 1, stop - 1
            pairs.append((high, stop))
        if low == high or start == stop:
            continue
        anchors = _unique_anchors(left, right, (low, high, start, stop))
        if anchors:
            pairs += anchors
            stack += _between(anchors, (low, high, start, stop))
        else:
            pairs += _greedy(left[low:high], right[start:stop], low, start)
    return sorted(pairs)


Places = tuple[int, int, int]


def stretches(
    base: Sequence[Hashable], one: Sequence[Hashable], other: Sequence[Hashable]
) -> Iterator[tuple[Places, Places]]:
    """Yield the stretches between the elements of `base` that both others kept, as indices into all three.

    If a stretch ends before the end of all three, they share one element there, and the next stretch begins behind it.
    """
    kept, also = dict(common(base, one)), dict(common(base, other))
    start = (0, 0, 0)
    for index in (index for index in range(len(base)) if index in kept and index in also):
        end = (index, kept[index], also[index])
        yield start, end
        start = (end[0] + 1, end[1] + 1, end[2] + 1)
    yield start, (len(base), len(one), len(other))


def equal_ends(left: Sequence[Hashable], right: Sequence[Hashable]) -> Pair:
    """Return how many first and last elements are the same; none is counted twice."""
    shortest = min(len(left), len(right))
    head = next((at for at in range(shortest) if left[at] != right[at]), shortest)
    tail = next((at for at in range(shortest - head) if left[-1 - at] != right[-1 - at]), shortest - head)
    return head, tail


def _between(anchors: Sequence[Pair], bounds: Gap) -> Iterator[Gap]:
    low, high, start, stop = bounds
    for index, other in [*anchors, (high, stop)]:
        if low < index and start < other:
            yield low, index, start, other
        low, start = index + 1, other + 1


def _unique_anchors(left: Sequence[Hashable], right: Sequence[Hashable], bounds: Gap) -> list[Pair]:
    """Pair the elements that occur once on each side (patience), as long as they stand in the same order."""
    low, high, start, stop = bounds
    counts, others = Counter(left[low:high]), Counter(right[start:stop])
    places = {right[index]: index for index in range(start, stop) if others[right[index]] == 1}
    pairs = [
        (index, places[left[index]]) for index in range(low, high) if counts[left[index]] == 1 and left[index] in places
    ]
    return increasing(pairs)


def increasing(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the longest part of pairs, increasing in the first, that increases in the second as well."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        place = bisect_left(tails, other)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1] = [other]
        ends[place : place + 1] = [index]
    found: list[Pair] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _greedy(left: Sequence[Hashable], right: Sequence[Hashable], low: int, start: int) -> list[Pair]:
    """Pair by Myers' greedy algorithm; return no pairs if the sides need too many edits."""
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(left) + len(right), _MAX_EDITS) + 1):
        trail.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(furthest, diagonal, edits)
            y = x - diagonal
            while x < len(left) and y < len(right) and left[x] == right[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(left) and y >= len(right):
                return [(i + low, j + start) for i, j in _backtrack(trail, len(left), len(right))]
    return []


def _step(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    is_down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
    return furthest[diagonal + 1] if is_down else furthest[diagonal - 1] + 1


def _backtrack(trail: Sequence[dict[int, int]], x: int, y: int) -> Iterator[Pair]:
    for edits in range(len(trail) - 1, -1, -1):
        furthest, diagonal = trail[edits], x - y
        is_down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
        previous = diagonal + 1 if is_down else diagonal - 1
        back_x = furthest[previous] if edits else 0
        back_y = back_x - previous if edits else 0
        while x > back_x and y > back_y:
            x, y = x - 1, y - 1
            yield x, y
        x, y = back_x, back_y


def best(left: Sequence[T], right: Sequence[T], score: Callable[[T, T], float]) -> list[Pair]:
    """Return pairs of like elements, increasing in both, with the greatest sum of scores; 0 means unlike.

    Return no pairs if the product of the lengths is too large to search.
    """
    if not left or not right or len(left) * len(right) > _MAX_CELLS:
        return []
    width = len(right) + 1
    totals = [[0.0] * width for _ in range(len(left) + 1)]
    scores = [[score(one, other) for other in right] for one in left]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            paired = scores[i][j] + totals[i + 1][j + 1] if scores[i][j] else 0.0
            totals[i][j] = max(paired, totals[i + 1][j], totals[i][j + 1])
    return list(_read_off(totals, scores))


def _read_off(totals: Sequence[Sequence[float]], scores: Sequence[Sequence[float]]) -> Iterator[Pair]:
    i = j = 0
    while i < len(scores) and j < len(scores[0]):
        if scores[i][j] and totals[i][j] == scores[i][j] + totals[i + 1][j + 1]:
            yield i, j
            i, j = i + 1, j + 1
        elif totals[i][j] == totals[i + 1][j]:
            i += 1
        else:
            j += 1
