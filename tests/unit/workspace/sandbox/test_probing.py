"""Which sandbox works here is found once, and not forgotten because the machine was busy."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from commonhold.workspace.sandbox import probing
from commonhold.workspace.sandbox.probing import NONE, Offer, offered


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    probing._found_once.cache_clear()
    yield
    probing._found_once.cache_clear()


def test_a_trial_that_took_too_long_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def answered(*command: str) -> str:
        tries.append(command[0])
        if len(tries) == 1:
            raise probing._UntriedError from subprocess.TimeoutExpired(command, 10)
        return "mounts"

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(probing, "_said", answered)
    assert [offered() for _ in range(3)] == [NONE, Offer("mounts"), Offer("mounts")]
    assert len(tries) == 2


@pytest.mark.parametrize("fault", [subprocess.TimeoutExpired("x", 10), OSError(11, "no process can be made")])
def test_a_trial_that_did_not_end_is_no_answer(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def run(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(probing._UntriedError):
        probing._said("x")
