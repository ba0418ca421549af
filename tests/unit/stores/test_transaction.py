"""A transaction of SQLite: whatever takes it back, what was wrong is told."""

import apsw
import pytest

from commonhold.stores.transaction import transaction


@pytest.fixture
def connection() -> apsw.Connection:
    made = apsw.Connection(":memory:")
    made.execute("CREATE TABLE t (x UNIQUE)")
    return made


def contents(connection: apsw.Connection) -> list[object]:
    assert not connection.in_transaction
    return [x for (x,) in connection.execute("SELECT x FROM t")]


def test_what_is_done_in_it_stays(connection: apsw.Connection) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO t VALUES (1)")
    assert contents(connection) == [1]


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("INSERT INTO t VALUES (1)", apsw.ConstraintError),
        pytest.param("INSERT OR ROLLBACK INTO t VALUES (1)", apsw.ConstraintError, id="SQLite takes it back itself"),
        ("no statement", apsw.SQLError),
    ],
)
def test_a_failure_takes_it_back_and_is_told(
    statement: str, fault: type[apsw.Error], connection: apsw.Connection
) -> None:
    def fail() -> None:
        with transaction(connection):
            connection.execute("INSERT INTO t VALUES (1)")
            connection.execute(statement)

    with pytest.raises(fault):
        fail()
    assert contents(connection) == []
