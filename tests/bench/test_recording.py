"""The picture in the README shows a real collision, in the words of the present version."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from bench.recording import PICTURE, Line, Story, draw, record

MOST_BYTES = 150_000
OLD, NEW = "def f():\n    return 1\n", "def f():\n    return 2\n"


@pytest.mark.slow
def test_the_picture_is_drawn_from_a_run_of_this_version(tmp_path: Path) -> None:
    assert draw(record(tmp_path)) == PICTURE.read_text(encoding="utf-8"), "run: make recording"


def test_the_picture_is_small_and_valid() -> None:
    data = PICTURE.read_bytes()
    assert len(data) <= MOST_BYTES
    assert ET.fromstring(data).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own file


def test_lines_appear_in_turn_and_the_last_frame_has_all_of_them() -> None:
    story = Story([Line(0, "prompt", "> a < b"), Line(1, "prompt", "> c"), Line(1, "good", "✓")], [(0, OLD), (2, NEW)])
    picture = draw(story)

    shown = ["".join(each.itertext()) for each in ET.fromstring(picture)]  # noqa: S314 - our own text
    assert [text for text in shown if text.startswith((">", "✓"))] == ["> a < b", "> c", "✓"]
    # Without animation, a class hides each version of the file but the last.
    assert 'class="v0 past"' in picture
    assert 'class="v1"' in picture
    # One second passes before each prompt, and 0.7 before the mark; the last frame stays for six.
    assert "m2 8.7s" in picture
    assert "@keyframes m1 { 0% { opacity: 0 } 22.99%, 100% { opacity: 1 } }" in picture


def test_a_long_line_takes_several_rows_of_which_only_the_first_waits() -> None:
    story = Story()
    story.add(0, "bad", "word " * 20)
    assert [line.kind for line in story.lines] == ["bad", "bad more"]
    assert " ".join(line.text.strip() for line in story.lines) == " ".join(["word"] * 20)
