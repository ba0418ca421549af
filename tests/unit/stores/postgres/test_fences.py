"""Fences strictly increase and never repeat: after a restart, a restore and a failover that loses grants (I1)."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import until
from tests.services.fixtures import Run
from tests.services.postgres_server import Database, PostgresServer
from tests.services.processes import as_account
from tests.services.programs import find_or_install
from tests.unit.stores.postgres.agents import grant, release
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.kernel.errors import Code, StoreError
from commonhold.stores.postgres.start import JUMP
from commonhold.stores.postgres.tables import PostgresTables

pytestmark = pytest.mark.slow


def fence(tables: PostgresTables, name: str) -> int:
    lease = grant(tables, name)
    release(tables, lease)
    return lease.fence


def run(program: str, *words: str, given: bytes = b"") -> bytes:
    """Run one of PostgreSQL's programs; what it prints."""
    path = find_or_install("initdb").resolve().with_name(program)
    who = as_account()
    ran = subprocess.run((str(path), *words), check=True, input=given, stdout=subprocess.PIPE, cwd="/", **who)
    return bytes(ran.stdout)


def catch_up(standby: PostgresServer, primary: PostgresServer) -> None:
    """Wait until a standby has all that its primary has now."""
    ((position,),) = ask(primary.url, "SELECT pg_current_wal_insert_lsn()")
    until(lambda: ask(standby.url, f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == [(True,)])


@pytest.fixture
def standby(private_postgres: PostgresServer, test_run: Run) -> Iterator[PostgresServer]:
    """A copy of the private server that follows it, once it is started."""
    server = PostgresServer.create(test_run.kept_for)
    data = Path(server.address.socket_folder, "data")
    shutil.rmtree(data)
    run(
        "pg_basebackup",
        f"--dbname={private_postgres.url}",
        f"--pgdata={data}",
        "--write-recovery-conf",
        "--checkpoint=fast",
    )
    yield server
    server.discard()


def test_they_go_on(open_tables: OpenTables) -> None:
    assert [fence(open_tables(), f"l{number}") for number in range(3)] == [1, 3, 5]


def test_they_go_on_after_a_restart(private_postgres: PostgresServer, open_tables: OpenTables) -> None:
    tables = open_tables(private_postgres.url)
    assert fence(tables, "l1") == 1
    private_postgres.restart()
    assert fence(tables, "l2") == 3
    private_postgres.crash()
    private_postgres.start()
    assert fence(tables, "l3") == 5


def test_they_jump_ahead_in_a_restored_dump(database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    assert [fence(tables, "l1"), fence(tables, "l2")] == [1, 3]
    dump = run("pg_dump", database.url)
    assert fence(tables, "l3") == 5
    ask(database.url, "DROP SCHEMA commonhold CASCADE")
    run("psql", "--quiet", "--set=ON_ERROR_STOP=1", database.url, given=dump)
    others = open_tables(database.url)
    assert fence(others, "l4") == 4 + JUMP + 1
    assert fence(tables, "l5") == 4 + JUMP + 3


def test_they_jump_ahead_of_what_a_client_was_told_that_lives_on(database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    assert [fence(tables, "l1"), fence(tables, "l2")] == [1, 3]
    ask(database.url, "TRUNCATE commonhold.events, commonhold.namespaces")
    assert fence(tables, "l3") == 4 + JUMP + 1
    assert fence(tables, "l4") == 4 + JUMP + 3


def test_they_jump_ahead_when_somebody_says_so(database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    assert fence(tables, "l1") == 1
    ask(database.url, "UPDATE commonhold.namespaces SET timeline = 0")
    assert fence(tables, "l2") == 2 + JUMP + 1
    assert fence(tables, "l3") == 2 + JUMP + 3


def test_a_jump_that_is_taken_back_is_made_again(database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    assert fence(tables, "l1") == 1
    ask(database.url, "UPDATE commonhold.namespaces SET timeline = 0")

    def give_up() -> None:
        with tables.write() as writer:
            assert writer.next_sequence == 2 + JUMP + 1
            raise KeyError

    with pytest.raises(KeyError):
        give_up()
    with tables.read() as view:
        assert view.next_sequence == 2 + JUMP + 1
    assert fence(tables, "l2") == 2 + JUMP + 1


def test_they_jump_ahead_when_a_standby_takes_over_that_was_behind(
    private_postgres: PostgresServer, standby: PostgresServer, open_tables: OpenTables
) -> None:
    tables, young = (open_tables(private_postgres.url, suffix=suffix) for suffix in ("", "-young"))
    assert fence(tables, "l1") == 1
    standby.start()
    catch_up(standby, private_postgres)
    standby.stop()
    assert [fence(tables, "l2"), fence(tables, "l3"), fence(young, "l1")] == [3, 5, 1]
    private_postgres.crash()

    standby.start()
    others, young = (open_tables(standby.url, suffix=suffix) for suffix in ("", "-young"))
    with others.read() as view:
        assert view.next_sequence == 3
    with pytest.raises(StoreError) as caught:
        fence(others, "l4")
    assert caught.value.code is Code.STORE_READ_ONLY
    ask(standby.url, "SELECT pg_promote()")
    assert [fence(others, "l4"), fence(others, "l5")] == [2 + JUMP + 1, 2 + JUMP + 3]
    assert fence(young, "l1") == JUMP + 1
