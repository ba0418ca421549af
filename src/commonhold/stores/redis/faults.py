"""Redis's errors, as ours. The address of a server is shown without user and password."""

from dataclasses import dataclass
from typing import Final

from redis import exceptions

from commonhold.kernel.errors import Code, InputError, StoreError

_MOMENT: Final = 1.0
_NOTHING: Final = "nothing was changed"


@dataclass(frozen=True, slots=True)
class Complaint:
    """The meaning of one kind of fault; `retry` is set if the same call may succeed later."""

    code: Code
    message: str
    hint: str
    retry: float | None = None


_BY_TYPE: Final[tuple[tuple[type[exceptions.RedisError], Complaint], ...]] = (
    (
        exceptions.AuthenticationError,
        Complaint(
            Code.PERMISSION_DENIED,
            "the Redis server does not accept the user name or password",
            "put the right ones into the URL: redis://USER:PASSWORD@HOST:PORT/0",
        ),
    ),
    (
        exceptions.NoPermissionError,
        Complaint(
            Code.PERMISSION_DENIED,
            "the Redis user may not do what leases need",
            "allow this user ~{commonhold:* +@read +@write +@scripting +@connection +info +time",
        ),
    ),
    (
        exceptions.BusyLoadingError,
        Complaint(Code.STORE_BUSY, "the Redis server is still loading its data", "repeat the same call soon", _MOMENT),
    ),
    (
        exceptions.ReadOnlyError,
        Complaint(
            Code.STORE_READ_ONLY,
            f"the Redis server is a replica, which cannot be written: {_NOTHING}",
            "name the primary in the URL; if it has just failed over, repeat the same call in a moment",
            _MOMENT,
        ),
    ),
    (
        exceptions.OutOfMemoryError,
        Complaint(
            Code.IO_FAILED,
            f"the memory of the Redis server is full: {_NOTHING}",
            "raise its maxmemory or remove other data, then repeat the same call; releasing a lease still works",
            _MOMENT,
        ),
    ),
    (
        exceptions.MasterDownError,
        Complaint(
            Code.STORE_UNREACHABLE,
            f"the Redis server is a replica that has lost its primary: {_NOTHING}",
            "repeat the same call when the primary is back, or name another server",
            _MOMENT,
        ),
    ),
    (
        exceptions.MovedError,
        Complaint(
            Code.STORE_UNREACHABLE,
            f"the Redis server is a part of a cluster, and another part keeps this namespace: {_NOTHING}",
            "name the part that keeps it (CLUSTER KEYSLOT of the namespace tells) or a server outside of clusters",
        ),
    ),
)

_BY_WORD: Final[dict[str, Complaint]] = {
    "BUSY": Complaint(
        Code.STORE_BUSY,
        f"the Redis server is busy with a long script: {_NOTHING}",
        "repeat the same call in a moment",
        _MOMENT,
    ),
    "MISCONF": Complaint(
        Code.IO_FAILED,
        f"the Redis server cannot save its data, so it takes no writes: {_NOTHING}",
        "look at the server's disk and log, then repeat the same call",
        _MOMENT,
    ),
    "NOREPLICAS": Complaint(
        Code.STORE_UNREACHABLE,
        f"the Redis server has too few replicas to take writes: {_NOTHING}",
        "repeat the same call when they are back",
        _MOMENT,
    ),
    "DENIED": Complaint(
        Code.PERMISSION_DENIED,
        "the Redis server takes no connections from other machines (protected mode)",
        "give the server a password and put it into the URL, or connect from its own machine",
    ),
}


def translate(fault: exceptions.RedisError, address: str) -> StoreError:
    """Return the StoreError for a fault of the server or the network, when nothing can have been changed."""
    complaint = _complaint(fault)
    return StoreError(
        complaint.code,
        f"{complaint.message} ({address})",
        hint=complaint.hint,
        retry_after_seconds=complaint.retry,
        fields=_fields(fault, address),
    )


def _complaint(fault: exceptions.RedisError) -> Complaint:
    for kind, complaint in _BY_TYPE:
        if isinstance(fault, kind):
            return complaint
    known = _BY_WORD.get(str(fault).partition(" ")[0])
    if known is not None:
        return known
    if isinstance(fault, exceptions.ConnectionError | exceptions.TimeoutError):
        hint = "see that the server runs, and that host, port or socket in the URL are its own; then repeat the call"
        return Complaint(Code.STORE_UNREACHABLE, "the Redis server cannot be reached", hint, _MOMENT)
    hint = "read the server's own message in `fields`; a proxy or an altered server may lack commands that leases need"
    return Complaint(Code.IO_FAILED, f"the Redis server refuses: {fault}", hint)


def lost(fault: exceptions.RedisError, address: str) -> StoreError:
    """The StoreError for a call that was sent and never answered: it may have taken effect or not."""
    return StoreError(
        Code.STORE_UNREACHABLE,
        f"the Redis server did not answer ({address}); the request may have taken effect or not",
        hint="repeat the same call with the same request id: it gets the first answer if there was one",
        retry_after_seconds=_MOMENT,
        fields=_fields(fault, address),
    )


def unsafe(why: str, hint: str, address: str) -> StoreError:
    """Return the StoreError for a server that is not safe for leases."""
    return StoreError(Code.STORE_UNSAFE, f"{why} ({address})", hint=hint, fields={"address": address})


def bad_url(why: str) -> InputError:
    """Return the error for a URL that names no server. The URL is not shown: it may contain a password."""
    return InputError(
        Code.STORE_URL_INVALID,
        f"the URL of the Redis server makes no sense: {why}",
        hint="write redis://HOST:PORT/0, rediss://HOST:PORT/0 (with TLS) or unix:///PATH/TO/SOCKET",
    )


def _fields(fault: exceptions.RedisError, address: str) -> dict[str, object]:
    return {"address": address, "redis": f"{type(fault).__name__}: {fault}"}
