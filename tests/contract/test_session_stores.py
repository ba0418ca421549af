"""The conformance suite of managed sessions, unchanged, on every store that keeps them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from tests.contract.rigs import MemoryRig, PostgresTaskRig, SqliteRig
from tests.contract.test_task_stores import MirroredRig
from tests.services.postgres_server import Database

from commonhold.testing.conformance import SessionConformance, SessionRig


class TestMemory(SessionConformance):
    @pytest.fixture
    def rig(self) -> Iterator[SessionRig]:
        with closing(MemoryRig()) as rig:
            yield rig


class TestSqlite(SessionConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[SessionRig]:
        with closing(SqliteRig(str(tmp_path))) as rig:
            yield rig


class TestSqliteInADaemon(SessionConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[SessionRig]:
        with closing(MirroredRig(str(tmp_path))) as rig:
            yield rig


class TestPostgres(SessionConformance):
    @pytest.fixture
    def rig(self, shared_database: Database) -> Iterator[SessionRig]:
        with closing(PostgresTaskRig(shared_database.socket_url, uuid4().hex)) as rig:
            yield rig
