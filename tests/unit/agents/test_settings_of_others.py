"""Settings of agents' programs, which any agent may have written: none is waited for, and none takes long."""

import os
from pathlib import Path

import pytest

from commonhold.agents import codex_shell
from commonhold.agents.json_text import setting
from commonhold.machine.plain_files import MOST_BYTES

HOSTILE = {
    "nested": "[" * 100_000,
    "huge": " " * MOST_BYTES + "{}",
    "no UTF-8": b"\xff".decode("utf-8", "surrogateescape"),
    "a long key": "a." * 5_000 + "a = 1",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_read_says_nothing(tmp_path: Path, text: str) -> None:
    place = tmp_path / codex_shell.SETTINGS
    place.parent.mkdir()
    for prefix in ("", "x = "):
        place.write_text(prefix + text, encoding="utf-8", errors="surrogateescape")
        assert setting(str(place), "env") is None
        assert not codex_shell.is_in_force(str(tmp_path))


def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    place = tmp_path / codex_shell.SETTINGS
    place.parent.mkdir()
    os.mkfifo(place)
    assert setting(str(place), "env") is None
    assert not codex_shell.is_in_force(str(tmp_path))
