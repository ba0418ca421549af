"""What can be wrong with a database, and how it is told. A password is never told."""

import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.services.postgres_server import Database, PostgresServer
from tests.unit.stores.postgres.agents import grant, log_of, registry, release, wish
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.kernel.commands import Put
from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError, UsageError
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.outcomes import Acknowledged, Denied
from commonhold.stores.postgres import link, open_postgres
from commonhold.stores.postgres import migrations as making
from commonhold.stores.postgres.locks import lock_of
from commonhold.stores.postgres.statements import load
from commonhold.stores.postgres.tables import PostgresTables
from commonhold.stores.postgres.target import read_url

pytestmark = pytest.mark.slow

SECRET = "s3cret/&?"


def refused(tables: PostgresTables) -> CommonholdError:
    """Tell how an acquire fails; it must have a hint, and must not tell the password."""
    with pytest.raises(CommonholdError) as caught:
        grant(tables, "l1")
    assert caught.value.hint
    assert not tells_secret(caught.value)
    return caught.value


def tells_secret(fault: CommonholdError) -> bool:
    told = f"{fault} {fault.hint} {fault.fields} {fault.__cause__}"
    return any(secret in told for secret in (SECRET, quote(SECRET, safe=""), "s3cret"))


def as_user(database: Database, user: str) -> str:
    return database.url.replace("//commonhold@", f"//{user}:{quote(SECRET, safe='')}@")


def make_role(database: Database) -> str:
    role = f"role_{database.name}"
    ask(database.url, f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'")
    return role


def speak_otherwise(monkeypatch: pytest.MonkeyPatch, **statements: str) -> None:
    monkeypatch.setattr(link, "load", lambda schema: {**load(schema), **statements})


def test_a_server_that_does_not_answer(open_tables: OpenTables) -> None:
    fault = refused(open_tables(f"postgresql://me:{quote(SECRET, safe='')}@127.0.0.1:1/nowhere"))
    assert (fault.code, fault.retryable) == (Code.STORE_UNREACHABLE, True)
    assert fault.fields["database"] == "127.0.0.1:1/nowhere"


def test_a_wrong_password(private_postgres: PostgresServer, open_tables: OpenTables) -> None:
    data = Path(private_postgres.address.socket_folder, "data")
    data.joinpath("pg_hba.conf").write_text("local all all trust\nhost all all all scram-sha-256\n")
    by_socket = private_postgres.address.socket_url()
    ask(by_socket, "CREATE ROLE me LOGIN PASSWORD 'right'")
    ask(by_socket, "GRANT CREATE ON DATABASE postgres TO me")
    ask(by_socket, "SELECT pg_reload_conf()")
    with_password = private_postgres.url.replace("//commonhold@", "//me:right@")
    assert grant(open_tables(with_password), "l1").fence == 1
    fault = refused(open_tables(with_password.replace("right", quote(SECRET, safe=""))))
    assert (fault.code, fault.retryable) == (Code.PERMISSION_DENIED, False)
    assert refused(open_tables(with_password.replace(":right", ""))).code is Code.PERMISSION_DENIED


def test_no_such_database(database: Database, open_tables: OpenTables) -> None:
    fault = refused(open_tables(database.url + "_not"))
    assert (fault.code, fault.retryable) == (Code.STORE_URL_INVALID, False)


def test_no_such_role(database: Database, open_tables: OpenTables) -> None:
    assert refused(open_tables(as_user(database, "nobody_at_all"))).code is Code.PERMISSION_DENIED


def test_no_right_to_make_the_schema(database: Database, open_tables: OpenTables) -> None:
    role = make_role(database)
    fault = refused(open_tables(as_user(database, role)))
    assert fault.code is Code.PERMISSION_DENIED
    assert "CREATE SCHEMA commonhold" in fault.hint
    ask(database.url, f"CREATE SCHEMA commonhold AUTHORIZATION {role}")
    assert grant(open_tables(as_user(database, role)), "l1").fence == 1
    ask(database.url, f"DROP OWNED BY {role}")
    ask(database.url, f"DROP ROLE {role}")


def test_no_right_to_use_it(database: Database, open_tables: OpenTables) -> None:
    grant(open_tables(database.url), "l1")
    role = make_role(database)
    assert refused(open_tables(as_user(database, role))).code is Code.PERMISSION_DENIED
    ask(database.url, f"DROP ROLE {role}")


def test_a_database_that_takes_no_writes(database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    lease = grant(tables, "l0")
    tables.close()
    ask(database.url, f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    assert refused(tables).code is Code.STORE_READ_ONLY
    with open_tables(database.url).read() as view:
        assert view.leases() == (lease,)


def test_a_newer_schema(database: Database, open_tables: OpenTables) -> None:
    grant(open_tables(database.url), "l1")
    ask(database.url, "INSERT INTO commonhold.versions (version) VALUES (99)")
    fault = refused(open_tables(database.url))
    assert (fault.code, fault.fields["schema"]) == (Code.STORE_NEWER, 99)


def test_an_older_schema_is_brought_up(
    database: Database, open_tables: OpenTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = making.MIGRATIONS
    monkeypatch.setattr(making, "MIGRATIONS", migrations[:1])
    with pytest.raises(StoreError):  # the tables are there, the functions are not
        grant(open_tables(database.url), "l1")
    monkeypatch.setattr(making, "MIGRATIONS", migrations)
    assert grant(open_tables(database.url), "l1").fence == 1
    versions = [(number,) for number in range(1, len(migrations) + 1)]
    assert ask(database.url, "SELECT version FROM commonhold.versions") == versions


def test_a_schema_that_has_lost_a_table(database: Database, open_tables: OpenTables) -> None:
    grant(open_tables(database.url), "l0")
    ask(database.url, "DROP TABLE commonhold.events CASCADE")
    assert refused(open_tables(database.url)).code is Code.STORE_CORRUPT


def test_a_database_of_another_encoding(database: Database, open_tables: OpenTables) -> None:
    other = f"{database.name}_ascii"
    ask(database.url, f"CREATE DATABASE {other} ENCODING 'SQL_ASCII' TEMPLATE template0")
    try:
        assert refused(open_tables(database.url + "_ascii")).code is Code.STORE_UNSAFE
    finally:
        ask(database.url, f"DROP DATABASE {other} WITH (FORCE)")


@pytest.mark.parametrize(
    ("state", "code"),
    [("53100", Code.DISK_FULL), ("40001", Code.STORE_BUSY), ("40P01", Code.STORE_BUSY), ("22000", Code.IO_FAILED)],
)
def test_a_write_that_fails(state: str, code: Code, database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    tables.now()
    body = f"BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END"
    ask(database.url, f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
    ask(database.url, "CREATE TRIGGER fail BEFORE INSERT ON commonhold.events EXECUTE FUNCTION fail()")
    fault = refused(tables)
    assert (fault.code, fault.fields["sqlstate"]) == (code, state)
    ask(database.url, "DROP TRIGGER fail ON commonhold.events")
    assert grant(tables, "l1").fence == 1


@pytest.mark.parametrize("is_told", [True, False])
def test_a_failure_that_is_swallowed_does_not_pass_for_success(tables: PostgresTables, *, is_told: bool) -> None:
    def swallow() -> None:
        with tables.write() as writer:
            grant(tables, "l1")
            writer.leases()
            with suppress(StoreError):
                writer.events(limit=-1)
            if is_told:
                writer.remember("one", "r1", StoredAnswer("", Acknowledged()), 0.0)

    with pytest.raises(StoreError, match="failed before, so all of it was taken back"):
        swallow()
    assert log_of(tables) == []


def test_others_who_keep_the_lock_for_too_long(
    open_tables: OpenTables, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = open_tables()
    speak_otherwise(monkeypatch, wait_at_most="SET LOCAL lock_timeout = '50ms'")
    with hanging.write() as writer:
        assert writer.next_sequence == 1
        fault = refused(open_tables())
    assert (fault.code, fault.retryable) == (Code.STORE_BUSY, True)
    assert lock_of("commonhold", namespace) != lock_of("commonhold", namespace + "x") != lock_of("other", namespace)


def test_who_hangs_is_thrown_out(open_tables: OpenTables, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        speak_otherwise(patch, hang_at_most="SET LOCAL idle_in_transaction_session_timeout = '50ms'")
        hanging = open_tables()
        hanging.now()

    def hang() -> None:
        with hanging.write() as writer:
            assert writer.next_sequence == 1
            time.sleep(0.3)
            assert grant(open_tables(), "l1").fence == 1
            writer.leases()

    with pytest.raises(StoreError) as caught:
        hang()
    assert caught.value.code is Code.STORE_UNREACHABLE
    assert "nothing was changed" in caught.value.message


def test_threads_wait_only_so_long_for_each_other(tables: PostgresTables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonhold.stores.postgres.tables._LONGEST_WAIT_SECONDS", 0.01)
    with tables._threads:
        assert refused(tables).code is Code.STORE_BUSY


def test_what_is_committed_is_on_the_disk(database: Database, open_tables: OpenTables) -> None:
    tables = open_tables(database.url)
    tables.now()
    tables.close()
    for default, expected in (("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")):
        ask(database.url, f"ALTER DATABASE {database.name} SET synchronous_commit = {default}")
        with open_tables(database.url).write() as writer:
            assert writer.next_sequence
            connected = writer._transaction._connected()
            assert connected.run(["SHOW synchronous_commit"]) == [[(expected,)]]


def test_a_very_long_key_can_be_leased(tables: PostgresTables) -> None:
    parts = [secrets.token_hex(80) for _ in range(20)]  # what cannot be compressed
    long, below, beside = (":".join(("free", *each)) for each in (parts[:19], parts, [*parts[:18], "other"]))
    lease = grant(tables, "l1", key=below)
    for number, key in enumerate((long, below)):
        assert isinstance(registry(tables).execute(wish(f"d{number}", "two", key)), Denied)
    release(tables, grant(tables, "l2", holder="two", key=beside))
    release(tables, lease)
    assert grant(tables, "l3", holder="two", key=long).holder == "two"


def test_values_of_very_long_keys_are_refused(tables: PostgresTables) -> None:
    with pytest.raises(InputError) as caught:
        registry(tables).execute(Put(canonical("free:" + secrets.token_hex(2000)), "one", "x", 0))
    assert caught.value.code is Code.KEY_INVALID


@pytest.mark.parametrize(
    "url",
    [
        "",
        "redis://localhost",
        "host=localhost",
        f"postgresql://me:{SECRET}@host:port/db",
        "postgresql://me:s3cret%zz@host/db",
        "postgresql://host/db?nonsense=1",
        "postgresql://host/db?options=-csearch_path%3Da%2Cb",
        "postgresql://host/db?options=-csearch_path%3DUpper",
    ],
)
def test_an_url_that_is_none(url: str) -> None:
    with pytest.raises(InputError) as caught:
        open_postgres(url, "house")
    assert caught.value.code is Code.STORE_URL_INVALID
    assert not tells_secret(caught.value)


def test_a_target_does_not_show_its_password() -> None:
    assert "s3cret" not in repr(read_url("postgresql://me:s3cret@host/db"))


def test_a_namespace_is_a_line_of_text() -> None:
    with pytest.raises(InputError):
        open_postgres("postgresql://host/db", "two\nlines")


def test_another_schema(database: Database, open_tables: OpenTables) -> None:
    url = database.url + "?options=-csearch_path%3Dteam_1%20-cwork_mem%3D4MB"
    grant(open_tables(url), "l1")
    assert grant(open_tables(database.url), "l1").fence == 1
    assert ask(database.url, "SELECT count(*) FROM team_1.events") == [(1,)]


def test_the_driver_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "commonhold.stores.postgres.tables", None)
    with pytest.raises(UsageError) as caught:
        open_postgres("postgresql://host/db", "house")
    assert "commonhold[postgres]" in caught.value.hint
