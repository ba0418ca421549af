"""Constants to which both sides gave the number that comes next in one series: 1, 2, 3, or the bits 1, 2, 4.

Each name is new and stands on a line of its own, so nothing meets; but two names then mean one value.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_CONSTANT: Final = re.compile(
    rb"(?:# ?define |(?:[a-z]\w* )*)([A-Z]\w*)(?: ?: ?[\w<>.]+)?(?: ?= ?| )"
    rb"\(? ?(?:1[uUlL]* ?<< ?(\d{1,3})|(0[xX][\da-fA-F]+|0[bB][01]+|[1-9]\d{0,17}|0)[uUlL]*) ?\)? ?[,;]?"
    rb" ?(?:(?:#|//|/\*).*)?\Z"
)
_LONGEST: Final = 200
_MANY: Final = 40  # so many lines above one are read
_FEW: Final = 2  # so many constants show how a series goes on


@dataclass(frozen=True, slots=True)
class _Constant:
    """A new constant; `before` are the names and values of the known constants on the lines above it."""

    name: bytes
    value: int
    is_shift: bool
    before: Sequence[tuple[bytes, int]]

    @property
    def continues(self) -> bool:
        """Whether the value is the next one after those above."""
        values = [value for _, value in self.before[-_FEW:]] + [self.value]
        if len(values) <= _FEW:
            return False
        steps = {after - before for before, after in pairwise(values)}
        return steps == {1} or self.doubles

    @property
    def doubles(self) -> bool:
        """Whether the values above are bits, and this is the next one."""
        values = [value for _, value in self.before] + [self.value]
        return len(values) > _FEW and all(after == 2 * before > 0 for before, after in pairwise(values))

    def is_of_one_series(self, other: "_Constant") -> bool:
        """Whether another constant, wherever it stands, seems to continue the series of this one."""
        names = [name for name, _ in self.before]
        if names == [name for name, _ in other.before]:
            return True
        prefix = other.name.rpartition(b"_")[0]
        is_family = bool(prefix) and all(name.startswith(prefix + b"_") for name in (self.name, *names))
        return is_family or (self.doubles and ((self.is_shift and other.is_shift) or len(names) > _FEW))


def took_one_number(base: bytes, ours: bytes, theirs: bytes) -> Iterator[Spot]:
    """Yield a spot for each pair of new constants that continue one series by one value."""
    mine = dict(_constants(base, ours))
    others = dict(_constants(base, theirs)) if mine else {}
    for row, one in mine.items():
        for there, other in others.items():
            if one.value != other.value or one.name == other.name:
                continue
            pairs = ((one, other), (other, one))
            if any(first.continues and first.is_of_one_series(second) for first, second in pairs):
                shown = " and ".join(repr(each.name.decode(errors="replace")) for each in (one, other))
                why = f"both sides took the number that comes next, for {shown}"
                yield Spot(Reason.ORDER_MATTERS, why, ours=(row, row + 1), theirs=(there, there + 1))


def _constants(base: bytes, side: bytes) -> Iterator[tuple[int, _Constant]]:
    lines, rows = lines_of(side), changed_rows(base, side)[1].rows
    new = frozenset(rows)
    for row in rows:
        found = _read(lines[row])
        if found:
            known = (_read(lines[at]) for at in range(row - 1, max(row - _MANY, 0) - 1, -1) if at not in new)
            above: list[tuple[bytes, int]] = []
            for each in known:
                if each is None:
                    break
                above.insert(0, (each[1], _value(each)))
            yield row, _Constant(found[1], _value(found), found[2] is not None, above)


def _read(line: bytes) -> re.Match[bytes] | None:
    return _CONSTANT.match(b" ".join(line.split())) if len(line) <= _LONGEST else None


def _value(found: re.Match[bytes]) -> int:
    return 1 << int(found[2]) if found[2] is not None else int(found[3], 0)
