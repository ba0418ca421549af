"""The conformance suite of tasks, unchanged, on every store that keeps them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from tests.contract.rigs import MemoryRig, PostgresTaskRig, SqliteRig
from tests.services.postgres_server import Database

from commonhold.landing.queue import EntryQueue
from commonhold.leases.registry import TableRegistry
from commonhold.runs.queue import RunQueue
from commonhold.sessions.queue import SessionQueue
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.tasks.queue import TaskQueue
from commonhold.testing import FakeClock
from commonhold.testing.conformance import TaskConformance, TaskRig


class MirroredRig:
    """A store with one owner, as the daemon has it; all clients are threads of its process."""

    def __init__(self, folder: str) -> None:
        self.clock = FakeClock()
        self.store = MirroredStore(folder, synchronous="OFF")
        self.store.own()

    def queue(self) -> TaskQueue:
        return TaskQueue(self.store, self.clock)

    def runs(self) -> RunQueue:
        return RunQueue(self.store, self.clock)

    def entries(self) -> EntryQueue:
        return EntryQueue(self.store, self.clock)

    def registry(self) -> TableRegistry:
        return TableRegistry(self.store, self.clock)

    def managed_sessions(self) -> SessionQueue:
        return SessionQueue(self.store, self.clock)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def close(self) -> None:
        self.store.close()


class TestMemory(TaskConformance):
    @pytest.fixture
    def rig(self) -> Iterator[TaskRig]:
        with closing(MemoryRig()) as rig:
            yield rig


class TestSqlite(TaskConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[TaskRig]:
        with closing(SqliteRig(str(tmp_path))) as rig:
            yield rig


class TestSqliteInADaemon(TaskConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[TaskRig]:
        with closing(MirroredRig(str(tmp_path))) as rig:
            yield rig


class TestPostgres(TaskConformance):
    @pytest.fixture
    def rig(self, shared_database: Database) -> Iterator[TaskRig]:
        with closing(PostgresTaskRig(shared_database.socket_url, uuid4().hex)) as rig:
            yield rig
