"""Files for launchers that can ask nobody: what is in one, and what the lock on it tells."""

import fcntl
import json
from pathlib import Path

import pytest

from commonhold.client.launching.foretold import folder, place
from commonhold.server.foretelling import Foretelling

CALL = "codex:s/part", "call 1"


@pytest.fixture
def foretelling(tmp_path: Path) -> Foretelling:
    return Foretelling(str(tmp_path), lambda agent, _: agent == "codex")


def file(state_folder: Path) -> Path:
    return Path(place(str(state_folder), *CALL))


def test_a_launcher_finds_what_was_left_for_its_call_until_that_is_withdrawn(
    foretelling: Foretelling, tmp_path: Path
) -> None:
    foretelling.leave(*CALL, "echo «é»", {"sandbox": "landlock"})
    assert json.loads(file(tmp_path).read_text(encoding="ascii")) == {"sandbox": "landlock", "of": "echo «é»"}
    assert Path(folder(str(tmp_path))).stat().st_mode & 0o777 == 0o700
    assert place(str(tmp_path), "codex:s", "call 1") != str(file(tmp_path))
    for _ in range(2):
        foretelling.withdraw(*CALL)
        assert not file(tmp_path).exists()


def test_a_command_is_over_once_its_launcher_was_seen_to_wait_and_does_so_no_more(
    foretelling: Foretelling, tmp_path: Path
) -> None:
    assert not foretelling.is_begun(*CALL)
    foretelling.leave(*CALL, "make", {})
    assert (foretelling.is_begun(*CALL), foretelling.is_over(*CALL)) == (False, False)
    with file(tmp_path).open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_SH)
        assert (foretelling.is_begun(*CALL), foretelling.is_over(*CALL)) == (True, False)
    assert [foretelling.is_over(*CALL) for _ in range(2)] == [True, False]


def test_one_that_was_withdrawn_is_not_over(foretelling: Foretelling, tmp_path: Path) -> None:
    foretelling.leave(*CALL, "make", {})
    with file(tmp_path).open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_SH)
        assert foretelling.is_begun(*CALL)
        foretelling.withdraw(*CALL)
    assert not foretelling.is_over(*CALL)


def test_a_daemon_knows_no_call_of_an_earlier_one(foretelling: Foretelling, tmp_path: Path) -> None:
    foretelling.leave(*CALL, "make", {})
    Foretelling(str(tmp_path), foretelling.is_for)
    assert not file(tmp_path).exists()
