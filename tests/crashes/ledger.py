"""What a state says, read through the real store: its log, its tables, and whether the two agree (I9)."""

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from commonhold.kernel.events import Recorded
from commonhold.kernel.projection import fold
from commonhold.stores.sqlite.session import SqliteSession

WHOLE: Final = 1_000_000
TABLES: Final = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
CHECKS: Final = ("PRAGMA integrity_check", "PRAGMA foreign_key_check")


def log_of(session: SqliteSession) -> tuple[Recorded, ...]:
    """The whole log."""
    return session.events(limit=WHOLE)


def fingerprint(session: SqliteSession) -> str:
    """A digest of every row of every table: equal for equal states. Tables without rows do not count."""
    digest = hashlib.sha256()
    for (table,) in session._connection.execute(TABLES).fetchall():
        rows = session._connection.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608 - from the schema
        if rows:
            digest.update(repr((table, rows)).encode())
    return digest.hexdigest()


def damage(session: SqliteSession) -> list[str]:
    """What SQLite's own checks complain about."""
    found = [row for check in CHECKS for row in session._connection.execute(check)]
    return [repr(row) for row in found if row != ("ok",)]


def disagreements(session: SqliteSession) -> list[str]:
    """The names of the tables that do not hold what the log adds up to."""
    folded, held = fold(log_of(session)), tables(session)
    names = (each.name for each in fields(folded) if each.name != "sequence")
    return [name for name in names if getattr(folded, name) != held[name]]


def tables(session: SqliteSession) -> Mapping[str, Mapping[Any, Any]]:
    """The tables, as the fold has them."""
    return {
        "leases": {lease.id: lease for lease in session.leases()},
        "waiters": {waiter.id: waiter for waiter in session.waiters()},
        "lost": {lease.id: lease for lease in session.lost()},
        "works": {work.lease_id: work for work in session.works()},
        "values": {value.key: value for value in session.values()},
        "debts": {debt.place: debt for debt in session.debts()},
        "commits": _commits(session),
        "tasks": {record.id: record for record in session.tasks()},
        "managed_sessions": {record.id: record for record in session.managed_sessions()},
        "runs": {record.id: record for record in session.runs()},
        "run_items": {
            (item.run_id, item.task_id): item for run in session.runs() for item in session.run_items(run.id)
        },
        "entries": {record.id: record for record in session.entries()},
    }


def _commits(session: SqliteSession) -> dict[str, tuple[int, ...]]:
    commits: dict[str, tuple[int, ...]] = {}
    for path, sequence in session._connection.execute("SELECT path, seq FROM commits ORDER BY path, seq"):
        commits[path] = (*commits.get(path, ()), sequence)
    return commits
