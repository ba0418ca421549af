"""The public suite, on PostgreSQL itself and behind a pooler that changes connections after every transaction."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from tests.contract.rigs import ServerRig
from tests.services.pooler import Pooler
from tests.services.postgres_server import Database
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.leases.registry import TableRegistry
from commonhold.testing.conformance import RegistryConformance, Rig, TransactionConformance

pytestmark = pytest.mark.slow


def rig_at(url: str, open_tables: OpenTables) -> ServerRig:
    def connect(skew: Callable[[], float]) -> TableRegistry:
        tables = open_tables(url, skew=skew)
        return TableRegistry(tables, tables)

    return ServerRig(connect)


class TestPostgres(RegistryConformance, TransactionConformance):
    @pytest.fixture
    def rig(self, common_database: Database, open_tables: OpenTables) -> Iterator[Rig]:
        with closing(rig_at(common_database.url, open_tables)) as rig:
            yield rig


class TestPostgresBehindAPooler(RegistryConformance, TransactionConformance):
    @pytest.fixture
    def rig(self, common_database: Database, pooler: Pooler, open_tables: OpenTables) -> Iterator[Rig]:
        with closing(rig_at(pooler.url(common_database.name), open_tables)) as rig:
            yield rig
