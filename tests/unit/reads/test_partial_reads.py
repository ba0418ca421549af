"""Which lines of which regions a text shows that was shown of a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.code.regions.discover import discover
from commonhold.reads.partial_reads import CUT, NONE, Glimpse, can_show, glimpse_of, lines_in, parts_shown, written

SOURCE = """import a

LIMIT = 3


def f():
    return 1


class C:
    size = 2

    def m(self):

        return 3

    def n(self):
        return 4


WORD = "w"
"""
LINES = SOURCE.splitlines()
windows = st.tuples(st.integers(0, len(LINES) - 1), st.integers(1, len(LINES))).map(
    lambda window: range(window[0], min(len(LINES), sum(window)))
)


def places(content: str, shown: str) -> tuple[range, ...] | None:
    glimpse = glimpse_of(content.encode(), shown)
    return glimpse.lines if glimpse else None


def shown_parts(content: str, shown: str, path: str = "a.py") -> dict[str, tuple[set[int], bool]]:
    glimpse = glimpse_of(content.encode(), shown)
    assert glimpse is not None
    assert not glimpse.is_whole
    parts = parts_shown(discover(content.encode(), path), glimpse)
    return {part.region.key.qualname: (set(part.seen), part.is_all) for part in parts}


@pytest.mark.parametrize(
    ("content", "shown", "expected"),
    [
        ("a\nb\nc\n", "b", (range(1, 2),)),
        ("a\nb\nc\n", "b\nc", (range(1, 3),)),
        ("a\nb\nc", "b\nc\n", (range(1, 3),)),
        ("\n\na\nb\n", "a", (range(2, 3),)),
        ("a\r\nb\r\nc\r\n", "a\nb", (range(2),)),
        ("a\nb\nc\n", "a\r\nb\r\n", (range(2),)),
        ("\ufeffa\nb\n", "a", (range(1),)),
        ("}\na\n}\n", "}", (range(1), range(2, 3))),
        ("a\na\na\n", "a\na", (range(2), range(1, 3))),
        ("a\nlong line\nb\n", f"lo{CUT}\nb", (range(1, 3),)),
        ("a\nlong line\nb\n", f"a\nlong{CUT}", (range(2),)),
        ("a\nb\nc\n", f"c{CUT}\nb", None),
        ("a\nb\nc\n", "a\nc", None),
        ("abc\n", "b", None),
        ("a.c\n", f"axc{CUT}", None),
    ],
)
def test_a_text_is_found_wherever_its_lines_are(content: str, shown: str, expected: tuple[range, ...] | None) -> None:
    assert places(content, shown) == expected
    assert can_show(content.encode(), shown) == (expected is not None)


@pytest.mark.parametrize("shown", ["a\nb\n", "a\nb", "a\r\nb", "\na\nb\n\n"])
def test_all_but_blank_lines_at_the_ends_is_the_whole(shown: str) -> None:
    assert glimpse_of(b"a\nb\n", shown) == Glimpse((range(3),), is_whole=True)


def test_a_container_is_shown_by_its_own_lines_alone() -> None:
    found = shown_parts(SOURCE, "\n".join(LINES[9:14]))
    assert found == {"C.@header": ({0, 1, 2, 3}, True), "C.m": ({0, 1}, False)}, "a blank line has nothing to be seen"


def test_a_header_is_not_known_by_one_of_its_places() -> None:
    first = shown_parts(SOURCE, "import a\n\nLIMIT = 3\n\n\ndef f():\n    return 1")
    assert (first["@header"][1], first["f"][1]) == (False, True)
    last = shown_parts(SOURCE, 'WORD = "w"')
    assert first["@header"][0] | last["@header"][0] == set(range(10))


def test_blank_lines_between_definitions_show_no_header() -> None:
    assert list(shown_parts(SOURCE, "\n".join(LINES[5:8]))) == ["f"]


def test_a_header_in_which_nothing_can_be_seen_is_seen() -> None:
    assert shown_parts("def f():\n    x\n\n\ndef g():\n    y\n", "def g():") == {
        "@header": ({0, 1}, True),
        "g": ({0}, False),
    }


def test_of_what_has_no_regions_a_part_of_the_file_is_shown() -> None:
    content = b"\xff\nb\n"
    glimpse = glimpse_of(content, "b")
    assert glimpse is not None
    (part,) = parts_shown(discover(content, "a.txt"), glimpse)
    assert (str(part.region.key), set(part.seen), part.is_all) == ("file:a.txt", {1}, False)


@given(windows)
def test_what_a_window_shows_of_a_region_is_what_is_in_both(window: range) -> None:
    """Told by what the lines say: no two that are not blank are the same."""
    glimpse = glimpse_of(SOURCE.encode(), "\n".join(LINES[window.start : window.stop]))
    assert glimpse is not None
    source = discover(SOURCE.encode(), "a.py")
    parts = {part.region.key: part for part in parts_shown(source, glimpse)}
    for region in source.leaves():
        lines = source.bytes_of(region).decode().splitlines()
        shown = {at for at, line in enumerate(lines) if line.strip() and line in LINES[window.start : window.stop]}
        assert (region.key in parts) == bool(shown)
        if shown:
            assert parts[region.key].seen == shown | {at for at, line in enumerate(lines) if not line.strip()}
            assert parts[region.key].is_all == (len(parts[region.key].seen) == len(lines))


@given(st.frozensets(st.integers(0, 300)))
def test_lines_are_written_and_read(lines: frozenset[int]) -> None:
    assert frozenset(lines_in(written(lines))) == lines
    assert written(lines), "an empty text means all"
    assert (written(lines) == NONE) == (not lines)
