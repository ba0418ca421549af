"""Fences strictly increase and never repeat, whatever becomes of the server's data (I1)."""

import pytest
from tests.patience import PATIENCE_SECONDS, until
from tests.services.fixtures import NewRedis
from tests.services.redis_server import RedisServer
from tests.unit.stores.redis.agents import KEY, fence, grant
from tests.unit.stores.redis.conftest import OpenRegistry

from commonhold.kernel.commands import Put
from commonhold.kernel.keys import canonical
from commonhold.kernel.outcomes import Stored

pytestmark = pytest.mark.slow

GAP = 2**20


def leases_of(namespace: str) -> str:
    return f"{{commonhold:{namespace}}}:leases"


def test_they_are_the_numbers_of_events(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    registry = open_registry(redis_server.socket_url)
    first = fence(registry)
    assert [fence(open_registry(redis_server.url)), fence(registry)] == [first + 2, first + 4]
    stored = registry.execute(Put(canonical(KEY), "one", "text", 0))
    assert isinstance(stored, Stored)
    assert stored.value.version == first + 6
    assert first + 6 < 2**53


@pytest.mark.parametrize("lives_on", [True, False], ids=["a client that lives on", "a new client"])
def test_they_go_on_when_all_data_is_lost(
    redis_server: RedisServer, open_registry: OpenRegistry, *, lives_on: bool
) -> None:
    registry = open_registry(redis_server.socket_url)
    before = [fence(registry) for _ in range(20)]
    redis_server.empty()
    assert fence(registry if lives_on else open_registry(redis_server.socket_url)) > before[-1]


def test_they_go_on_when_the_count_is_lost(
    redis_server: RedisServer, open_registry: OpenRegistry, namespace: str
) -> None:
    registry = open_registry(redis_server.socket_url)
    before = fence(registry)
    with redis_server.client() as client:
        client.delete(leases_of(namespace))
    assert fence(open_registry(redis_server.socket_url)) >= before + GAP


def test_they_never_fall_for_a_client_that_lives_on(
    redis_server: RedisServer, open_registry: OpenRegistry, namespace: str
) -> None:
    registry = open_registry(redis_server.socket_url)
    before = fence(registry)
    with redis_server.client() as client:
        client.hset(leases_of(namespace), "\x1dcount", str(before - 100))
        client.delete(f"{{commonhold:{namespace}}}:events")
    assert fence(registry) >= before + GAP


def test_the_log_is_never_overtaken(redis_server: RedisServer, open_registry: OpenRegistry, namespace: str) -> None:
    far = 2**52
    with redis_server.client() as client:
        client.xadd(f"{{commonhold:{namespace}}}:events", {"lease_released": "{}", "at": "0"}, id=f"{far}-0")
    assert fence(open_registry(redis_server.socket_url)) > far


def test_they_go_on_after_a_restart_that_loads_nothing(new_redis: NewRedis, open_registry: OpenRegistry) -> None:
    server = new_redis(options={"appendonly": "no"})
    registry = open_registry(server.socket_url)
    before = [fence(registry) for _ in range(20)]
    server.restart()
    assert fence(open_registry(server.socket_url)) > before[-1]
    assert fence(registry) > before[-1]


def test_they_jump_ahead_after_a_restart_that_loads_all(new_redis: NewRedis, open_registry: OpenRegistry) -> None:
    server = new_redis()
    registry = open_registry(server.socket_url)
    lease, before = grant(registry), fence(registry)
    server.restart()
    after = fence(registry)
    assert after >= before + GAP
    assert fence(registry) == after + 2
    with registry.read() as view:
        assert view.leases() == (lease,)


def test_they_go_on_after_a_kill(new_redis: NewRedis, open_registry: OpenRegistry) -> None:
    server = new_redis(options={"appendfsync": "everysec"})
    for _ in range(3):
        before = [fence(open_registry(server.socket_url)) for _ in range(10)]
        server.kill()
        server.start()
        assert fence(open_registry(server.socket_url)) > before[-1]


def test_they_go_on_after_a_failover_that_loses_grants(new_redis: NewRedis, open_registry: OpenRegistry) -> None:
    primary = new_redis()
    replica = new_redis(follows=primary)
    registry = open_registry(primary.socket_url)
    before = [fence(registry)]
    with primary.client() as client, replica.client() as follower:
        assert client.wait(1, int(PATIENCE_SECONDS * 1000)) == 1
        follower.replicaof("127.0.0.1", "1")
        until(lambda: client.info("replication")["connected_slaves"] == 0)
    lost = grant(registry)
    before += [lost.fence, fence(registry)]
    primary.kill()
    replica.promote()
    others = open_registry(replica.socket_url)
    with others.read() as view:
        assert view.leases() == ()
    again = grant(others, "two")
    assert again.fence > max(before)
    assert fence(others) == again.fence + 1
