"""The conformance suite of the merge queue, unchanged, on every store that keeps them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from tests.contract.rigs import MemoryRig, PostgresTaskRig, SqliteRig
from tests.contract.test_task_stores import MirroredRig
from tests.services.postgres_server import Database

from commonhold.testing.conformance import EntryConformance, EntryRig


class TestMemory(EntryConformance):
    @pytest.fixture
    def rig(self) -> Iterator[EntryRig]:
        with closing(MemoryRig()) as rig:
            yield rig


class TestSqlite(EntryConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[EntryRig]:
        with closing(SqliteRig(str(tmp_path))) as rig:
            yield rig


class TestSqliteInADaemon(EntryConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[EntryRig]:
        with closing(MirroredRig(str(tmp_path))) as rig:
            yield rig


class TestPostgres(EntryConformance):
    @pytest.fixture
    def rig(self, shared_database: Database) -> Iterator[EntryRig]:
        with closing(PostgresTaskRig(shared_database.socket_url, uuid4().hex)) as rig:
            yield rig
