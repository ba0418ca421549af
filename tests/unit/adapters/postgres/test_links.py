"""Connections: replaced when they break, kept when they are good, never shared with a child."""

import os
from collections.abc import Callable
from contextlib import suppress

import pytest
from tests.services.postgres_server import Database
from tests.unit.adapters.postgres.agents import grant, granted_alone, log_of, registry, release, wish
from tests.unit.adapters.postgres.asking import ask
from tests.unit.adapters.postgres.conftest import OpenTables

from commonhold.adapters.postgres.link import Link, Rows
from commonhold.adapters.postgres.tables import PostgresTables
from commonhold.domain.errors import Code, StoreError
from commonhold.domain.outcomes import Granted

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


def test_round_trips(tables: PostgresTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count them: a clock, a table, and all the rest; with the command known beforehand, one less."""
    batches = []
    run = Link._run

    def counted(link: Link, batch: list[str]) -> list[Rows]:
        batches.append(batch)
        return run(link, batch)

    tables.now()
    monkeypatch.setattr(Link, "_run", counted)
    lease = grant(tables, "l1")
    assert len(batches) == 3
    release(tables, lease)
    assert len(batches) == 6
    command = wish("l2")
    with tables.write(command) as writer:
        writer.table(command, tables.now())
    assert len(batches) == 8


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
    is_child = False
    try:
        with tables.write():
            grant(tables, "l1")
            is_child = os.fork() == 0
    except StoreError as fault:
        os.write(writing, fault.code.encode())
    finally:
        if is_child:
            os._exit(0)
    os.wait()
    assert os.read(reading, 100) == b"STORE_UNSAFE"
    assert granted_alone(log_of(tables)) == [1]
