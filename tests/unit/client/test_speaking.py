"""Asking the daemon from a shell command: one that was just started is waited for."""

from pathlib import Path

import pytest

from commonhold.client.launching import speaking

ANSWER: speaking.Object = {"ticket": "t"}


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked. The fourth time a daemon answers; before, there is not even its socket."""
    asked, tries = speaking.asked, list[str]()

    def counted(socket: str, path: str, told: speaking.Object) -> speaking.Object:
        tries.append(path)
        return ANSWER if len(tries) == 4 else asked(socket, path, told)

    monkeypatch.setattr(speaking, "asked", counted)
    return tries


def test_a_daemon_that_has_begun_and_does_not_listen_yet_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tries: list[str]
) -> None:
    monkeypatch.setattr(speaking, "_is_started", lambda _socket: True)
    assert speaking.asked_of_next(str(tmp_path / "http.sock"), "/shell/begin", {}) == ANSWER
    assert tries == ["/shell/begin"] * 4


def test_where_none_can_be_started_none_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tries: list[str]
) -> None:
    monkeypatch.setattr(speaking, "_is_started", lambda _socket: False)
    with pytest.raises(speaking.Unserved, match="no daemon serves this repository"):
        speaking.asked_of_next(str(tmp_path / "http.sock"), "/shell/begin", {})
    assert len(tries) == 2
