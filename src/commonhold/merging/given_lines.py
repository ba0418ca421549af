"""Whether both sides define one name by lines of their own, in a file whose grammar is unknown.

A line may say `name = value`, `name: value` or `word name => value`. A merge by lines may have such a name twice in one
block; most formats take the first or the last of the values, and some reject the file.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from commonhold.merging.doubled import doubled
from commonhold.merging.line_keys import keys_given_twice
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

# Files that are read, not run: their lines define no names.
_PROSE: Final = frozenset({"", "adoc", "markdown", "md", "mdx", "rst", "tex", "txt"})
# In a page, the same line may well stand at several places.
_PAGES: Final = frozenset({"htm", "html"})
_LISTS: Final = ("requirements", "constraints")
_GIVING: Final = re.compile(
    rb"[ \t]*([\w$@\"'][^=:<>~!#;,(){}]*?)[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?:[=~!<>:]=|=>|=|:(?!//))"
)
_DEFINING: Final = re.compile(rb"[ \t]*(?:local[ \t]+)?(?:function|def|defp|sub|fn|func|fun|proc|class)[ \t]+([\w.:]+)")
_SECTION: Final = re.compile(rb"[ \t]*\[[^\]\n]+\][ \t]*\r?$")
_WORD: Final = re.compile(rb"\w{2}")

Name = tuple[bytes, ...]


def given_by_both(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why lines of both sides cannot stand in one file: they define a name twice, or repeat a line.

    If the format of the file is known, its own names are compared first.
    """
    fault = keys_given_twice(merged, versions, path)
    if fault is not None:
        return fault
    kind = _kind(path)
    if kind in _PROSE:
        return None
    twice = None if kind in _PAGES else _said_twice(merged, versions)
    if twice is not None:
        return _spot(twice)
    names = doubled(merged, versions, _names)
    return _spot(names[0][-1]) if names else None


def _kind(path: str) -> str:
    """Return the suffix of a file name; a list of requirements has a kind of its own."""
    file = path.rpartition("/")[2].lower()
    if file.startswith(_LISTS):
        return _LISTS[0]
    return file.rpartition(".")[2] if "." in file else ""


def _said_twice(merged: bytes, versions: tuple[bytes, bytes, bytes]) -> bytes | None:
    """Return a line that each side has once, the base not at all, and the merge twice."""
    base, ours, theirs, now = (Counter(lines_of(each)) for each in (*versions, merged))
    both = (ours.keys() & theirs.keys()) - base.keys()
    return min(
        (line for line in both if now[line] > max(ours[line], theirs[line]) and _WORD.search(line)), default=None
    )


def _spot(said: bytes) -> Spot:
    return Spot(Reason.SAME_NAME, f"both sides added {said.decode(errors='replace').strip()!r}, in different lines")


def _names(source: bytes) -> Iterator[Name]:
    """Yield the names that lines define, each with the less indented lines around it, and the last section."""
    section, around = b"", list[tuple[int, bytes]]()
    for line in lines_of(source):
        text = line.strip()
        if not text:
            continue
        if _SECTION.match(line):
            section, around = text, []
            continue
        indent = len(line) - len(line.lstrip(b" \t"))
        while around and around[-1][0] >= indent:
            around.pop()
        match = _DEFINING.match(line) or _GIVING.match(line)
        if match:
            yield section, *(each for _, each in around), b" ".join(match[1].split())
        around.append((indent, text))
