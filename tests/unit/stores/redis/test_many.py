"""Many on one key, in threads and in processes: fences are unique, and nobody holds it beside another (I1, I2)."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.services.redis_server import RedisServer
from tests.unit.stores.redis.agents import compete, fence, granted_alone, whole_log
from tests.unit.stores.redis.conftest import OpenRegistry

from commonhold.kernel.events import LeaseGranted
from commonhold.kernel.lease_ports import Registry

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
MANY, SECONDS = 8, 1.0


def check(fences: list[int], registry: Registry) -> None:
    assert len(fences) >= MANY
    assert sorted(fences) == granted_alone(whole_log(registry))


def in_threads(open_one: Callable[[], Registry]) -> list[int]:
    with ThreadPoolExecutor(MANY) as threads:
        found = [threads.submit(compete, open_one(), f"thread-{number}", SECONDS) for number in range(MANY)]
        return [fence for each in found for fence in each.result()]


def test_processes(redis_server: RedisServer, open_registry: OpenRegistry, namespace: str) -> None:
    command = (sys.executable, "-m", "tests.unit.stores.redis.rival", redis_server.socket_url, namespace)
    started = [
        subprocess.Popen((*command, f"rival-{number}", str(SECONDS)), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for number in range(MANY)
    ]
    printed = [each.communicate()[0] for each in started]
    assert [each.returncode for each in started] == [0] * MANY
    check([int(fence) for each in printed for fence in each.split()], open_registry(redis_server.socket_url))


def test_threads_that_share_one(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    registry = open_registry(redis_server.socket_url)
    check(in_threads(lambda: registry), registry)


def test_threads_with_one_each(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    check(in_threads(lambda: open_registry(redis_server.url)), open_registry(redis_server.url))


def test_a_forked_child_speaks_for_itself(redis_server: RedisServer, open_registry: OpenRegistry) -> None:
    registry = open_registry(redis_server.socket_url)
    before = fence(registry)
    child = os.fork()
    if child == 0:
        os._exit(0 if all(fence(registry) > before for _ in range(50)) else 1)
    assert all(fence(registry) > before for _ in range(50))
    assert os.waitpid(child, 0)[1] == 0
    assert sum(isinstance(each.event, LeaseGranted) for each in whole_log(registry)) == 101
