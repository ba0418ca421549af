"""The conformance suite, unchanged, on every store that we have."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.contract.rigs import MemoryRig, SqliteRig

from commonhold.testing.conformance import RegistryConformance, Rig, TransactionConformance

pytestmark = pytest.mark.slow


class TestMemory(RegistryConformance, TransactionConformance):
    @pytest.fixture
    def rig(self) -> Iterator[Rig]:
        with closing(MemoryRig()) as rig:
            yield rig


class TestSqlite(RegistryConformance, TransactionConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[Rig]:
        with closing(SqliteRig(str(tmp_path))) as rig:
            yield rig


class TestPostgres(RegistryConformance, TransactionConformance):
    @pytest.fixture
    def rig(self, on_postgres: Rig) -> Rig:
        return on_postgres


class TestRedis(RegistryConformance):
    @pytest.fixture
    def rig(self, on_redis: Rig) -> Rig:
        return on_redis
