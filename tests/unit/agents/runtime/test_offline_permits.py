"""Files for launchers that can ask nobody: what is in one, and what the lock on it tells."""

import fcntl
import json
import os
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from commonhold.agents.runtime.offline_permits import OfflinePermits
from commonhold.client.launching.foretold import folder, place

CALL = "codex:s/part", "call 1"


@pytest.fixture
def foretelling(tmp_path: Path) -> OfflinePermits:
    return OfflinePermits(str(tmp_path), lambda agent, _: agent == "codex")


def file(state_folder: Path) -> Path:
    return Path(place(str(state_folder), *CALL))


def test_a_launcher_finds_what_was_left_for_its_call_until_that_is_withdrawn(
    foretelling: OfflinePermits, tmp_path: Path
) -> None:
    foretelling.leave(*CALL, "echo «é»")
    assert json.loads(file(tmp_path).read_text(encoding="ascii")) == {"of": "echo «é»"}
    assert Path(folder(str(tmp_path))).stat().st_mode & 0o777 == 0o700
    assert place(str(tmp_path), "codex:s", "call 1") != str(file(tmp_path))
    for _ in range(2):
        foretelling.withdraw(*CALL)
        assert not file(tmp_path).exists()


def test_a_command_is_over_once_its_launcher_was_seen_to_wait_and_does_so_no_more(
    foretelling: OfflinePermits, tmp_path: Path
) -> None:
    assert not foretelling.is_begun(*CALL)
    foretelling.leave(*CALL, "make")
    assert (foretelling.is_begun(*CALL), foretelling.is_over(*CALL)) == (False, False)
    with file(tmp_path).open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_SH)
        assert (foretelling.is_begun(*CALL), foretelling.is_over(*CALL)) == (True, False)
    assert [foretelling.is_over(*CALL) for _ in range(2)] == [True, False]


def test_two_who_look_at_once_do_not_take_each_other_for_a_launcher(
    foretelling: OfflinePermits, monkeypatch: pytest.MonkeyPatch
) -> None:
    foretelling.leave(*CALL, "make")
    seen: list[bool] = []
    other = threading.Thread(target=lambda: seen.append(foretelling.is_begun(*CALL)))
    real = fcntl.flock

    def in_the_middle(file: BinaryIO, how: int) -> None:
        real(file, how)
        if other.ident is None:
            other.start()
            other.join(0.2)

    monkeypatch.setattr(fcntl, "flock", in_the_middle)
    seen.append(foretelling.is_begun(*CALL))
    other.join()
    assert seen == [False, False]
    assert not foretelling.is_over(*CALL)


def test_a_program_that_is_being_started_is_no_launcher(
    foretelling: OfflinePermits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it has become the program, it has open what was open here."""
    foretelling.leave(*CALL, "make")
    copies: list[int] = []
    real = fcntl.flock

    def beside_another(file: BinaryIO, how: int) -> None:
        copies.append(os.dup(file.fileno()))
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", beside_another)
    assert [foretelling.is_begun(*CALL) for _ in range(2)] == [False, False]
    for each in copies:
        os.close(each)


def test_one_that_was_withdrawn_is_not_over(foretelling: OfflinePermits, tmp_path: Path) -> None:
    foretelling.leave(*CALL, "make")
    with file(tmp_path).open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_SH)
        assert foretelling.is_begun(*CALL)
        foretelling.withdraw(*CALL)
    assert not foretelling.is_over(*CALL)


def test_a_daemon_knows_no_call_of_an_earlier_one(foretelling: OfflinePermits, tmp_path: Path) -> None:
    foretelling.leave(*CALL, "make")
    OfflinePermits(str(tmp_path), foretelling.is_for)
    assert not file(tmp_path).exists()
