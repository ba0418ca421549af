"""A server that was set back: no lease in it goes on for whoever was told more, and it is told."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.services.fixtures import NewRedis
from tests.services.redis_server import RedisServer
from tests.unit.stores.redis.agents import fence, grant, wish

from commonhold.kernel.commands import Acquire, Command, Heartbeat, Release, Renew
from commonhold.kernel.events import LeaseBroken, LeaseGranted, LeaseQueued, Leaving, StateReset, WaiterLeft
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted, NotHeld, Outcome, Queued
from commonhold.kernel.refusals import Refusal
from commonhold.stores.redis import open_redis
from commonhold.stores.reset_events import ITSELF, REASON
from commonhold.stores.seen import Seen

pytestmark = pytest.mark.slow

Opened = Callable[[], Registry]


@pytest.fixture
def server(new_redis: NewRedis) -> RedisServer:
    """One that keeps its data in one file, which is easily copied."""
    return new_redis(options={"appendonly": "no"})


@pytest.fixture
def opened(server: RedisServer, namespace: str, tmp_path: Path) -> Opened:
    """Opens the namespace as another process of one machine."""
    return lambda: open_redis(server.socket_url, namespace, seen=Seen(str(tmp_path / "seen")))


def backup(server: RedisServer) -> None:
    with server.client() as client:
        client.save()
    shutil.copy(data_of(server), f"{data_of(server)}.backup")


def restore(server: RedisServer) -> None:
    server.kill()
    shutil.copy(f"{data_of(server)}.backup", data_of(server))
    server.start()


def data_of(server: RedisServer) -> Path:
    return next(server.process.folder.rglob("dump.rdb"))


def acquire_two(holder: str) -> Acquire:
    return Acquire("l2", "l2", holder, "", (canonical("account:2"),), Mode.EXCLUSIVE, 60.0)


COMMANDS: tuple[Callable[[str], Command[Outcome]], ...] = (
    lambda lease_id: Renew(lease_id, "one", 60.0),
    lambda lease_id: Release(lease_id, "one"),
    lambda _: acquire_two("one"),
    lambda _: Heartbeat("one"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=["renew", "release", "acquire", "show"])
def test_a_lease_that_was_released_does_not_come_back(
    server: RedisServer, opened: Opened, command: Callable[[str], Command[Outcome]]
) -> None:
    registry = opened()
    lease = grant(registry, "one")
    queued = registry.execute(
        Acquire("w1", "w1", "three", "", (canonical("account:12345"),), Mode.EXCLUSIVE, 60.0, patience_seconds=600.0)
    )
    assert isinstance(queued, Queued)
    backup(server)
    registry.execute(Release("w1", "three"))
    registry.execute(Release(lease.id, "one"))
    newest = grant(registry, "two")
    registry.close()
    restore(server)
    anew = opened()
    outcome = anew.execute(command(lease.id))
    assert not isinstance(outcome, NotHeld) or outcome.code is Refusal.LEASE_LOST
    with anew.read() as view:
        assert [each.holder for each in view.leases()] == (["one"] if isinstance(outcome, Granted) else [])
        assert view.waiters() == ()
        told = [each.event for each in view.events()]
    assert isinstance(told[0], LeaseGranted)
    assert isinstance(told[1], LeaseQueued)
    assert told[2:5] == [
        StateReset(ITSELF),
        WaiterLeft("three", "w1", Leaving.CANCELLED),
        LeaseBroken("one", lease.id, ITSELF, REASON),
    ]
    assert fence(anew) > newest.fence
    anew.close()


def test_a_stranger_who_comes_first_does_not_hide_it(server: RedisServer, opened: Opened, namespace: str) -> None:
    """By then the numbers are above all that anybody was told."""
    registry = opened()
    lease = grant(registry, "one")
    backup(server)
    registry.execute(Release(lease.id, "one"))
    registry.close()
    restore(server)
    stranger = open_redis(server.socket_url, namespace)
    for _ in range(3):
        fence(stranger)
    anew = opened()
    assert isinstance(anew.execute(Renew(lease.id, "one", 60.0)), NotHeld)
    stranger.close()
    anew.close()


def test_nothing_ends_where_nothing_was_lost(server: RedisServer, opened: Opened) -> None:
    registry = opened()
    lease = grant(registry, "one")
    for _ in range(2):
        registry.close()
        backup(server)
        restore(server)
        registry = opened()
        registry.execute(Heartbeat("two"))
        with registry.read() as view:
            assert view.leases() == (lease,)
    registry.close()


def test_what_was_not_recorded_is_not_missed(server: RedisServer, opened: Opened) -> None:
    """A command that changes nothing was told the number of the last event, not of one to come."""
    registry = opened()
    lease = grant(registry, "one")
    server.stop()
    server.start()
    for _ in range(3):
        registry.execute(Heartbeat("two"))
        assert isinstance(registry.execute(wish("one", lease_id=lease.id)), Granted)
    registry.close()
