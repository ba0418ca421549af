"""What can be wrong with a server, and how it is told. A password is never told."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import redis
from redis import exceptions
from tests.services.fixtures import NewRedis
from tests.services.redis_server import RedisServer
from tests.unit.stores.redis.agents import fence, grant, granted, wish
from tests.unit.stores.redis.conftest import OpenRegistry

from commonhold.kernel.commands import Release, Renew
from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.outcomes import Released, Renewed
from commonhold.stores.redis import connection, open_redis
from commonhold.stores.redis.faults import translate

pytestmark = pytest.mark.slow

SECRET = "s3cret"
SOUND = {"redis_version": "7.0.15", "run_id": "1f", "maxmemory_policy": "noeviction"}
ENDLESS = "while true do end"


def refused(registry: Registry) -> StoreError:
    """Tell how an acquire fails; it must have a hint, and must not tell the password."""
    with pytest.raises(StoreError) as caught:
        grant(registry)
    assert caught.value.hint
    assert not tells_secret(caught.value)
    return caught.value


def tells_secret(fault: CommonholdError) -> bool:
    return SECRET in f"{fault} {fault.hint} {fault.fields} {fault.__cause__}"


@contextmanager
def set_to(server: RedisServer, **settings: str) -> Iterator[redis.Redis]:
    """Run a server with other settings for a while."""
    with server.client() as client:
        names = {name: name.replace("_", "-") for name in settings}
        before: Any = client.config_get(*names.values())
        for name, value in settings.items():
            client.config_set(names[name], value)
        yield client
        for name, value in before.items():
            client.config_set(name, value)


@pytest.mark.parametrize(
    "url", [f"redis://:{SECRET}@127.0.0.1:1/0", f"rediss://me:{SECRET}@127.0.0.1:1", "unix:///nowhere/socket"]
)
def test_a_server_that_is_not_there(open_registry: OpenRegistry, url: str) -> None:
    fault = refused(open_registry(url))
    assert (fault.code, fault.retryable) == (Code.STORE_UNREACHABLE, True)
    assert str(fault.fields["address"]) in str(fault)


def test_a_server_that_comes_back(new_redis: NewRedis, open_registry: OpenRegistry) -> None:
    server = new_redis()
    registry = open_registry(server.url)
    grant(registry)
    server.stop()
    assert refused(registry).code is Code.STORE_UNREACHABLE
    server.start()
    fence(registry)


@pytest.mark.parametrize("trusted_seconds", [0.0, 60.0], ids=["looked at", "trusted"])
def test_connections_that_went_dead_unnoticed(
    new_redis: NewRedis, open_registry: OpenRegistry, monkeypatch: pytest.MonkeyPatch, trusted_seconds: float
) -> None:
    monkeypatch.setattr(connection, "_TRUSTED_SECONDS", trusted_seconds)
    server = new_redis()
    registry = open_registry(server.socket_url)
    lease = grant(registry)
    server.restart()
    renewed = registry.execute(Renew(lease.id, "one", 60.0))
    assert isinstance(renewed, Renewed)
    assert registry.execute(Release(lease.id, "one")) == Released(renewed.lease)


def test_a_wrong_password(new_redis: NewRedis, open_registry: OpenRegistry) -> None:
    server = new_redis()
    with server.client() as client:
        client.acl_setuser("me", enabled=True, passwords=["+right"], keys=["*"], categories=["+@all"])
        grant(open_registry(server.url.replace("//", "//me:right@")))
        fault = refused(open_registry(server.url.replace("//", f"//me:{SECRET}@")))
        assert (fault.code, fault.retryable) == (Code.PERMISSION_DENIED, False)
        client.acl_setuser("default", enabled=True, reset_passwords=True, passwords=["+right"])
        assert refused(open_registry(server.url)).code is Code.PERMISSION_DENIED
        client.acl_setuser("default", enabled=True, reset_passwords=True, nopass=True)


def test_a_user_without_rights(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    with redis_server.client() as client:
        client.acl_setuser("me", enabled=True, nopass=True, commands=["+info"])
        url = redis_server.url.replace("//", "//me:any@")
        fault = refused(open_registry(url))
        assert fault.code is Code.PERMISSION_DENIED
        ask: Any = client.execute_command
        ask("ACL", "SETUSER", "me", *rights(fault.hint))
        fence(open_registry(url))
        client.acl_deluser("me")


def rights(hint: str) -> list[str]:
    """What the hint says that the user has to be given."""
    return [word for word in hint.split() if word[0] in "~+"]


def test_a_replica(new_redis: NewRedis, open_registry: OpenRegistry) -> None:
    primary = new_redis()
    lease = grant(open_registry(primary.url))
    replica = new_redis(follows=primary)
    registry = open_registry(replica.url)
    fault = refused(registry)
    assert (fault.code, fault.retryable) == (Code.STORE_READ_ONLY, True)
    with registry.read() as view:
        assert view.leases() == (lease,)
    replica.promote()
    fence(registry)


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-random"])
def test_a_server_that_would_drop_leases(redis_server: RedisServer, open_registry: OpenRegistry, policy: str) -> None:
    with set_to(redis_server, maxmemory_policy=policy):
        fault = refused(open_registry(redis_server.url))
        assert (fault.code, fault.retryable) == (Code.STORE_UNSAFE, False)
        assert policy in str(fault)
    with set_to(redis_server, maxmemory_policy="volatile-lru"):
        grant(open_registry(redis_server.url))


@pytest.mark.parametrize(
    ("facts", "why"),
    [({"redis_version": "6.2.14"}, "version 6.2.14"), ({"redis_version": ""}, "unknown"), ({"run_id": ""}, "run id")],
)
def test_a_server_that_cannot_be_trusted(facts: dict[str, str], why: str) -> None:
    with pytest.raises(StoreError, match=why) as caught:
        connection._checked({**SOUND, **facts}, "redis://somewhere")
    assert caught.value.code is Code.STORE_UNSAFE


def test_full_memory(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    registry = open_registry(redis_server.url)
    lease = grant(registry)
    with set_to(redis_server, maxmemory="1"):
        fault = refused(registry)
        assert (fault.code, fault.retryable) == (Code.IO_FAILED, True)
        renewed = registry.execute(Renew(lease.id, "one", 60.0))
        assert isinstance(renewed, Renewed)
        assert registry.execute(Release(lease.id, "one")) == Released(renewed.lease)
    fence(registry)


def test_too_few_replicas(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    with set_to(redis_server, min_replicas_to_write="1"):
        fault = refused(open_registry(redis_server.url))
        assert (fault.code, fault.retryable) == (Code.STORE_UNREACHABLE, True)


def wait_until_busy(server: RedisServer) -> None:
    """It says so itself, once a script has taken longer than it should."""
    with server.client() as client, suppress(exceptions.ResponseError):
        while client.ping():
            time.sleep(0.01)


def test_a_server_that_is_busy(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    def keep_busy() -> None:
        with redis_server.client() as client, suppress(exceptions.ResponseError):
            client.eval(ENDLESS, 0)

    registry = open_registry(redis_server.url)
    grant(registry)
    with set_to(redis_server, busy_reply_threshold="10"):
        thread = threading.Thread(target=keep_busy)
        thread.start()
        wait_until_busy(redis_server)
        fault = refused(registry)
        assert (fault.code, fault.retryable) == (Code.STORE_BUSY, True)
        with redis_server.client() as client:
            client.script_kill()
        thread.join()


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (exceptions.BusyLoadingError("Redis is loading the dataset in memory"), Code.STORE_BUSY),
        (exceptions.MasterDownError("Link with MASTER is down"), Code.STORE_UNREACHABLE),
        (exceptions.MovedError("1 127.0.0.1:1"), Code.STORE_UNREACHABLE),
        (exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots, but"), Code.IO_FAILED),
        (exceptions.ConnectionError("DENIED Redis is running in protected mode"), Code.PERMISSION_DENIED),
        (exceptions.ResponseError("ERR something new"), Code.IO_FAILED),
        (exceptions.TimeoutError("Timeout reading from socket"), Code.STORE_UNREACHABLE),
    ],
)
def test_what_a_server_says_is_told_in_our_words(fault: exceptions.RedisError, code: Code) -> None:
    told = translate(fault, "redis://somewhere:1/0")
    assert told.code is code
    assert "redis://somewhere:1/0" in str(told)
    assert str(fault) in str(told.fields["redis"])


@pytest.mark.parametrize(
    "url", [f"http://me:{SECRET}@host", f"redis://me:{SECRET}@host:port", f"redis://{SECRET}?db=x"]
)
def test_a_url_that_makes_no_sense(url: str) -> None:
    with pytest.raises(InputError) as caught:
        open_redis(url, "nowhere")
    assert caught.value.code is Code.STORE_URL_INVALID
    assert not tells_secret(caught.value)


def test_the_client_is_loaded_when_it_is_needed() -> None:
    code = """
import sys
from commonhold.stores.redis import open_redis
from commonhold.kernel.errors import UsageError
assert "redis" not in sys.modules
sys.modules["hiredis"] = None
try:
    open_redis("redis://", "somewhere")
except UsageError as error:
    print(error, error.hint)
"""
    ran = subprocess.run((sys.executable, "-c", code), check=True, capture_output=True, text=True)
    assert "'hiredis' is not installed" in ran.stdout
    assert "pip install 'commonhold[redis]'" in ran.stdout


def test_options_in_the_url_do_no_harm(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    registry = open_registry(f"{redis_server.url}?decode_responses=true&socket_timeout=3&protocol=3")
    asked = wish()
    assert granted(registry.execute(asked)) == granted(registry.execute(asked))
