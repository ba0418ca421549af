"""Marks of a document whose meaning reaches beyond their lines: fences of code, comments, the numbers of steps."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_DOCUMENTS: Final = frozenset({"markdown", "md", "mdx"})
_PAGES: Final = frozenset({"htm", "html", "xhtml", "xml"})
_FENCE: Final = re.compile(rb" {0,3}(```+|~~~+)")
_STEP: Final = re.compile(rb"[ \t]*(\d{1,3})[.)][ \t]+(\S.*?)\s*\Z")
_NAMED_STEP: Final = re.compile(rb"\b[Ss]teps?[ \t]+(\d{1,3})\b")


def marked_otherwise(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why marks of one side would change the meaning of the other's lines; None if they do not."""
    kind = path.rpartition(".")[2].lower()
    if kind not in _DOCUMENTS | _PAGES:
        return None
    base, *sides = versions
    known, now = frozenset(lines_of(base)), _states(merged)
    for side in sides:
        for line, state in _states(side).items():
            if line not in known and line.strip() and now.get(line, state) != state and not _FENCE.match(line):
                shown = line.decode(errors="replace").strip()
                why = f"one side made code or a comment of what the other side added ({shown})"
                return Spot(Reason.INTERFERES, why)
    return _renumbered(base, *sides) if kind in _DOCUMENTS else None


def _states(source: bytes) -> Mapping[bytes, tuple[bool, bool]]:
    """Return whether each line that stands once is code, and whether it is a comment."""
    lines = lines_of(source)
    counts = Counter(lines)
    found: dict[bytes, tuple[bool, bool]] = {}
    fence, is_comment = b"", False
    for line in lines:
        match = None if is_comment else _FENCE.match(line)
        if counts[line] == 1:
            found[line] = bool(fence), is_comment
        if match and not fence:
            fence = match[1]
        elif match and fence and match[1].startswith(fence):
            fence = b""
        elif not fence:
            opened, closed = line.rfind(b"<!--"), line.rfind(b"-->")
            is_comment = opened > closed if max(opened, closed) >= 0 else is_comment
    return found


def _renumbered(base: bytes, ours: bytes, theirs: bytes) -> Spot | None:
    """Find a step that one side gave another number and that the other names by its old one."""
    for moving, naming in ((ours, theirs), (theirs, ours)):
        was, now = dict(_steps(base)), dict(_steps(moving))
        moved = {was[text] for text in was.keys() & now.keys() if was[text] != now[text]}
        known, named = (Counter(_NAMED_STEP.findall(each)) for each in (base, naming))
        step = min((each for each in moved if named[each] > known[each]), default=None)
        if step is not None:
            why = f"one side gave steps other numbers, and the other newly names step {step.decode()}"
            return Spot(Reason.INTERFERES, why)
    return None


def _steps(source: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in lines_of(source):
        if match := _STEP.match(line):
            yield match[2], match[1]
