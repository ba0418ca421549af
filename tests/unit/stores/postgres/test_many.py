"""Many on one key, in threads and in processes: fences are unique, and nobody holds it beside another (I1, I2)."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest
from tests.services.pooler import Pooler
from tests.services.postgres_server import Database
from tests.unit.stores.postgres.agents import fences_of, granted_alone, log_of
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.stores.postgres.tables import PostgresTables

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
MANY, ROUNDS = 8, 25


def rivals(urls: Sequence[str], namespace: str) -> list[int]:
    """Let processes compete, each by the next of the URLs."""
    command = (sys.executable, "-m", "tests.unit.stores.postgres.rival")
    started = [
        subprocess.Popen(
            (*command, url, namespace, f"rival-{number}", str(ROUNDS)), cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for number, url in zip(range(MANY), cycle(urls), strict=False)
    ]
    printed = [each.communicate()[0] for each in started]
    assert [each.returncode for each in started] == [0] * MANY
    return [int(fence) for each in printed for fence in each.split()]


def in_threads(open_one: Callable[[], PostgresTables]) -> list[int]:
    with ThreadPoolExecutor(MANY) as threads:
        found = [threads.submit(fences_of, open_one(), f"thread-{number}", ROUNDS) for number in range(MANY)]
        return [fence for each in found for fence in each.result()]


def check(fences: list[int], tables: PostgresTables) -> None:
    log = log_of(tables)
    assert sorted(fences) == granted_alone(log)
    assert [each.sequence for each in log] == list(range(1, len(log) + 1))
    assert len(fences) >= MANY


def test_processes_half_of_them_behind_a_pooler(
    common_database: Database, pooler: Pooler, namespace: str, tables: PostgresTables
) -> None:
    check(rivals((common_database.url, pooler.url(common_database.name)), namespace), tables)


def test_threads_that_share_one(tables: PostgresTables) -> None:
    check(in_threads(lambda: tables), tables)


def test_threads_with_one_each(open_tables: OpenTables) -> None:
    check(in_threads(open_tables), open_tables())


def test_all_may_be_the_first_and_the_database_may_want_other_isolation(
    database: Database, open_tables: OpenTables
) -> None:
    ask(database.url, f"ALTER DATABASE {database.name} SET default_transaction_isolation = 'repeatable read'")
    check(in_threads(lambda: open_tables(database.url)), open_tables(database.url))
