"""Each event of a store that keeps hashes has one that covers the event before it, by all clients together."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from tests.contract.rigs import PostgresTaskRig, SqliteRig
from tests.services.postgres_server import Database

from commonhold.kernel.hash_chain import broken_at
from commonhold.kernel.task import Task
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.tasks.commands import AddTasks, ClaimTask
from commonhold.tasks.queue import TaskQueue
from commonhold.testing import FakeClock

pytestmark = pytest.mark.slow

TITLES = ("price", "naïve ✓", 'a "quoted" \\ title')


@pytest.fixture(params=["sqlite", "daemon", "postgres"])
def queues(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], TaskQueue]]:
    """Open a queue of the same store for one more client."""
    if request.param == "daemon":
        with closing(MirroredStore(str(tmp_path), synchronous="OFF")) as store:
            store.own()
            yield lambda: TaskQueue(store, FakeClock())
        return
    rig: SqliteRig | PostgresTaskRig
    if request.param == "sqlite":
        rig = SqliteRig(str(tmp_path))
    else:
        database: Database = request.getfixturevalue("shared_database")
        rig = PostgresTaskRig(database.socket_url, uuid4().hex)
    with closing(rig):
        yield rig.queue


def test_the_hashes_of_all_clients_make_one_chain(queues: Callable[[], TaskQueue]) -> None:
    first, second = queues(), queues()
    for number, title in enumerate(TITLES):
        (first, second)[number % 2].execute(AddTasks("ann", (Task(f"t{number}", title),)))
    first.execute(ClaimTask("ann", "lease-1", 60.5))
    with second.read() as reader:
        links = reader.links(limit=100)
        assert [each.sequence for each in links] == list(range(1, len(TITLES) + 3))
        assert all(each.hash is not None for each in links)
        assert broken_at(links) is None
        assert reader.links(after=3, limit=1) == links[3:4]
