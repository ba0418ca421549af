"""Pieces of a log end between characters."""

import pytest

from commonhold.cli.session_logs import _whole_characters


@pytest.mark.parametrize("text", ["a", "ab", "aä", "a€", "a😀", "😀b", "aää"])
def test_no_piece_after_a_whole_character_ends_inside_the_next(text: str) -> None:
    data = text.encode()
    first = len(text[0].encode())
    for size in range(first, len(data) + 1):
        assert text.startswith(_whole_characters(data[:size]).decode())


def test_bytes_that_are_no_text_stay() -> None:
    assert _whole_characters(b"\xff\x80\x80\x80") == b"\xff\x80\x80\x80"
    assert _whole_characters(b"\xe2\x82") == b"\xe2\x82"
