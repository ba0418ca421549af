"""PostgreSQL's errors as ours. The server's message is kept as a field, without any password."""

import re
from typing import Final

import psycopg

from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError
from commonhold.stores.postgres.target import Target

RETRY_AFTER_SECONDS: Final = 1.0
_Words = tuple[Code, str, str, float | None]

_DISK_FULL: Final = (
    Code.DISK_FULL,
    "the disk of the database server is full: nothing was changed",
    "free some space there, then repeat the same call",
    None,
)
_READ_ONLY: Final = (
    Code.STORE_READ_ONLY,
    "the database server takes no writes: it is a standby, or was set to be read-only",
    "name the primary in the URL; with several hosts add ?target_session_attrs=read-write",
    RETRY_AFTER_SECONDS,
)
_NO_RIGHTS: Final = (
    Code.PERMISSION_DENIED,
    "the database user may not make or use the tables of Commonhold",
    "let an administrator say: CREATE SCHEMA commonhold AUTHORIZATION the_user",
    None,
)
_REFUSED: Final = (
    Code.PERMISSION_DENIED,
    "the database server does not let this user in",
    "check the user and the password of the URL, and the server's pg_hba.conf",
    None,
)
_NO_DATABASE: Final = (
    Code.STORE_URL_INVALID,
    "there is no such database on the server",
    "check the URL, or make the database: createdb NAME",
    None,
)
_BUSY: Final = (
    Code.STORE_BUSY,
    "others kept the leases busy for too long: nothing was changed",
    "repeat the same call in a moment",
    RETRY_AFTER_SECONDS,
)
_DAMAGED: Final = (
    Code.STORE_CORRUPT,
    "the tables of Commonhold are not as they should be, so nothing is allowed to rely on them",
    "restore the schema, or move it aside (ALTER SCHEMA … RENAME) and start afresh",
    None,
)
_TOO_LONG: Final = (
    Code.KEY_INVALID,
    "a key is too long for the index of a database table: nothing was changed",
    "shorten it to less than 2,000 bytes",
    None,
)
_UNREACHABLE: Final = (
    Code.STORE_UNREACHABLE,
    "the database server cannot be reached: nothing was changed",
    "check that it runs and that the URL is right; then repeat the same call",
    RETRY_AFTER_SECONDS,
)
_UNSURE: Final = (
    Code.STORE_UNREACHABLE,
    "the database server went away before it could say that the call is done: it may have happened",
    "repeat the same call with the same request id or lease id: it is done only once",
    RETRY_AFTER_SECONDS,
)
_TAKEN_BACK: Final = (
    Code.IO_FAILED,
    "a statement of this transaction had failed before, so all of it was taken back: nothing was changed",
    "repeat the whole call",
    None,
)
_OTHER: Final = (
    Code.IO_FAILED,
    "the database could not execute the request: nothing was changed",
    "see its own message",
    None,
)

# By the beginning of the SQLSTATE, the first that fits: https://www.postgresql.org/docs/current/errcodes-appendix.html
_BY_STATE: Final[dict[str, _Words]] = {
    "53100": _DISK_FULL,
    "53": _BUSY,
    "25006": _READ_ONLY,
    "42501": _NO_RIGHTS,
    "28": _REFUSED,
    "3D000": _NO_DATABASE,
    "54000": _TOO_LONG,
    "55P03": _BUSY,
    "57014": _BUSY,
    "40": _BUSY,
    "42": _DAMAGED,
    "3F": _DAMAGED,
    "XX": _DAMAGED,
    "08": _UNREACHABLE,
    "57P": _UNREACHABLE,
    "25P03": _UNREACHABLE,
    "25P02": _TAKEN_BACK,
}
_OF_THE_INPUT: Final = frozenset({Code.KEY_INVALID, Code.STORE_URL_INVALID})
# A refusal to connect comes without a SQLSTATE.
_BY_TEXT: Final[dict[re.Pattern[str], _Words]] = {
    re.compile(r"authentication failed|no pg_hba\.conf entry|role .* does not exist|no password supplied"): _REFUSED,
    re.compile(r"database .* does not exist"): _NO_DATABASE,
    re.compile(r"too many (clients|connections)|connection slots"): _BUSY,
}


def translate(fault: psycopg.Error, target: Target, *, is_lost: bool) -> CommonholdError:
    """The error for a statement that failed before anything was committed; `is_lost`: so is the connection."""
    state = fault.sqlstate or ""
    words = next((words for start, words in _BY_STATE.items() if state.startswith(start)), _OTHER)
    return _said(_UNREACHABLE if is_lost else words, fault, target)


def not_connected(fault: psycopg.Error, target: Target) -> CommonholdError:
    """The error for a connection that could not be made."""
    text = str(fault)
    words = next((words for pattern, words in _BY_TEXT.items() if pattern.search(text)), _UNREACHABLE)
    return _said(words, fault, target)


def unsure(fault: psycopg.Error, target: Target) -> CommonholdError:
    """The error for a commit whose answer never came."""
    return _said(_UNSURE, fault, target)


def taken_back(target: Target) -> CommonholdError:
    """Return the error for a commit that the server answered by rolling everything back."""
    return _said(_TAKEN_BACK, psycopg.errors.InFailedSqlTransaction("ROLLBACK"), target)


def _said(words: _Words, fault: psycopg.Error, target: Target) -> CommonholdError:
    code, message, hint, retry = words
    fields = {"database": target.shown, "server": " ".join(str(fault).split()), "sqlstate": fault.sqlstate}
    kind = InputError if code in _OF_THE_INPUT else StoreError
    return kind(code, message, hint=hint, retry_after_seconds=retry, fields=fields)
