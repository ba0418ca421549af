"""The shared store: leases in PostgreSQL, for agents on many machines.

What it promises, and what it cannot:

- Whoever writes in a namespace holds a transaction-scoped advisory lock of it. Nothing belongs to a session of the
  server, so a pooler that lends connections out for one transaction (pgbouncer) may stand between.
- A grant that was answered is on the server's disk, even where `synchronous_commit` is off by default.
- A promoted standby that was fed asynchronously may lack the last grants. Their holders then hold what the store no
  longer knows: their guarded writes are refused, and others may be granted the keys. Fences go on all the same: they
  jump ahead wherever the server's timeline changed (a failover, a recovery to a point in time) or the row that tells
  of it was written anew (a restored dump). All leases that are there then end, on the record: their holders may have
  released them since, and others been granted the keys.
- That a whole disk was set back (a snapshot of a volume or of a machine) shows to whoever was told of a newer event:
  each machine keeps the number of the newest one (`Seen`). Nobody sees that two servers both believe to be the primary.
  After setting back a disk, and before anybody is granted anything, say
  `UPDATE commonhold.namespaces SET timeline = 0`. To who was told nothing of it, a namespace that is younger than a
  restored dump begins at 1 again.
- The clock is the server's wall clock. If it is set back, leases last longer by as much; if it is set ahead, they end
  earlier, and fences keep their late holders out.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from commonhold.adapters.seen import Seen
from commonhold.domain.errors import Code, UsageError

if TYPE_CHECKING:
    from commonhold.adapters.postgres.tables import PostgresTables


def no_skew() -> float:
    """The server's clock as it is."""
    return 0.0


def open_postgres(
    url: str, namespace: str, *, skew: Callable[[], float] = no_skew, seen: Seen | None = None
) -> "PostgresTables":
    """The leases of `namespace` in the database at `url`; nothing is connected to before the first use.

    They are kept in the schema `commonhold`, or in that of `?options=-csearch_path%3DNAME`. `skew` is a number of
    seconds that is added to the server's clock, for tests; `seen` is what this machine was told of last, and without it
    only this process remembers. Raises InputError `STORE_URL_INVALID`, and UsageError
    `USAGE` where the package `psycopg` is not installed.
    """
    try:
        # psycopg is an extra, and takes a while to import: only who keeps leases in PostgreSQL pays for it.
        from commonhold.adapters.postgres.tables import PostgresTables  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        raise _not_installed(fault) from fault
    return PostgresTables(url, namespace, skew=skew, seen=seen or Seen())


def _not_installed(fault: ModuleNotFoundError) -> UsageError:
    return UsageError(
        Code.USAGE,
        f"leases cannot be kept in PostgreSQL: the package {fault.name!r} is not installed",
        hint="install it with: pip install 'commonhold[postgres]'",
        fields={"package": fault.name},
    )
