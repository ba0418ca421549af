"""Beside many leases a decision looks at few rows, though its plan was made when the tables were empty."""

import pytest
from tests.services.postgres_server import Database
from tests.unit.stores.postgres.agents import fences_of, grant, registry, release
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.kernel.clock import Deadline, deadline
from commonhold.kernel.commands import Heartbeat
from commonhold.kernel.events import LeaseGranted
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.stores.postgres.tables import PostgresTables

pytestmark = pytest.mark.slow

MANY, FEW = 2_000, 100
READ = """
SELECT sum(idx_tup_read) + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'commonhold')
FROM pg_stat_user_indexes WHERE schemaname = 'commonhold'
"""


def fill(tables: PostgresTables, many: int) -> None:
    with tables.write() as writer:
        now, first = writer.now(), writer.next_sequence
        until = deadline(now, 86400.0)
        writer.record((granted(first + number, number, until) for number in range(many)), now.wall)


def granted(fence: int, number: int, until: Deadline) -> LeaseGranted:
    keys = (f"repo:team{number % 7}:thing:{number}",)
    return LeaseGranted(Lease(f"x{number}", fence, f"h{number % 50}", "", keys, Mode.EXCLUSIVE, "a", 0.0, until))


def rows_read(tables: PostgresTables, url: str) -> int:
    """Tell how many rows were read by index, or one after the other, up to now."""
    with tables.write() as writer:
        writer._transaction._connected().run(["SELECT pg_stat_force_next_flush()"])
    ((count,),) = ask(url, READ)
    return int(count)


def test_it_looks_at_few_rows(database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    fences_of(tables, "one", 10)
    ask(database.url, "VACUUM ANALYZE")  # what the planner knows from now on: the tables are empty
    fences_of(tables, "one", 10)
    fill(open_tables(database.url), MANY)
    before = rows_read(tables, database.url)

    fences_of(tables, "one", 1)
    release(tables, grant(tables, "deep", key="repo:team3:mine:deep"))
    grant(tables, "folder", key="file:src/")
    registry(tables).execute(Heartbeat("one"))
    assert 0 < rows_read(tables, database.url) - before < FEW
