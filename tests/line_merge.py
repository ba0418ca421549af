"""A merge that proves what lies on different lines: for tests of what is done with a merge, not of merging."""

import difflib
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from commonhold.merging.verdict import Proven, Reason, Sides, Spot, Unproven

Change = tuple[int, int, str, list[str]]
"""The lines of the base from, to, by which side, and what it has in their place."""


def merge(base: bytes, ours: bytes, theirs: bytes, path: str, sides: Sides | None = None) -> Proven | Unproven:
    """Prove changes that no unchanged line parts from another to be in conflict, and all others to go together."""
    if b"\0" in base + ours + theirs:
        return Unproven((Spot(Reason.BINARY, f"{path} is binary"),))
    lines = base.decode().splitlines(keepends=True)
    changes = sorted((*_changes(lines, ours, "ours"), *_changes(lines, theirs, "theirs")), key=itemgetter(0, 1, 2))
    merged, spots, position = "", [], 0
    for group in _groups(changes):
        start, end = group[0][0], max(change[1] for change in group)
        merged += "".join(lines[position:start])
        texts = {side: _with(lines, start, end, [each for each in group if each[2] == side]) for side in _SIDES}
        if len(set(texts.values())) > 1 and len({change[2] for change in group}) > 1:
            spots.append(Spot(Reason.BOTH_CHANGED, f"line {start + 1}: both sides changed it"))
            merged += _marked(texts, sides or Sides())
        else:
            merged += texts[group[0][2]]
        position = end
    merged += "".join(lines[position:])
    return Unproven(tuple(spots), merged.encode()) if spots else Proven(merged.encode())


_SIDES = ("ours", "theirs")


def _changes(base: list[str], side: bytes, name: str) -> Iterator[Change]:
    lines = side.decode().splitlines(keepends=True)
    for tag, start, end, from_, to in difflib.SequenceMatcher(None, base, lines, autojunk=False).get_opcodes():
        if tag != "equal":
            yield start, end, name, lines[from_:to]


def _groups(changes: list[Change]) -> Iterator[list[Change]]:
    """Changes that touch each other."""
    reach, number = -1, 0
    numbered = []
    for change in changes:
        number += change[0] > reach
        reach = max(reach, change[1])
        numbered.append((number, change))
    for _, group in groupby(numbered, itemgetter(0)):
        yield [change for _, change in group]


def _with(base: list[str], start: int, end: int, changes: list[Change]) -> str:
    text = ""
    for first, last, _, lines in changes:
        text += "".join(base[start:first]) + "".join(lines)
        start = last
    return text + "".join(base[start:end])


def _marked(texts: dict[str, str], sides: Sides) -> str:
    return f"<<<<<<< {sides.ours}\n{texts['ours']}=======\n{texts['theirs']}>>>>>>> {sides.theirs}\n"
