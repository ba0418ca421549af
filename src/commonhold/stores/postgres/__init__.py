"""The shared store: leases in PostgreSQL, for agents on many machines.

Its promises and its limits:

- A writer in a namespace holds a transaction-scoped advisory lock of it. Nothing belongs to a session of the server, so
  a pooler that lends connections out for one transaction (pgbouncer) may stand between.
- A grant that was answered is on the server's disk, even if `synchronous_commit` is off by default.
- A promoted standby that was fed asynchronously may lack the last grants. Their holders then hold leases that the store
  has lost: their guarded writes are refused, and others may be granted the keys. Fences go on all the same: they jump
  ahead wherever the server's timeline changed (a failover, a recovery to a point in time) or the row that records it
  was rewritten (a restored dump). All leases that are there then end, on the record: their holders may have released
  them since, and others been granted the keys.
- The rollback of a whole disk (a snapshot of a volume or of a machine) is noticed by every machine that has seen a
  newer event: each keeps the number of the newest one (`Seen`). No machine notices that two servers both believe to be
  the primary. After setting back a disk, and before any grant, run `UPDATE commonhold.namespaces SET timeline = 0`. For
  a machine that has seen nothing of it, a namespace that is younger than a restored dump begins at 1 again.
- The clock is the server's wall clock. If it is set back, leases last longer by as much; if it is set ahead, they end
  earlier, and fences keep their late holders out.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from commonhold.kernel.errors import Code, UsageError
from commonhold.stores.seen import Seen

if TYPE_CHECKING:
    from commonhold.stores.postgres.tables import PostgresTables


def no_skew() -> float:
    """The server's clock as it is."""
    return 0.0


def open_postgres(
    url: str, namespace: str, *, skew: Callable[[], float] = no_skew, seen: Seen | None = None
) -> "PostgresTables":
    """Return the leases of `namespace` in the database at `url`; the first use makes the first connection.

    They are kept in the schema `commonhold`, or in that of `?options=-csearch_path%3DNAME`. `skew` is a number of
    seconds that is added to the server's clock, for tests; `seen` is the newest event that this machine has seen, and
    without it only this process remembers it. Raises InputError `STORE_URL_INVALID`, and UsageError `USAGE` if the
    package `psycopg` is not installed.
    """
    try:
        # psycopg is an extra, and takes a while to import: only users of PostgreSQL pay for it.
        from commonhold.stores.postgres.tables import PostgresTables  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        raise UsageError(
            Code.USAGE,
            f"leases cannot be kept in PostgreSQL: the package {fault.name!r} is not installed",
            hint="install it with: pip install 'commonhold[postgres]'",
            fields={"package": fault.name},
        ) from fault
    return PostgresTables(url, namespace, skew=skew, seen=seen or Seen())
