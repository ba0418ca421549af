"""Pieces of a log end between characters."""

import pytest

from commonhold.cli.session_logs import _whole_characters


@pytest.mark.parametrize("text", ["a", "ab", "aä", "a€", "a😀", "😀b", "aää"])
def test_no_piece_ends_inside_a_character(text: str) -> None:
    data = text.encode()
    for size in range(len(data) + 1):
        assert text.startswith(_whole_characters(data[:size]).decode())
    assert _whole_characters(data) == data


def test_bytes_that_are_no_text_stay() -> None:
    assert _whole_characters(b"\xff\x80\x80\x80") == b"\xff\x80\x80\x80"
    assert _whole_characters(b"\x82") == b"\x82"
