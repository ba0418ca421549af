"""Acquire and release in PostgreSQL, against the very same SQL said by hand, and beside very many leases.

`python -m bench.postgres_leases [URL]`. Without a URL it starts a server of its own that does not wait for the disk: so
the work is measured and not the disk, which would make the two look more alike than they are.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any
from uuid import uuid4

import psycopg
from tests.services.postgres_server import PostgresServer

from bench.reporting import Figure, at_least, at_most, paired_ratio, report
from commonhold.kernel.commands import Acquire, Command, Release
from commonhold.kernel.keys import canonical
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted, Released
from commonhold.leases.registry import TableRegistry
from commonhold.stores.postgres import open_postgres
from commonhold.stores.postgres.link import Link, Rows
from commonhold.stores.postgres.tables import PostgresTables

PAIRS = 50
ROUNDS = 21
LEASES = 100_000
EVENTS = 1_000_000
KEY = canonical("repo:team1:part1:area1:mine")
TRACED = "lease-traced"
FILL = (
    """
    INSERT INTO commonhold.leases (id, namespace, fence, holder, ticks, body)
    SELECT concat_ws(chr(31), namespace, 'x' || n), namespace, -n, concat_ws(chr(31), namespace, 'h' || n %% 500),
        4e9 + n, body
    FROM commonhold.leases, generate_series(1, %(leases)s) AS n WHERE namespace = %(namespace)s
    """,
    """
    INSERT INTO commonhold.lease_keys (place, lease_id)
    SELECT concat_ws(chr(31), namespace, 'repo', 'team' || n %% 7, 'part' || n %% 101, 'area' || n %% 1009, 'thing', n),
        concat_ws(chr(31), namespace, 'x' || n)
    FROM generate_series(1, %(leases)s) AS n, (SELECT %(namespace)s) AS given (namespace)
    """,
    """
    INSERT INTO commonhold.events (namespace, seq, at, kind, holder, body)
    SELECT %(namespace)s, -n, 0, 'lease_denied', 'x', '{}' FROM generate_series(1, %(events)s) AS n
    """,
)

Pair = Callable[[str], None]
Batch = list[str]


def plain(tables: PostgresTables) -> Pair:
    """A pair through the registry as it is."""
    registry = TableRegistry(tables, tables)
    return lambda name: pair(registry.execute, name)


def foreseeing(tables: PostgresTables) -> Pair:
    """A pair where the store is told the command when the transaction begins."""
    registry = TableRegistry(tables, tables)

    def execute(command: Command[Any]) -> object:
        with tables.write(command):
            return registry.execute(command)

    return lambda name: pair(execute, name)


def pair(execute: Callable[[Command[Any]], object], name: str) -> None:
    """One lease, from grant to release."""
    granted = execute(Acquire(name, "acq", "bench", "bench", (KEY,), Mode.EXCLUSIVE, 600.0))
    assert isinstance(granted, Granted)
    assert isinstance(execute(Release(name, "bench")), Released)


@contextmanager
def traced() -> Iterator[list[Batch]]:
    """All batches that are sent meanwhile."""
    batches: list[Batch] = []
    run = Link._run  # noqa: SLF001 - the one place where everything is said

    def listen(link: Link, batch: Sequence[str]) -> list[Rows]:
        batches.append(list(batch))
        return run(link, batch)

    Link._run = listen  # type: ignore[method-assign, assignment]  # noqa: SLF001 - as above
    try:
        yield batches
    finally:
        Link._run = run  # type: ignore[method-assign]  # noqa: SLF001 - as above


def trace(url: str, make: Callable[[PostgresTables], Pair]) -> tuple[list[Batch], int]:
    """What one pair says in a namespace of its own, and the number of the first event in it."""
    tables = open_postgres(url, uuid4().hex)
    one = make(tables)
    one("first")
    with psycopg.connect(url, autocommit=True) as connection:  # numbers that cannot be taken for anything else
        connection.execute("UPDATE commonhold.namespaces SET timeline = 0")
    one("second")
    with tables.read() as view:
        first = view.next_sequence
    with traced() as batches:
        one(TRACED)
    tables.close()
    return batches, first


def by_hand(url: str, make: Callable[[PostgresTables], Pair], *, at_once: bool) -> Pair:
    """The same SQL said to a bare connection, batch by batch or a statement at a time."""
    batches, first = trace(url, make)
    texts = ["; ".join(batch) for batch in batches] if at_once else [text for batch in batches for text in batch]
    cursor = psycopg.ClientCursor(psycopg.connect(url, autocommit=True, prepare_threshold=None))
    numbers = count(first + 2, 2)

    def say(name: str) -> None:
        number = next(numbers)
        for text in texts:
            again = text.replace(TRACED, name).replace(str(first + 1), str(number + 1)).replace(str(first), str(number))
            cursor.execute(again.encode())
            while cursor.description and cursor.fetchall() and cursor.nextset():
                pass

    return say


def many(one: Pair) -> Callable[[], None]:
    """So many pairs, each with an id of its own."""

    def run() -> None:
        for _ in range(PAIRS):
            one(f"lease-{uuid4().hex}")

    run()
    return run


def fill(url: str, namespace: str) -> None:
    """Leases of many holders, six segments deep, and a long history, where plans were made already."""
    values = {"namespace": namespace, "leases": LEASES, "events": EVENTS}
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        for statement in FILL:
            connection.execute(statement, values)


def beside(url: str, *, is_full: bool) -> Callable[[], None]:
    """Pairs in a namespace of its own; `is_full`: one that fills up after its first pairs."""
    namespace = uuid4().hex
    tables = open_postgres(url, namespace)
    work = many(plain(tables))
    if is_full:
        TableRegistry(tables, tables).execute(
            Acquire(TRACED, "acq", "sample", "", (canonical("sample:key"),), Mode.EXCLUSIVE, 86400.0)
        )
        fill(url, namespace)
    return work


def against_hand(url: str, name: str, make: Callable[[PostgresTables], Pair]) -> list[Figure]:
    """Rates of one way to ask, and their ratio."""
    tables = open_postgres(url, uuid4().hex)
    ours, hand = many(make(tables)), many(by_hand(url, make, at_once=True))
    mine, theirs, ratio = paired_ratio(ours, hand, ROUNDS)
    with traced() as batches:
        make(tables)("counted")
    singly = many(by_hand(url, make, at_once=False))
    _, _, ratio_singly = paired_ratio(ours, singly, ROUNDS)
    return [
        Figure(f"{name}: ours", PAIRS / mine, "pairs/s"),
        Figure(f"{name}: the same SQL by hand", PAIRS / theirs, "pairs/s"),
        at_least(f"{name}: rate against it", 1 / ratio, "ratio", 0.6),
        Figure(f"{name}: rate against it, a statement at a time", 1 / ratio_singly, "ratio"),
        Figure(f"{name}: round trips", len(batches) / 2, "a call"),
    ]


def scale(url: str) -> list[Figure]:
    """What many leases and a long history cost."""
    mine, theirs, ratio = paired_ratio(beside(url, is_full=True), beside(url, is_full=False), ROUNDS)
    return [
        Figure("beside 100,000 leases, 1,000,000 events", PAIRS / mine, "pairs/s"),
        Figure("beside nothing", PAIRS / theirs, "pairs/s"),
        at_most("time against nothing", ratio, "ratio", 1.5),
    ]


def measure(url: str) -> None:
    """Measure at one server."""
    figures = [*against_hand(url, "as it is", plain), *against_hand(url, "command told", foreseeing), *scale(url)]
    report("postgres_leases", figures)


def main() -> None:
    """Measure at the server that was named, or at one of our own."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    server = PostgresServer.create((os.getpid(),))
    server.start()
    try:
        measure(server.address.socket_url())
    finally:
        server.discard()


if __name__ == "__main__":
    main()
