"""Markers of another length: those that name the sides, and no others."""

import pytest

from commonhold.app.markers import with_markers_of
from commonhold.merging.verdict import Sides

SIDES = Sides("main: a.*b", "feature", "base")
# Written with letters, since no file here may look as if it were left unmerged.
MARKED = b"""a
LLLLLLL main: a.*b
1
BBBBBBB base
0
EEEEEEE
2
RRRRRRR feature
LLLLLLL another
EEEEEEE
RRRRRRR feature
z
"""
for letter, mark in ((b"L", b"<"), (b"B", b"|"), (b"E", b"="), (b"R", b">")):
    MARKED = MARKED.replace(letter * 7, mark * 7)


def test_the_usual_size_leaves_the_text_as_it_is() -> None:
    assert with_markers_of(7, MARKED, SIDES) is MARKED


@pytest.mark.parametrize("size", [3, 9, 30])
def test_each_marker_of_the_sides_gets_its_length(size: int) -> None:
    lines = with_markers_of(size, MARKED, SIDES).splitlines()
    assert lines[1] == b"<" * size + b" main: a.*b"
    assert lines[3] == b"|" * size + b" base"
    assert lines[5] == b"=" * size
    assert lines[7] == b">" * size + b" feature"
    assert lines[8:] == MARKED.splitlines()[8:]


def test_line_endings_are_kept() -> None:
    marked = MARKED.replace(b"\n", b"\r\n")
    assert with_markers_of(8, marked, SIDES).count(b"\r\n") == marked.count(b"\n")
    assert b"========\r\n" in with_markers_of(8, marked, SIDES)
