"""Acquire and release on Redis, against the bare lock of the books: SET NX PX and a scripted release by its owner.

`python -m bench.redis_leases [URL]`. Without a URL it starts a server of its own, which keeps nothing on disk.
"""

import os
import secrets
import sys
from collections.abc import Callable
from uuid import uuid4

import redis
from tests.services.redis_server import RedisServer

from bench.reporting import Figure, at_least, at_most, paired_ratio, report
from commonhold.kernel.commands import Acquire, Release
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted, Released
from commonhold.stores.redis import open_redis

PAIRS = 200
ROUNDS = 31
LEASES = 20_000
KEYS = {
    "a free key": canonical("account:12345"),
    "a method, five folders deep": canonical("file:a/b/c/d/e.py#C.m"),
}
OWNER_CHECKED = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


def ours(registry: Registry, key: Key) -> Callable[[], None]:
    """Leases, from grant to release."""

    def run() -> None:
        for _ in range(PAIRS):
            lease_id = f"lease-{secrets.token_hex(8)}"
            asked = Acquire(lease_id, lease_id, "bench", "a task", (key,), Mode.EXCLUSIVE, 1800.0)
            assert isinstance(registry.execute(asked), Granted)
            assert isinstance(registry.execute(Release(lease_id, "bench")), Released)

    run()
    return run


def bare(url: str) -> Callable[[], None]:
    """Bare locks, by the same client library."""
    client = redis.Redis.from_url(url)
    release = client.register_script(OWNER_CHECKED)

    def run() -> None:
        for _ in range(PAIRS):
            token = secrets.token_hex(8)
            assert client.set("lock", token, nx=True, px=1_800_000)
            assert release(keys=["lock"], args=[token]) == 1

    run()
    return run


def against_bare(url: str, name: str, key: Key) -> list[Figure]:
    """Rates and their ratio."""
    mine, theirs, ratio = paired_ratio(ours(open_redis(url, uuid4().hex), key), bare(url), ROUNDS)
    return [
        Figure(f"{name}: leases", PAIRS / mine, "pairs/s"),
        Figure(f"{name}: bare locks", PAIRS / theirs, "pairs/s"),
        at_least(f"{name}: rate against bare", 1 / ratio, "ratio", 0.5),
    ]


def beside_many(url: str) -> list[Figure]:
    """What very many leases of others cost."""
    key = KEYS["a method, five folders deep"]
    full, empty = open_redis(url, uuid4().hex), open_redis(url, uuid4().hex)
    for number in range(0, LEASES, 100):
        held = tuple(canonical(f"file:a/b/{each % 7}/{each % 101}.py#f{each}") for each in range(number, number + 100))
        for each in held:
            full.execute(Acquire(f"held-{each}", "", f"other-{number}", "", (each,), Mode.EXCLUSIVE, 86400.0))
    mine, _, ratio = paired_ratio(ours(full, key), ours(empty, key), ROUNDS)
    return [
        Figure("beside 20,000 leases", PAIRS / mine, "pairs/s"),
        at_most("time against nothing", ratio, "ratio", 1.5),
    ]


def measure(url: str) -> None:
    """Measure at one server."""
    pairs = [figure for name, key in KEYS.items() for figure in against_bare(url, name, key)]
    report("redis_leases", [*pairs, *beside_many(url)])


def main() -> None:
    """Measure at the server that was named, or at one of our own."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    server = RedisServer.create((os.getpid(),), options={"appendonly": "no"})
    server.start()
    try:
        measure(server.socket_url)
    finally:
        server.discard()


if __name__ == "__main__":
    main()
