"""Sessions and their subagents: holders of their own, that do not stand in each other's way."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hooked import Agent, House, house

from commonhold.app.happenings import Caller, Response, Stance, Swap
from commonhold.server import editing

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
TEN, HUNDRED = Swap("a.py", "return 1", "return 10"), Swap("a.py", "return 10", "return 100")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(editing, "PATIENCE_SECONDS", 0.0)
    with house(tmp_path) as made:
        made.write("a.py", SOURCE)
        yield made


def agent(home: House, subagent: str = "") -> Agent:
    return Agent(home, Caller("claude", "one", subagent))


def test_a_subagent_goes_on_with_what_its_session_has_begun(home: House) -> None:
    session, part = agent(home), agent(home, "helper")
    session.reads("a.py")
    session.edits(TEN)
    part.reads("a.py")
    assert part.edits(HUNDRED) == Response()
    assert "return 100" in (home.root / "a.py").read_text()
    service = home.service(None)
    assert {lease.holder for lease in service.leases()} == {"claude:one/helper"}
    part.ends()
    assert service.leases() == ()


def test_what_a_session_asked_for_by_itself_stays_with_it(home: House) -> None:
    session, part = agent(home), agent(home, "helper")
    home.service(session.caller.holder).acquire("a.py#f", task="a rework")
    part.reads("a.py")
    assert part.edits(TEN).stance is Stance.DENY


def test_one_subagent_waits_for_another(home: House) -> None:
    one, two = agent(home, "one"), agent(home, "two")
    one.reads("a.py")
    one.edits(TEN)
    two.reads("a.py")
    assert two.edits(HUNDRED).stance is Stance.DENY
