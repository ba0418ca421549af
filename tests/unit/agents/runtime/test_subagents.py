"""Sessions and their subagents: holders of their own, that do not stand in each other's way."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hooked import Agent, House, house

from commonhold.agents.hook_events import Caller, Response, Stance, Swap
from commonhold.agents.runtime import editing
from commonhold.agents.runtime.open_sessions import QUIET_SECONDS

pytestmark = pytest.mark.slow

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


def test_after_the_end_of_a_subagent_nothing_of_it_blocks_its_session(home: House) -> None:
    session, part = agent(home), agent(home, "helper")
    home.service(part.caller.holder).acquire("a.py#g", "account:1", task="a rework")
    part.reads("a.py")
    part.edits(TEN)
    part.wants(HUNDRED, call="never made")
    part.rests()
    assert home.service(None).leases() == ()
    session.reads("a.py")
    assert session.edits(HUNDRED) == Response()
    assert session.edits(Swap("a.py", "return 2", "return 20"), call="second") == Response()


def test_a_command_of_a_subagent_that_runs_still_keeps_its_lease(home: House) -> None:
    part = agent(home, "helper")
    part.begins()
    home.service(part.caller.holder).acquire("a.py#g", task="$ make", acquisition_id="shell-1")
    part.rests()
    assert [lease.acquisition_id for lease in home.service(None).leases()] == ["shell-1"]


def test_a_subagent_that_is_silent_gives_way_to_its_session(home: House) -> None:
    """It was stopped without a word."""
    session, part = agent(home), agent(home, "helper")
    part.reads("a.py")
    part.edits(TEN)
    session.reads("a.py")
    assert session.wants(HUNDRED).stance is Stance.DENY, "it may be at work still"
    home.clock.advance(QUIET_SECONDS)
    assert session.edits(HUNDRED) == Response()
    assert {lease.holder for lease in home.service(None).leases()} == {"claude:one"}


def test_what_a_subagent_owes_is_left_to_its_session(home: House) -> None:
    home.write("a.py", "def f(x):\n    return x\n\n\ndef g():\n    return f(1)\n")
    session, part = agent(home), agent(home, "helper")
    session.begins()
    part.reads("a.py")
    told = part.edits(Swap("a.py", "def f(x):", "def f(x, y):"))
    assert "owed by you: file:a.py#g" in told.context + part.wants(TEN).context
    part.rests()
    assert "your subagent, ended, and you inherit its debts: file:a.py#g" in session.is_asked("go on").context
    assert "owed by you: file:a.py#g" in session.begins().context
