"""Acquire and release through the service, against the very same SQL on bare apsw."""

import shutil
import tempfile
from pathlib import Path

import apsw

from bench.reporting import Figure, at_least, paired_ratio, report
from commonhold.api.service import Service
from commonhold.machine.system import RandomIds, SystemClock
from commonhold.stores.sqlite.connect import connect
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

PAIRS = 200
ROUNDS = 15

Values = tuple[str | bytes | int | float | None, ...]
Statement = tuple[str, Values]


def service(folder: Path, synchronous: str) -> tuple[Service, SqliteStore]:
    """A service on a fresh state folder."""
    store = SqliteStore(str(folder / "state"), synchronous=synchronous)
    files = WorkingTree(str(folder))
    hold = Service(store=store, files=files, clock=SystemClock(), ids=RandomIds(), agent="bench")
    return hold, store


def pair(hold: Service) -> None:
    """One lease, from grant to release."""
    answer = hold.acquire("account:12345", task="bench")
    assert answer.lease is not None
    hold.release(answer.lease.id)


def traced(folder: Path, synchronous: str) -> list[Statement]:
    """Every statement that a run of the service executes, with its values."""
    hold, store = service(folder, synchronous)
    statements: list[Statement] = []
    pair(hold)
    with store.read() as session:
        connection = session._connection  # noqa: SLF001 - the trace is SQLite's own

    def trace(_cursor: apsw.Cursor, sql: str, values: object) -> bool:
        statements.append((sql, values if isinstance(values, tuple) else ()))
        return True

    connection.exec_trace = trace
    for _ in range(PAIRS):
        pair(hold)
    connection.exec_trace = None
    store.close()
    return statements


def measure(synchronous: str) -> list[Figure]:
    """Rates and their ratio at one durability."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="."))
    try:
        (folder / "ours").mkdir()
        (folder / "trace").mkdir()
        statements = traced(folder / "trace", synchronous)
        hold, store = service(folder / "ours", synchronous)
        pair(hold)
        bare = connect(str(folder / "bare.db"), synchronous=synchronous)
        counter = iter(range(10**9))

        def ours() -> None:
            for _ in range(PAIRS):
                pair(hold)

        def theirs() -> None:
            offset = next(counter) * 10**6
            for sql, values in statements:
                bare.execute(sql, _shifted(sql, values, offset)).fetchall()

        mine, other, ratio = paired_ratio(ours, theirs, ROUNDS)
        store.close()
        bare.close()
    finally:
        shutil.rmtree(folder)
    return [
        Figure(f"service, {synchronous}", PAIRS / mine, "pairs/s"),
        Figure(f"bare apsw, {synchronous}", PAIRS / other, "pairs/s"),
        at_least("rate against bare, FULL", 1 / ratio, "ratio", 0.8)
        if synchronous == "FULL"
        else Figure(f"rate against bare, {synchronous}", 1 / ratio, "ratio"),
    ]


def _shifted(sql: str, values: Values, offset: int) -> Values:
    """The same values with fresh sequence numbers, where a statement would otherwise repeat a primary key."""
    if not sql.startswith("INSERT"):
        return values
    return tuple(value + offset if type(value) is int and value < 10**5 else value for value in values)


def main() -> None:
    """Measure at full durability, and at NORMAL for comparison."""
    report("leases", [figure for synchronous in ("FULL", "NORMAL") for figure in measure(synchronous)])


if __name__ == "__main__":
    main()
