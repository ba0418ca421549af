"""A command whose answer is lost takes effect once."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.services.redis_server import RedisServer
from tests.unit.stores.redis.agents import fence, grant, granted, whole_log, wish
from tests.unit.stores.redis.conftest import OpenRegistry
from tests.unit.stores.redis.forgetful import Forgetful

from commonhold.kernel.commands import Release, Renew
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import LeaseGranted, LeaseReleased
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.outcomes import NotHeld, Released, Renewed

pytestmark = pytest.mark.slow


@pytest.fixture
def way(redis_server: RedisServer) -> Iterator[Forgetful]:
    with TemporaryDirectory() as folder, closing(Forgetful(Path(folder), str(redis_server.socket))) as way:
        yield way


def test_an_acquire_is_repeated_and_known_again(way: Forgetful, open_registry: OpenRegistry) -> None:
    with closing(open_registry(way.url)) as registry:
        fence(registry)
        way.to_lose = 1
        asked = wish("one", lease_id="lease-1")
        lease = granted(registry.execute(asked))
        assert granted(registry.execute(asked)) == lease
        assert [type(each.event) for each in whole_log(registry)] == [LeaseGranted, LeaseReleased, LeaseGranted]


def test_a_renew_is_repeated(way: Forgetful, open_registry: OpenRegistry) -> None:
    with closing(open_registry(way.url)) as registry:
        fence(registry)
        lease = grant(registry)
        way.to_lose = 1
        assert isinstance(registry.execute(Renew(lease.id, "one", 60.0)), Renewed)


def test_what_has_a_request_id_gets_its_first_answer(way: Forgetful, open_registry: OpenRegistry) -> None:
    with closing(open_registry(way.url)) as registry:
        fence(registry)
        lease = grant(registry)
        way.to_lose = 1
        assert registry.execute(Release(lease.id, "one"), Once("request-1", "release")) == Released(lease)


def test_of_anything_else_it_is_said_that_nobody_knows(way: Forgetful, open_registry: OpenRegistry) -> None:
    with closing(open_registry(way.url)) as registry:
        fence(registry)
        lease = grant(registry)
        way.to_lose = 1
        with pytest.raises(StoreError, match="may have taken effect or not") as caught:
            registry.execute(Release(lease.id, "one"))
        assert (caught.value.code, caught.value.retryable) == (Code.STORE_UNREACHABLE, True)
        assert isinstance(registry.execute(Release(lease.id, "one")), NotHeld)
        assert [type(each.event) for each in whole_log(registry)] == [LeaseGranted, LeaseReleased] * 2


def test_nothing_is_sent_a_third_time(way: Forgetful, open_registry: OpenRegistry) -> None:
    with closing(open_registry(way.url)) as registry:
        way.to_lose = 2
        with pytest.raises(StoreError, match="may have taken effect or not"):
            registry.execute(wish())
        assert way.to_lose == 0
        grant(registry)
