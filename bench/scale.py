"""Acquire and release beside 100,000 live leases and 1,000,000 events, against the same beside none."""

import shutil
import tempfile
from pathlib import Path

import apsw

from bench.reporting import Figure, at_most, paired_ratio, report
from commonhold.api.service import Service
from commonhold.kernel.clock import deadline
from commonhold.kernel.events import LeaseGranted
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.machine.system import RandomIds, SystemClock
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

LEASES = 100_000
EVENTS = 1_000_000
PAIRS = 100
ROUNDS = 15


def service(folder: Path) -> tuple[Service, SqliteStore]:
    """A service on a fresh state folder."""
    folder.mkdir()
    store = SqliteStore(str(folder / "state"))
    return Service(store=store, files=WorkingTree(str(folder)), clock=SystemClock(), ids=RandomIds(), agent="me"), store


def fill(store: SqliteStore) -> None:
    """Leases of many holders, six segments deep, and a long history before them."""
    now = SystemClock().now()
    with store.write() as writer:
        connection: apsw.Connection = writer._connection  # noqa: SLF001 - a million events are too many for the front door
        rows = ((number, 0.0, "lease_denied", "x", None, "{}") for number in range(1, EVENTS - LEASES + 1))
        connection.executemany("INSERT INTO events (seq, at, kind, holder, lease_id, body) VALUES (?,?,?,?,?,?)", rows)
    with store.write() as writer:
        first = writer.next_sequence
        writer.record((_granted(first + number, number, now) for number in range(LEASES)), now.wall)


def key_of(number: int) -> str:
    """The key of one of the leases."""
    return f"repo:team{number % 7}:part{number % 101}:area{number % 1009}:thing:{number}"


def _granted(fence: int, number: int, now: object) -> LeaseGranted:
    until = deadline(now, 86400.0)  # type: ignore[arg-type]
    lease = Lease(
        f"l{number}", fence, f"h{number % 500}", "", (key_of(number),), Mode.EXCLUSIVE, "a", 0.0, until, 86400.0
    )
    return LeaseGranted(lease)


def pairs(hold: Service) -> None:
    """Leases deep in the hierarchy, granted and released."""
    for number in range(PAIRS):
        answer = hold.acquire(f"repo:team1:part1:area1:mine:{number}", ttl_seconds=600.0)
        assert answer.lease is not None
        hold.release(answer.lease.id)


def main() -> None:
    """Measure both in turn, at full durability."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="."))
    try:
        full, store = service(folder / "full")
        fill(store)
        empty, other = service(folder / "empty")
        for each in (full, empty):
            pairs(each)
        mine, theirs, ratio = paired_ratio(lambda: pairs(full), lambda: pairs(empty), ROUNDS)
        store.close()
        other.close()
    finally:
        shutil.rmtree(folder)
    report(
        "scale",
        [
            Figure("beside 100,000 leases, 1,000,000 events", PAIRS / mine, "pairs/s"),
            Figure("beside nothing", PAIRS / theirs, "pairs/s"),
            at_most("time against nothing", ratio, "ratio", 1.5),
        ],
    )


if __name__ == "__main__":
    main()
