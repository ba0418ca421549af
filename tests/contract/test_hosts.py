"""Agents on two machines, each with its own clone, log and clock, which share the place where leases are kept."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.contract.rigs import ServerRig
from tests.fakes import CountingIds
from tests.hooked import Agent, House
from tests.own_tools import commits

from commonhold.agents.hook_events import Caller, Stance, Swap
from commonhold.agents.runtime import editing
from commonhold.kernel.options import IDLE_SECONDS, Options

pytestmark = pytest.mark.slow

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
TEN, TWENTY = Swap("a.py", "return 1\n", "return 10\n"), Swap("a.py", "return 2\n", "return 20\n")
HOUR = 3600.0


@pytest.fixture(params=["on_postgres", "on_redis"])
def rig(request: pytest.FixtureRequest) -> ServerRig:
    found: ServerRig = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def hosts(rig: ServerRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[House]]:
    """Nobody is waited for, and the second machine's clock is an hour ahead."""
    monkeypatch.setattr(editing, "PATIENCE_SECONDS", 0.0)
    ids = CountingIds()
    with ExitStack() as open_:
        made = []
        for name in ("one", "two"):
            host = House(tmp_path / name, ids=ids, options=Options(host=name), registry=rig.registry)
            open_.enter_context(closing(host.attending))
            host.write("a.py", SOURCE)
            made.append(host)
        made[1].clock.advance(HOUR)
        yield made


@pytest.fixture
def one(hosts: list[House]) -> Agent:
    return Agent(hosts[0], Caller("claude", "one"))


@pytest.fixture
def two(hosts: list[House]) -> Agent:
    return Agent(hosts[1], Caller("codex", "two"))


def test_what_an_agent_holds_is_held_on_all_machines_and_a_file_is_written_on_one(one: Agent, two: Agent) -> None:
    assert one.wants(TEN).stance is Stance.PASS
    assert "claude:one holds file:a.py#f" in two.wants(TEN).reason
    assert two.edits(TWENTY).stance is Stance.PASS, "its own copy of the file is in nobody's hands"
    one.writes(TEN)
    one.has_written(TEN)
    assert one.wants(TWENTY).stance is Stance.DENY
    one.rests()
    assert two.edits(TEN).stance is Stance.PASS
    for host, holder in ((one.house, "claude:one"), (two.house, "codex:two")):
        with host.service(None) as service:
            assert {each.holder for each in commits(service)} == {holder}, "each machine records its own files"


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
def test_a_clock_that_jumps_ends_nothing(one: Agent, two: Agent, jump: float, rig: ServerRig) -> None:
    one.wants(TEN)
    for host in (one.house, two.house):
        host.clock.advance(jump)
        with host.service(None) as service:
            service.sweep()
    assert "claude:one holds file:a.py#f" in two.wants(TEN).reason
    one.writes(TEN)
    assert one.has_written(TEN).reason == ""
    rig.advance(IDLE_SECONDS + 1)
    assert two.edits(TEN).stance is Stance.PASS, "the clock that counts is where the leases are"


def test_what_was_left_half_done_is_found_on_the_machine_where_it_is(
    one: Agent, two: Agent, hosts: list[House], rig: ServerRig
) -> None:
    one.edits(TEN)
    rig.advance(IDLE_SECONDS + 1)
    assert two.edits(TEN).stance is Stance.PASS
    assert [left_on(host) for host in reversed(hosts)] == [[], ["claude:one"]]


def left_on(host: House) -> list[str]:
    with host.service(None) as service:
        return [each.holder for each in service.partial_works()]
