"""When a session that no hook reports for is at work."""

from pathlib import Path

import pytest
from tests.hooked import house

from commonhold.reads import heartbeats
from commonhold.reads.heartbeats import Heartbeats

ANN, BOB = "person:ann@host", "script:bob"


def test_a_session_is_heard_for_a_while() -> None:
    signs = Heartbeats()
    assert not signs.is_heard(ANN, 0.0)
    signs.note(f"{ANN}/part", 10.0)
    assert [signs.is_heard(ANN, since) for since in (9.0, 10.0, 11.0)] == [True, False, False]
    assert not signs.is_heard(BOB, 0.0)


def test_the_end_of_a_subagent_is_not_that_of_its_session() -> None:
    signs = Heartbeats()
    signs.note(ANN, 10.0)
    signs.forget(f"{ANN}/part")
    assert signs.is_heard(ANN, 9.0)
    signs.forget(ANN)
    assert not signs.is_heard(ANN, 9.0)


def test_the_newest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "_MOST", 2)
    signs = Heartbeats()
    for at, holder in enumerate((ANN, BOB, ANN, "third")):
        signs.note(holder, at)
    assert [signs.is_heard(each, -1.0) for each in (ANN, BOB, "third")] == [True, False, True]


def test_who_has_just_written_is_at_work_until_it_says_otherwise_or_is_idle(tmp_path: Path) -> None:
    with house(tmp_path) as home, home.service(BOB) as bob:
        home.write("a.py", "a = 1\n")
        bob.record_external_writes({"a.py": None})
        assert bob.is_at_work(BOB)
        home.clock.advance(home.options.idle_seconds + 1)
        assert not bob.is_at_work(BOB)
        bob.record_external_writes({})
        assert bob.is_at_work(BOB)
        bob.end_session()
        assert not bob.is_at_work(BOB)
