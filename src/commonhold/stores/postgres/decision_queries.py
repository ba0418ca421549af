"""The queries for the state that a decision needs, and its construction from their rows."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from commonhold.kernel.commands import Command, RecordPartialWork, Review
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.values import Value
from commonhold.leases.decide import keys_of, most_ended_beside, value_keys_of
from commonhold.stores import codec
from commonhold.stores.postgres.link import Rows
from commonhold.stores.postgres.names import Names
from commonhold.stores.postgres.transaction import Statement

Answers = Mapping[str, Rows]
"""The returned rows, by the name of the query."""

NEVER: Final = float("-inf")
"""An instant at which no lease has expired."""


def questions(names: Names, command: Command[Any], *, instant: float | None, skew: float) -> Iterator[Statement]:
    """Yield the queries that a decision on `command` needs, except those about waiters.

    `instant` is the time at which others' leases have expired. None: at present, by the server's clock and `skew`.
    """
    named = (getattr(command, name, None) for name in ("lease_id", "replaces"))
    ids = [each for each in named if each is not None]
    if most_ended_beside(command):
        yield near(names, keys_of(command), ids=ids, holders=[command.holder], instant=instant, skew=skew)
    else:
        yield near(names, keys_of(command), ids=ids)
    if keys := value_keys_of(command):
        yield "values", {"keys": list(keys)}
    match command:
        case RecordPartialWork():
            yield "lost_by_id", {"lease_id": command.lease_id}
        case Review():
            yield "work_by_id", {"lease_id": command.lease_id}
        case _:
            pass


def questions_about(names: Names, waiters: Iterable[Waiter]) -> Iterator[Statement]:
    """Yield the queries for the leases of the waiters, and for the leases that overlap the keys they wait for."""
    holders = sorted({waiter.holder for waiter in waiters})
    if holders:
        yield near(names, [canonical(key) for waiter in waiters for key in waiter.keys], holders=holders)


def near(
    names: Names,
    keys: Collection[Key],
    *,
    ids: Iterable[str] = (),
    holders: Iterable[str] = (),
    instant: float | None = NEVER,
    skew: float = 0.0,
) -> Statement:
    """Return the query for leases near the keys, and for those with an id, of a holder, or expired.

    Near are leases at the keys' places, above them and below them.
    """
    bounds = sorted({names.bounds_below(key) for key in keys})
    return "leases_near", {
        "ids": [*map(names.name, ids)],
        "holders": [*map(names.name, holders)],
        "instant": instant,
        "skew": skew,
        "places": sorted({each for key in keys for each in names.places(key)}),
        "starts": [start for start, _ in bounds],
        "stops": [stop for _, stop in bounds],
    }


def answers(asked: Iterable[Statement], rows: Iterable[Rows]) -> Answers:
    """The rows of all questions, with those of the same name together."""
    found: dict[str, Rows] = {}
    for (name, _), each in zip(asked, rows, strict=True):
        found.setdefault(name, []).extend(each)
    return found


def together(some: Answers, others: Answers) -> Answers:
    """Return the answers of both."""
    return {name: [*some.get(name, ()), *others.get(name, ())] for name in {*some, *others}}


def table(found: Answers, next_sequence: int, waiters: tuple[Waiter, ...]) -> LeaseTable:
    """The table that the answers make."""
    return LeaseTable(
        leases_in(found.get("leases_near", [])),
        next_sequence,
        waiters,
        tuple(Value(*row) for row in found.get("values", ())),
        next((codec.decode(body, Lease) for (body,) in found.get("lost_by_id", ())), None),
        next((codec.decode(body, PartialWork) for (body,) in found.get("work_by_id", ())), None),
    )


def leases_in(rows: Rows) -> tuple[Lease, ...]:
    """The leases in the rows of `leases_near`, each once, oldest first."""
    return tuple(codec.decode(body, Lease) for _, body in sorted(set(rows)))
