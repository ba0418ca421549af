"""Find the region of a file that most likely contained a text which the file no longer contains. Pure."""

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from typing import Final

from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import Region, RegionMap

_LEAST_LIKENESS: Final = 0.6
_FOR_A_CHANGE: Final = 0.2
"""The bonus in likeness for a region that others have changed recently."""
_MOST_SOUGHT: Final = 30
_MOST_LINES: Final = 4000


def likeliest_region(
    content: bytes, path: str, sought: str, changed: Collection[str]
) -> tuple[RegionMap, Region] | None:
    """Return the region that is most similar to the text `sought`; `changed` are keys that others changed recently.

    Return None if no region is similar, or if there is too much to compare.
    """
    lines = _lines(sought)[:_MOST_SOUGHT]
    source = discover(content, path)
    if not lines or content.count(b"\n") > _MOST_LINES:
        return None
    texts = [(source.bytes_of(each).decode("utf-8", "replace"), each) for each in source.leaves()]
    scored = [(_likeness(lines, _lines(text)), each) for text, each in texts]
    likely = [(score, each) for score, each in scored if score >= _LEAST_LIKENESS]
    if not likely:
        return None
    return source, max(likely, key=lambda one: one[0] + _FOR_A_CHANGE * (str(one[1].key) in changed))[1]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _likeness(sought: Sequence[str], there: Sequence[str]) -> float:
    """Return the mean likeness, from 0 to 1, of each line that is sought to the most similar line of the region."""
    return sum(max((_ratio(line, each) for each in dict.fromkeys(there)), default=0.0) for line in sought) / len(sought)


def _ratio(one: str, other: str) -> float:
    if one == other:
        return 1.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _LEAST_LIKENESS else 0.0
