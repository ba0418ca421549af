"""What one transaction sees: one view when looking, its own writing, and what was asked before it was needed."""

from collections.abc import Callable

import pytest
from tests.unit.stores.postgres.agents import grant, log_of, registry, release, wish
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.kernel.commands import Heartbeat, Release
from commonhold.kernel.events import LeaseExpired, LeaseReleased
from commonhold.kernel.lease import Base
from commonhold.leases.registry import TableRegistry
from commonhold.stores.postgres.registry import PostgresRegistry
from commonhold.stores.postgres.start import instant
from commonhold.stores.postgres.tables import PostgresTables

pytestmark = pytest.mark.slow


def test_looking_sees_nothing_that_ends_later(open_tables: OpenTables) -> None:
    tables, other = open_tables(), open_tables()
    lease = grant(tables, "l1")
    with tables.read() as view:
        assert view.leases() == (lease,)
        release(other, lease)
        assert view.leases() == (lease,)
        assert tables.now() == tables.now()
        with tables.read() as same:
            assert same is view
    with tables.read() as view:
        assert view.leases() == ()


def test_one_can_write_while_one_looks(tables: PostgresTables) -> None:
    with tables.read() as view:
        assert view.leases() == ()
        lease = grant(tables, "l1")
        assert view.lease("l1") is None
    with tables.write() as writer, tables.read() as view:
        assert view is writer
        assert view.lease("l1") == lease


def test_an_exception_takes_all_back(tables: PostgresTables) -> None:
    def fail() -> None:
        with tables.write(), tables.write():
            grant(tables, "l1")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert log_of(tables) == []
    assert grant(tables, "l1").fence == 1


def test_a_transaction_sees_what_it_wrote(tables: PostgresTables) -> None:
    command = wish("l2", "two")
    with tables.write(command) as writer:
        first = grant(tables, "l1")
        assert writer.table(command, writer.now()).leases == (first,)
        assert writer.next_sequence == 2
        writer.record([LeaseReleased("one", "l1")], 0.0)
        assert writer.table(command, writer.now()).leases == ()
        assert writer.lease("l1") is None
        assert [each.sequence for each in writer.events()] == [1, 2]


def test_what_was_asked_before_is_for_its_instant_only(tables: PostgresTables) -> None:
    lease = grant(tables, "l1", ttl=60.0)
    command = Heartbeat("two")
    with tables.write(command) as writer:
        now = writer.now()
        assert writer.table(command, now).leases == ()
        assert writer.table(command, instant(now.ticks + 61.0)).leases == (lease,)


@pytest.mark.parametrize("kind", [registry, PostgresRegistry])
def test_whoever_comes_ends_what_is_over(
    kind: Callable[[PostgresTables], TableRegistry], open_tables: OpenTables
) -> None:
    passed = 0.0
    tables = open_tables(skew=lambda: passed)
    lease = grant(tables, "l1", ttl=60.0)
    passed = 59.0
    kind(tables).execute(Heartbeat("two"))
    assert len(log_of(tables)) == 1
    passed = 61.0
    kind(tables).execute(Heartbeat("two"))
    assert log_of(tables)[-1].event == LeaseExpired("one", "l1", lease.deadline)


def test_an_id_may_be_used_again_and_be_lost_again(open_tables: OpenTables) -> None:
    passed = 0.0
    tables = open_tables(skew=lambda: passed)
    for number in (1, 2):
        lease = grant(tables, "l1", ttl=60.0, worktree="/w", bases=(Base("account:12345", str(number)),))
        passed += 61.0
        registry(tables).execute(Heartbeat("two"))
        with tables.read() as view:
            assert view.lost() == (lease,)
    registry(tables).execute(Release("l1", "one"))
