"""Connections: replaced when they break, kept when they are good, never shared with a child."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from tests.services.postgres_server import Database
from tests.unit.stores.postgres.agents import grant, granted_alone, log_of, registry, release, wish
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import LeaseDenied
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.stores.postgres.link import Link, Rows
from commonhold.stores.postgres.registry import PostgresRegistry
from commonhold.stores.postgres.tables import PostgresTables

pytestmark = pytest.mark.slow

Forked = Callable[[Callable[[], bool]], bool]
END_ALL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def private(database: Database, open_tables: OpenTables) -> PostgresTables:
    """Tables whose connections can be told from those of other tests."""
    return open_tables(database.url)


def end_all(database: Database) -> None:
    ask(database.url, END_ALL)


def test_one_that_broke_in_between_is_replaced(private: PostgresTables, database: Database) -> None:
    lease = grant(private, "l1")
    with private.read() as one, private.read():
        assert one.leases() == (lease,)
    end_all(database)
    with private.read() as view:
        assert view.leases() == (lease,)
    end_all(database)
    release(private, lease)
    end_all(database)
    assert private.now().ticks > lease.granted_at


def test_one_that_breaks_inside_takes_the_transaction_back(private: PostgresTables, database: Database) -> None:
    def break_inside() -> None:
        with private.write() as writer:
            assert writer.next_sequence == 1
            end_all(database)
            writer.leases()

    with pytest.raises(StoreError) as caught:
        break_inside()
    assert caught.value.code is Code.STORE_UNREACHABLE
    assert "nothing was changed" in caught.value.message
    assert grant(private, "l1").fence == 1


def test_a_transaction_in_which_nothing_is_said_needs_no_server(open_tables: OpenTables) -> None:
    tables = open_tables("postgresql://127.0.0.1:1/nowhere")
    with tables.write(), tables.read():
        pass
    tables.close()


def test_few_are_kept(tables: PostgresTables) -> None:
    for _ in range(3):
        release(tables, grant(tables, f"l{_}"))
    assert len(tables._links._open) == 1


def test_closing_is_idempotent_and_lets_go(tables: PostgresTables) -> None:
    grant(tables, "l1")
    tables.close()
    tables.close()
    assert not tables._links._open
    assert isinstance(registry(tables).execute(wish("l1")), Granted)


@pytest.fixture
def batches(tables: PostgresTables, monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Everything that is said from now on: each batch is a round trip."""
    said: list[Sequence[str]] = []
    run = Link._run

    def listen(link: Link, batch: Sequence[str]) -> list[Rows]:
        said.append(batch)
        return run(link, batch)

    tables.now()
    monkeypatch.setattr(Link, "_run", listen)
    return said


def test_a_command_takes_three_round_trips(tables: PostgresTables, batches: list[Sequence[str]]) -> None:
    lease = grant(tables, "l1")
    assert len(batches) == 3
    release(tables, lease)
    assert len(batches) == 6


def test_one_that_is_told_beforehand_takes_two(tables: PostgresTables, batches: list[Sequence[str]]) -> None:
    PostgresRegistry(tables).execute(wish("l1"), Once("r1", ""))
    assert len(batches) == 2


def test_looking_once_takes_two(tables: PostgresTables, batches: list[Sequence[str]]) -> None:
    with tables.read() as view:
        assert view.leases() == ()
    assert len(batches) == 2


def test_very_much_is_not_said_at_once(tables: PostgresTables, batches: list[Sequence[str]]) -> None:
    with tables.write() as writer:
        writer.record([LeaseDenied("one", "", (), Mode.SHARED, ())] * 2_500, 0.0)
    assert max(map(len, batches)) < 1_100
    assert len(batches) == 4


def test_several_threads_may_close_idle_ones_at_once(private: PostgresTables) -> None:
    class Emptied(list[Link]):
        """What another thread takes from between a look and the next."""

        def __bool__(self) -> bool:
            return True

    grant(private, "l1")
    links = private._links
    links._idle = Emptied(links._idle)
    links.close()
    assert list(links._idle) == []


def test_a_child_has_its_own(tables: PostgresTables, forked: Forked) -> None:
    lease = grant(tables, "l1")
    assert forked(lambda: not isinstance(registry(tables).execute(wish("l2", "two")), Granted))
    assert forked(lambda: grant(tables, "l3", key="other:key").fence > lease.fence)
    release(tables, lease)
    assert len(tables._links._open) == 1
    tables.close()


def test_a_child_cannot_end_its_parents_transaction(tables: PostgresTables, forked: Forked) -> None:
    with tables.write() as writer:
        assert writer.next_sequence == 1

        def is_refused() -> bool:
            with suppress(StoreError), tables.write() as same:
                same.leases()
                return False
            return True

        assert forked(is_refused)
        writer.record([], 0.0)
        grant(tables, "l1")
    assert granted_alone(log_of(tables)) == [1]


def test_a_child_that_leaves_the_block_is_told(tables: PostgresTables) -> None:
    reading, writing = os.pipe()
    pid = -1
    try:
        with tables.write():
            grant(tables, "l1")
            pid = os.fork()
    except StoreError as fault:
        os.write(writing, fault.code.encode())
    finally:
        if pid == 0:
            os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reading, 100) == b"STORE_UNSAFE"
    assert granted_alone(log_of(tables)) == [1]
