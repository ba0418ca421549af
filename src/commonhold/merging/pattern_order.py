"""Lists of patterns in which the last match counts, such as `.gitignore`: their order is part of their meaning.

Each side alone is right with its own pattern below or above the known ones; together one overrides the other.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from commonhold.merging.changed_rows import changed_lines
from commonhold.merging.verdict import Reason, Spot

_IGNORING: Final = ("ignore",)
_ASSIGNING: Final = frozenset({"codeowners", ".gitattributes"})
_WILD: Final = frozenset("*?[")


def overridden(base: bytes, ours: bytes, theirs: bytes, path: str) -> Spot | None:
    """Return why new patterns of both sides would override each other; None if they do not."""
    file = path.rpartition("/")[2].lower()
    is_ignoring = file.startswith(".") and file.endswith(_IGNORING)
    if not is_ignoring and file not in _ASSIGNING:
        return None
    mine, others = ([*_new_lines(base, side)] for side in (ours, theirs))
    for one in mine:
        for other in others:
            is_opposite = one.startswith("!") != other.startswith("!") if is_ignoring else one != other
            meet = _may_meet(_pattern(one), _pattern(other)) or _are_folder_and_kind(one, other)
            if is_opposite and meet:
                return Spot(Reason.ORDER_MATTERS, f"of {one!r} and {other!r}, one side's each, the lower one counts")
    return None


def _new_lines(base: bytes, side: bytes) -> Iterator[str]:
    for line in changed_lines(base, side)[1]:
        text = line.decode(errors="replace").strip()
        if text and not text.startswith("#"):
            yield text


def _pattern(line: str) -> list[str]:
    return line.removeprefix("!").partition(" ")[0].strip("/").split("/")


def _are_folder_and_kind(one: str, other: str) -> bool:
    """Return whether one pattern is a folder and the other a kind of file, which may be in it."""
    names = [line.removeprefix("!").partition(" ")[0] for line in (one, other)]
    is_folder = [name.endswith(("/", "/*", "/**")) for name in names]
    return is_folder[0] != is_folder[1] and "/" not in names[is_folder.index(False)]


def _may_meet(one: list[str], other: list[str]) -> bool:
    """Return whether some path may match both patterns, or lie in a folder that matches one."""
    return any(_match(one[-1], part) for part in other) or any(_match(other[-1], part) for part in one)


def _match(pattern: str, part: str) -> bool:
    """Return whether a pattern matches a name; of two patterns, whether their fixed ends allow one name for both."""
    if not _WILD & set(part):
        return fnmatchcase(part, pattern)
    if not _WILD & set(pattern):
        return fnmatchcase(pattern, part)
    ends = [(_fixed(each), _fixed(each[::-1])) for each in (pattern, part)]
    return all(a.startswith(b) or b.startswith(a) for a, b in zip(*ends, strict=True))


def _fixed(pattern: str) -> str:
    return pattern[: next((at for at, sign in enumerate(pattern) if sign in _WILD | {"]"}), len(pattern))]
