"""The difference between two texts, as a unified diff of bounded length and time."""

import difflib
import re
from collections.abc import Sequence
from typing import Final

MAX_DIFF_LINES: Final = 200
MAX_COMPARED_LINES: Final = 2000
CONTEXT_LINES: Final = 3


def difference(old: Sequence[str], new: Sequence[str], was: str, now: str) -> str | None:
    """Return a unified diff of two texts called `was` and `now`; None if they are equal.

    The inputs are limited because difflib may take time proportional to the product of both lengths.
    """
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    if max(len(old), len(new)) - head - tail > MAX_COMPARED_LINES:
        return f"… more than {MAX_COMPARED_LINES} lines changed: compare with the kept base"
    start = max(0, head - CONTEXT_LINES)
    cut = max(0, tail - CONTEXT_LINES)
    left, right = old[start : len(old) - cut], new[start : len(new) - cut]
    lines = list(difflib.unified_diff(left, right, was, now, n=CONTEXT_LINES, lineterm=""))
    if len(lines) > MAX_DIFF_LINES:
        lines = [*lines[:MAX_DIFF_LINES], f"… {len(lines) - MAX_DIFF_LINES} more lines"]
    return "\n".join(_shifted(line, start) for line in lines) or None


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of equal lines at the start."""
    return next(
        (index for index, (mine, other) in enumerate(zip(old, new, strict=False)) if mine != other),
        min(len(old), len(new)),
    )


def _shifted(line: str, start: int) -> str:
    """Return a hunk's header with line numbers counted from the region's first line."""
    if not line.startswith("@@"):
        return line
    return re.sub(r"([-+])(\d+)", lambda match: f"{match[1]}{int(match[2]) + start}", line)
