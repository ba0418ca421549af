"""Sessions on rubbish: each bad name or number is an error of ours, with a code and a hint."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import commonhold
from commonhold import CommonholdError

HALF: Final = "a\ud800"


@pytest.mark.parametrize("root", ["a\0b", HALF, "no such folder", "x" * 5_000])
def test_a_folder_that_cannot_be_is_refused(tmp_path: Path, root: str) -> None:
    with pytest.raises(CommonholdError):
        commonhold.open(f"{tmp_path}/{root}", agent="ann")


@pytest.mark.parametrize(
    "choices",
    [
        {"agent": "a\0"},
        {"agent": HALF},
        {"agent": "ann\r\nX-Other: 1"},
        {"agent": "ann "},
        {"agent": ""},
        {"store": HALF},
        {"store": "redis://[::1"},
        {"store": "\0"},
        {"store": "other://x"},
    ],
)
def test_choices_that_cannot_be_are_refused(tmp_path: Path, choices: Mapping[str, Any]) -> None:
    (tmp_path / ".commonhold").mkdir()
    given: dict[str, Any] = {"agent": "ann", "daemon": False}
    given.update(choices)
    with pytest.raises(CommonholdError):
        commonhold.open(str(tmp_path), **given)


CALLS: Final[Mapping[str, Callable[[Any], object]]] = {
    "log": lambda hold: hold.log(after=10**30),
    "wait": lambda hold: hold.acquire("x:1", wait_seconds=10**400),
    "ttl": lambda hold: hold.acquire("x:1", ttl_seconds=10**400),
    "ticket": lambda hold: hold.acquire("x:1", ticket=HALF),
    "entries": lambda hold: hold.entries(HALF),
    "branch": lambda hold: hold.entries(onto="a\0b"),
    "holder": lambda hold: hold.send(HALF, "text"),
    "text": lambda hold: hold.send("ben", HALF),
    "value": lambda hold: hold.put("x:1", HALF, expected_version=0),
    "version": lambda hold: hold.put("x:1", "text", expected_version=2**63),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_that_cannot_be_kept_are_refused(tmp_path: Path, name: str) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    with commonhold.open(str(tmp_path), agent="ann", daemon=False) as hold, pytest.raises(CommonholdError):
        CALLS[name](hold)


def test_changes_at_a_path_that_cannot_be_are_none(tmp_path: Path) -> None:
    with commonhold.open(str(tmp_path), agent="ann", daemon=False) as hold:
        assert hold.record_external_changes(["a\0b"]).outcome == "nothing"
        assert hold.record_external_writes({"a\0b": None}).unknown == ("a\0b",)
