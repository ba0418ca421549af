"""Documents in which one side reordered whole sections and the other edited them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.code.regions.headings import markdown_headings

_SUFFIXES: Final = (".markdown", ".md", ".mdx")


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading and the text that follows it, up to the next heading; `gap` are the line ends after that."""

    title: tuple[int, str]
    text: bytes
    gap: bytes


def merged_sections(base: bytes, ours: bytes, theirs: bytes, path: str) -> bytes | None:
    """Return the sections in the order of the side that moved some, each with the text of the other side.

    None unless one side has exactly the sections of the base, in another order, and the other side keeps all of them in
    the order of the base.
    """
    if not path.lower().endswith(_SUFFIXES):
        return None
    before, *sides = (_sections(each) for each in (base, ours, theirs))
    titles = [each.title for each in before]
    if len(set(titles)) < len(titles):
        return None
    for moved, written in (sides, sides[::-1]):
        is_moved = moved != before and sorted(_texts(moved)) == sorted(_texts(before))
        if is_moved and [each.title for each in written] == titles and moved[0].title == titles[0]:
            by_title = {each.title: each for each in written}
            return b"".join(by_title[each.title].text + each.gap for each in moved)
    return None


def _texts(sections: Sequence[_Section]) -> list[tuple[tuple[int, str], bytes]]:
    return [(each.title, each.text) for each in sections]


def _sections(source: bytes) -> list[_Section]:
    headings = list(markdown_headings(source))
    starts = [0, *(each.start for each in headings), len(source)]
    titles = [(0, ""), *((each.rank, each.name) for each in headings)]
    found = []
    for title, start, end in zip(titles, starts, starts[1:], strict=False):
        text = source[start:end].rstrip(b"\r\n")
        found.append(_Section(title, text, source[start + len(text) : end]))
    return found
