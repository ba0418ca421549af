"""The location of the leases: the database and the schema that a URL names."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from commonhold.kernel.errors import Code, InputError
from commonhold.stores.postgres.statements import DEFAULT_SCHEMA

_SCHEMES: Final = ("postgresql://", "postgres://")
_SEARCH_PATH: Final = re.compile(r"(?:-c\s*|--)search_path=(\S+)")
_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# No call may wait forever on a network that dropped the connection.
_DEFAULTS: Final[dict[str, Any]] = {
    "application_name": "commonhold",
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 40_000,
}


@dataclass(frozen=True, slots=True)
class Target:
    """A database, and the schema in it. `connection` may hold a password, `shown` never does."""

    connection: str = field(repr=False)
    shown: str
    schema: str


def read_url(url: str) -> Target:
    """The target of a URL as libpq takes it. Raises InputError `STORE_URL_INVALID`, which never repeats the URL."""
    if not url.startswith(_SCHEMES):
        raise _invalid("it does not begin with postgresql://")
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # libpq's message repeats the part that it could not parse, which may be the password.
        raise _invalid("it cannot be taken apart") from None
    schema, options = _schema_of(str(parts.pop("options", "")))
    if options:
        parts["options"] = options
    connection = make_conninfo(**{**_DEFAULTS, **parts, "client_encoding": "utf8"})
    place = ":".join(str(parts[name]) for name in ("host", "port") if name in parts)
    return Target(connection, f"{place}/{parts.get('dbname', '')}", schema)


def _schema_of(options: str) -> tuple[str, str]:
    """The schema, and the options without it: most poolers refuse to pass them on."""
    match = _SEARCH_PATH.search(options)
    if match is None:
        return DEFAULT_SCHEMA, options
    if not _SCHEMA.fullmatch(match[1]):
        raise _invalid("its search_path is not the name of one schema, of a-z, 0-9 and _")
    return match[1], _SEARCH_PATH.sub("", options).strip()


def _invalid(why: str) -> InputError:
    return InputError(
        Code.STORE_URL_INVALID,
        f"the URL of the PostgreSQL store is not valid: {why}",
        hint="write postgresql://USER@HOST:PORT/DATABASE; in a password write every special character as %XX",
    )
