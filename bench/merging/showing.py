"""A merge, as lines to read."""

import difflib
from collections.abc import Iterator

from bench.merging.methods import merge_file
from commonhold.merging.verdict import Lines, Proven, Spot, Unproven


def show(path: str, versions: tuple[bytes, bytes, bytes], answer: Proven | Unproven) -> Iterator[str]:
    """What each side changed, and what ours makes of it or why it does not."""
    base, ours, theirs = versions
    for name, source in (("ours", ours), ("theirs", theirs)):
        yield f"----- {path}: {name}"
        yield from difference(base, source)
    if isinstance(answer, Proven):
        yield f"----- {path}: PROVEN {'; '.join(answer.notes)}"
        yield from difference(base, answer.source)
        return
    yield f"----- {path}: git's own conflicts: {merge_file('', base, ours, theirs).returncode}"
    for spot in answer.spots:
        yield from _spot(spot, base, ours, theirs)


def difference(before: bytes, after: bytes) -> Iterator[str]:
    """The lines that differ."""
    old, new = (source.decode(errors="replace").splitlines() for source in (before, after))
    return (line for line in difflib.unified_diff(old, new, lineterm="", n=2) if not line.startswith(("---", "+++")))


def _spot(spot: Spot, base: bytes, ours: bytes, theirs: bytes) -> Iterator[str]:
    yield f"  SPOT {spot.reason}: {spot.why}"
    for name, lines, source in (("base", spot.base, base), ("ours", spot.ours, ours), ("theirs", spot.theirs, theirs)):
        yield f"    {name} {lines[0] + 1}-{lines[1]}"
        yield from (f"      | {line}" for line in _within(source, lines))


def _within(source: bytes, lines: Lines) -> list[str]:
    return source.decode(errors="replace").splitlines()[lines[0] : lines[1]]
