"""What a registry on Redis does beside deciding: views, the log, answers that are kept, keys that overlap."""

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest
from hypothesis import given
from tests.effort import examples
from tests.services.redis_server import RedisServer
from tests.strategies import keys, small_keys
from tests.unit.stores.redis.agents import KEY, fence, grant, granted, whole_log, wish
from tests.unit.stores.redis.conftest import OpenRegistry

from commonhold.kernel.commands import Acquire, Heartbeat, Put, Release
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.keys import FILE, Key, Name, canonical, overlaps
from commonhold.kernel.lease_ports import Once, Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Acknowledged, Denied, Granted, Released, Stored
from commonhold.stores.redis import open_redis, scripts, view

pytestmark = pytest.mark.slow

DAY = 86_400.0


@pytest.fixture
def registry(redis_server: RedisServer, open_registry: OpenRegistry) -> Registry:
    return open_registry(redis_server.socket_url)


@pytest.fixture
def short_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(scripts._WORDS, "MAX_EVENTS", "200")
    scripts.load.cache_clear()
    yield
    scripts.load.cache_clear()


def put(registry: Registry, text: str, version: int) -> int:
    stored = registry.execute(Put(canonical(KEY), "one", text, version))
    assert isinstance(stored, Stored)
    return stored.value.version


def test_a_view_stays_as_it_was(registry: Registry) -> None:
    version = put(registry, "before", 0)
    lease = grant(registry, "one")
    with registry.read() as seen:
        log = seen.events()
        version = put(registry, "after", version)
        put(registry, "long after", version)
        registry.execute(Release(lease.id, "one"))
        assert (seen.leases(), seen.held_by("one"), seen.lease(lease.id)) == ((lease,), (lease,), lease)
        assert (seen.events(), seen.latest(2)) == (log, log[-2:])
        value = seen.value(KEY)
        assert value is not None
        assert value.text == "before"
    with registry.read() as seen:
        assert seen.leases() == ()
        value = seen.value(KEY)
        assert value is not None
        assert value.text == "long after"
        assert seen.value("account:other") is None


def test_a_value_that_was_not_there_when_the_view_began(registry: Registry) -> None:
    with registry.read() as seen:
        assert seen.leases() == ()
        put(registry, "after", 0)
        assert seen.value(KEY) is None


def test_leases_are_found_by_what_they_cover(registry: Registry) -> None:
    lease = grant(registry, "one", canonical("file:src/"))
    grant(registry, "one", canonical("file:docs/"))
    with registry.read() as seen:
        assert seen.overlapping([canonical("file:src/a.py#f"), canonical("account:1")]) == (lease,)


def test_the_log_is_read_in_pages(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = [grant(registry, "one", Key("account", (str(number),))) for number in range(10)]
    registry.execute(Release(first.id, "one"))
    log = whole_log(registry)
    assert [each.sequence for each in log] == list(range(first.fence, first.fence + 11))
    monkeypatch.setattr(view, "_CHUNK", 3)
    with registry.read() as seen:
        assert (seen.events(), seen.latest(100)) == (log, log)
        assert (seen.events(after=first.fence, limit=4), seen.latest(4)) == (log[1:5], log[-4:])
        assert seen.events(lease_id=first.id) == (log[0], log[-1])
        assert (seen.events(limit=0), seen.latest(0)) == ((), ())


@pytest.mark.usefixtures("short_log")
def test_the_log_is_kept_short(registry: Registry) -> None:
    fences = [fence(registry) for _ in range(400)]
    log = whole_log(registry)
    assert 200 <= len(log) <= 400
    assert log[-1].sequence == fences[-1] + 1


def test_answers_are_kept_for_a_week(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    days = 0.0
    registry = open_registry(redis_server.socket_url, skew=lambda: days * DAY)
    once = Once("request-1", "show")
    assert registry.first_outcome("one", once) is None
    registry.execute(Heartbeat("one"), once)
    for days in (6.0, 8.0):
        assert registry.first_outcome("one", once) == Acknowledged()
        registry.execute(Heartbeat("one"), Once(f"request on day {days}", "show"))
    assert registry.first_outcome("one", once) is None


def test_a_request_id_is_used_for_one_request(registry: Registry) -> None:
    registry.execute(Heartbeat("one"), Once("request-1", "show"))
    other = Once("request-1", "something else")
    with pytest.raises(UsageError) as caught:
        registry.first_outcome("one", other)
    assert caught.value.code is Code.REQUEST_ID_REUSED
    with pytest.raises(UsageError) as caught:
        registry.execute(Heartbeat("one"), other)
    assert caught.value.code is Code.REQUEST_ID_REUSED


def test_a_lease_may_have_thousands_of_keys(registry: Registry) -> None:
    many = tuple(Key("account", (str(number),)) for number in range(9000))
    lease = grant(registry, "one", *many)
    assert isinstance(registry.execute(wish("two", many[-1])), Denied)
    assert registry.execute(Release(lease.id, "one")) == Released(lease)
    grant(registry, "two", many[-1])


def test_a_lease_that_nobody_else_wants_takes_look_ups_alone(redis_server: RedisServer, registry: Registry) -> None:
    lease = grant(registry, "one", canonical("file:a.py#f"))
    registry.execute(Release(lease.id, "one"))
    with redis_server.client() as client:
        client.config_resetstat()
        lease = grant(registry, "one", canonical("file:a.py#f"))
        registry.execute(Release(lease.id, "one"))
        used = {name.removeprefix("cmdstat_") for name in client.info("commandstats")}
    # Every hundredth event cuts the log; the count begins anywhere, and a pair is two events.
    cuts = {"xtrim"} if lease.fence % 100 in (0, 99) else set()
    assert used - {"config|resetstat", "info"} == cuts | {
        "evalsha",
        "hdel",
        "hmget",
        "hset",
        "time",
        "xadd",
        "zadd",
        "zrangebylex",
        "zrem",
    }


def test_all_keys_of_a_namespace_lie_in_one_part_of_a_cluster(
    redis_server: RedisServer, registry: Registry, namespace: str
) -> None:
    lease = grant(registry)
    put(registry, "text", 0)
    registry.execute(Release(lease.id, "one"), Once("request-1", "release"))
    with redis_server.client() as client:
        assert {str(key).rpartition(":")[0] for key in client.scan_iter()} == {f"{{commonhold:{namespace}}}"}


def test_two_namespaces_know_nothing_of_each_other(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    for name in ("", "other", "other}:x"):
        grant(open_registry(redis_server.socket_url, name))


@examples(0.5)
@given(held=keys | small_keys, wanted=keys | small_keys)
def test_keys_overlap_as_they_do_in_the_domain(worker_redis: RedisServer, held: Key, wanted: Key) -> None:
    near = {held, wanted, held.file, wanted.file, Key(FILE, held.path[:1], is_folder=True), Key(held.scheme, ())}
    near |= {held.child(Name("f")), held.child(Name("f", 2))} if held.scheme == FILE and not held.is_folder else set()
    with closing(open_redis(worker_redis.socket_url, f"test-{uuid4()}")) as registry:
        lease = grant(registry, "one", held)
        for key in (held, *near):
            outcome = registry.execute(Acquire(f"lease-{uuid4()}", "", "two", "", (key,), Mode.EXCLUSIVE, 600.0))
            assert isinstance(outcome, Denied if overlaps(held, key) else Granted), key
            if isinstance(outcome, Granted):
                registry.execute(Release(granted(outcome).id, "two"))
        assert registry.execute(Release(lease.id, "one")) == Released(lease)
