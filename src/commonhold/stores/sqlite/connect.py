"""Opening the database: the checks, the pragmas, the migrations."""

import os
from typing import Final

import apsw

from commonhold.kernel.errors import Code, StoreError
from commonhold.machine.file_systems import check_ground
from commonhold.stores.transaction import transaction

DATABASE: Final = "state.db"
APPLICATION_ID: Final = 0x434D4844
BUSY_TIMEOUT_MS: Final = 30_000
IN_MEMORY: Final = ":memory:"
# The SQLite that apsw brings is newer.
FIRST_SAFE_SQLITE: Final = (3, 51, 3)


def _script(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as script:
        return script.read()


MIGRATIONS: Final[tuple[str, ...]] = tuple(
    _script(name)
    for name in (
        "schema.sql",
        "leases.sql",
        "read_sets.sql",
        "at_work.sql",
        "debts.sql",
        "glimpses.sql",
        "messages.sql",
        "tasks.sql",
        "chain.sql",
        "runs.sql",
        "entries.sql",
        "managed_sessions.sql",
        "landings.sql",
        "answers_by_age.sql",
        "snapshots.sql",
    )
)


def sqlite_version() -> tuple[int, ...]:
    """The version of the SQLite that is linked in."""
    return tuple(int(part) for part in apsw.sqlite_lib_version().split("."))


def connect(path: str, *, synchronous: str = "FULL", migrations: tuple[str, ...] = MIGRATIONS) -> apsw.Connection:
    """Open the database at `path`, make or migrate it if necessary. The caller is inside the gate.

    Raises StoreError `STORE_UNSAFE`, `STORE_NEWER`, `STORE_CORRUPT`, and apsw's own errors.
    """
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, migrations)
    _set_up(connection, synchronous)
    if path != IN_MEMORY and connection.pragma("user_version") == 0:
        _flush_name_of(os.path.dirname(path))
    _migrate(connection, migrations)
    return connection


def _flush_name_of(folder: str) -> None:
    """Make a new state folder itself durable: SQLite flushes only the files inside."""
    descriptor = os.open(os.path.dirname(os.path.abspath(folder)), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def connect_if_ready(
    path: str, *, synchronous: str = "FULL", migrations: tuple[str, ...] = MIGRATIONS
) -> apsw.Connection | None:
    """Open the database at `path` if nothing has to be made: that needs no gate, so no writer can keep a reader out.

    None if it has to be made or migrated. Raises like `connect`.
    """
    if not os.path.exists(path):
        return None
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE, migrations)
    if connection.pragma("user_version") != len(migrations):
        connection.close()
        return None
    _set_up(connection, synchronous)
    return connection


def _open(path: str, flags: int, migrations: tuple[str, ...]) -> apsw.Connection:
    _check_version()
    if path != IN_MEMORY:
        check_ground(os.path.dirname(path))
    connection = apsw.Connection(path, flags=flags)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    _check_identity(connection, len(migrations))
    return connection


def _check_version() -> None:
    if sqlite_version() >= FIRST_SAFE_SQLITE:
        return
    found = ".".join(map(str, sqlite_version()))
    raise StoreError(
        Code.STORE_UNSAFE,
        f"SQLite {found} can corrupt a database that several processes share: its log has the WAL-reset bug of 3.7.0"
        " to 3.51.2",
        hint="install an apsw that bundles SQLite 3.51.3 or later: pip install --upgrade apsw",
        fields={"sqlite": found},
    )


def _set_up(connection: apsw.Connection, synchronous: str) -> None:
    for pragma in ("journal_mode = WAL", f"synchronous = {synchronous}", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def start_afresh(folder: str) -> str:
    """Return the ways out of a damaged database: an empty state, or that of a backup."""
    # Loaded here: hardly any database is damaged.
    from shlex import quote  # noqa: PLC0415

    aside = f"mv {quote(folder)} {quote(f'{folder}.damaged')}"
    return f"keep the state, and start afresh: {aside}; or, if you have a backup: commonhold restore FILE"


def _check_identity(connection: apsw.Connection, newest: int) -> None:
    # One snapshot: another process may be making the database between two reads.
    with transaction(connection):
        version, identity = connection.pragma("user_version"), connection.pragma("application_id")
        if is_new(connection):
            return
    if identity != APPLICATION_ID:
        raise StoreError(
            Code.STORE_CORRUPT,
            "the state database was made by another program",
            hint=start_afresh(os.path.dirname(connection.filename)),
        )
    if not isinstance(version, int) or version > newest:
        raise StoreError(
            Code.STORE_NEWER,
            f"the state was written by a newer Commonhold (schema {version}; this one knows {newest})",
            hint="upgrade this one: pip install --upgrade commonhold",
            fields={"schema": version, "known": newest},
        )


def is_new(connection: apsw.Connection) -> bool:
    """Whether the database is still empty and unsigned. Takes two reads."""
    signs = connection.pragma("user_version"), connection.pragma("application_id")
    return signs == (0, 0) and not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()


def _migrate(connection: apsw.Connection, migrations: tuple[str, ...]) -> None:
    if connection.pragma("user_version") == len(migrations):
        return
    with transaction(connection):
        version = connection.pragma("user_version")
        for script in migrations[int(str(version)) :]:
            connection.execute(script)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", len(migrations))
