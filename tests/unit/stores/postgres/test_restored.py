"""A database that was set back: no lease in it goes on, whoever is the first to speak to it, and it is told."""

from pathlib import Path

import pytest
from tests.services.postgres_server import Database
from tests.unit.stores.postgres.agents import grant, release
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.conftest import OpenTables
from tests.unit.stores.postgres.test_fences import run

from commonhold.kernel.commands import Heartbeat, Renew
from commonhold.kernel.events import LeaseBroken, LeaseGranted, StateReset
from commonhold.kernel.outcomes import NotHeld
from commonhold.kernel.refusals import Refusal
from commonhold.stores.postgres import open_postgres
from commonhold.stores.postgres.registry import PostgresRegistry
from commonhold.stores.postgres.start import JUMP
from commonhold.stores.postgres.tables import PostgresTables
from commonhold.stores.reset_events import ITSELF, REASON
from commonhold.stores.seen import Seen

pytestmark = pytest.mark.slow


def restore(database: Database, dump: bytes) -> None:
    ask(database.url, "DROP SCHEMA commonhold CASCADE")
    run("psql", "--quiet", "--set=ON_ERROR_STOP=1", database.url, given=dump)


def set_back(database: Database, sequence: int) -> None:
    """Forget all events after one, as a disk does that is set back: nothing in the database tells of it."""
    for table, number in (("events", "seq"), ("leases", "fence")):
        ask(database.url, f"DELETE FROM commonhold.{table} WHERE {number} > {sequence}")  # noqa: S608 - from this file


@pytest.mark.parametrize("lives_on", [True, False], ids=["a client that lives on", "a new client"])
def test_a_lease_that_was_released_does_not_come_back(
    database: Database, open_tables: OpenTables, *, lives_on: bool
) -> None:
    tables = open_tables(database.url)
    lease = grant(tables, "l1", holder="one")
    dump = run("pg_dump", database.url)
    release(tables, lease)
    newest = grant(tables, "l2", holder="two")
    restore(database, dump)
    registry = PostgresRegistry(tables if lives_on else open_tables(database.url))
    refused = registry.execute(Renew(lease.id, "one", 60.0))
    assert isinstance(refused, NotHeld)
    assert refused.code is Refusal.LEASE_LOST
    with registry.read() as view:
        assert view.leases() == ()
        first, *told = [each.event for each in view.events()]
    assert isinstance(first, LeaseGranted)
    assert told == [StateReset(ITSELF), LeaseBroken("one", lease.id, ITSELF, REASON)]
    assert grant(tables, "l3").fence > newest.fence + JUMP


def test_a_disk_that_was_set_back_shows_to_whoever_was_told_more(
    database: Database, open_tables: OpenTables, namespace: str, tmp_path: Path
) -> None:
    """That is any process of a machine on which somebody was told."""

    def opened() -> PostgresTables:
        return open_postgres(database.url, namespace, seen=Seen(str(tmp_path / "seen")))

    tables = opened()
    lease = grant(tables, "l1", holder="one")
    newest = grant(tables, "l2", key="account:2", holder="two")
    tables.close()
    set_back(database, lease.fence)
    registry = PostgresRegistry(opened())
    registry.execute(Heartbeat("one"))
    with registry.read() as view:
        assert view.leases() == ()
    assert grant(open_tables(database.url), "l3").fence > newest.fence + JUMP
    registry.close()


def test_nothing_ends_where_nothing_was_lost(database: Database, namespace: str, tmp_path: Path) -> None:
    lease = None
    for _ in range(3):
        tables = open_postgres(database.url, namespace, seen=Seen(str(tmp_path / "seen")))
        lease = lease or grant(tables, "l1", holder="one")
        PostgresRegistry(tables).execute(Heartbeat("two"))
        with tables.read() as view:
            assert view.leases() == (lease,)
        tables.close()


def test_of_two_servers_at_one_url_the_leases_of_the_one_that_lags_end(
    database: Database, namespace: str, tmp_path: Path
) -> None:
    """Two namespaces stand for two servers, to which a proxy leads in turn."""
    first, second = namespace, f"{namespace}-other"

    def opened(server: str) -> PostgresTables:
        return open_postgres(database.url, server, seen=Seen(str(tmp_path / "seen")))

    stranger = open_postgres(database.url, second)
    grant(stranger, "other", holder="stranger")
    stranger.close()
    fence = 0
    for server in (first, second, first, second):
        tables = opened(server)
        PostgresRegistry(tables).execute(Heartbeat("one"))
        with tables.read() as view:
            assert view.leases() == ()
        for name in ("l1", "l2"):
            fence, before = grant(tables, f"{name}-{fence}", key=f"account:{name}", holder="one").fence, fence
            assert fence > before
        tables.close()
