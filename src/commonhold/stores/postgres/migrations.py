"""Making the tables, and migrating those of an older version to this one."""

from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.stores.postgres.link import Link
from commonhold.stores.postgres.locks import lock_of
from commonhold.stores.postgres.statements import read
from commonhold.stores.postgres.target import Target

MIGRATIONS: Final = (
    "schema.sql",
    "functions.sql",
    "expired.sql",
    "tasks.sql",
    "chain.sql",
    "runs.sql",
    "entries.sql",
    "managed_sessions.sql",
    "landings.sql",
    "answers_by_age.sql",
    "snapshots.sql",
)
FIRST_SERVER: Final = 13_00_00
ENCODING: Final = "UTF8"


def make_ready(link: Link, target: Target) -> None:
    """Check the server, and make or migrate the tables if needed. Raises StoreError `STORE_UNSAFE`, `STORE_NEWER`."""
    _, version = _look(link, target)
    known = len(MIGRATIONS)
    if version < known:
        _make(link, target)
    elif version > known:
        raise StoreError(
            Code.STORE_NEWER,
            f"the leases are kept by a newer Commonhold (schema {version}; this one knows {known})",
            hint="upgrade this one: pip install --upgrade commonhold",
            fields={"schema": version, "known": known},
        )


def _look(link: Link, target: Target) -> tuple[bool, int]:
    ((row,),) = link.run([link.quote("server", {"schema": target.schema})])
    server, encoding, has_schema, has_versions = row
    if server < FIRST_SERVER or encoding != ENCODING:
        raise StoreError(
            Code.STORE_UNSAFE,
            f"the database cannot keep leases: PostgreSQL {server // 10_000} with the encoding {encoding}",
            hint="use PostgreSQL 13 or later, and a database made with ENCODING 'UTF8'",
            fields={"server_version_num": server, "encoding": encoding},
        )
    if not has_versions:
        return has_schema, 0
    (((version,),),) = link.run([link.quote("schema_version", {})])
    return has_schema, int(version)


def _make(link: Link, target: Target) -> None:
    """Create the schema objects that no other process created before the lock was granted."""
    lock = {"lock": lock_of(target.schema, "")}
    link.run([link.quote("begin_writing", {}), link.quote("wait_at_most", {}), link.quote("lock", lock)])
    has_schema, version = _look(link, target)
    batch = [] if has_schema else [link.quote("make_schema", {})]
    batch += [] if version else [link.quote("make_versions", {})]
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        batch += [read(script, target.schema), link.quote("add_version", {"version": number})]
    link.commit(batch)
