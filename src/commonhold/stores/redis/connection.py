"""One connection to a Redis server, which knows the server at its other end."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Final, Protocol, cast

from hiredis import pack_command
from redis import exceptions

from commonhold.kernel.errors import StoreError
from commonhold.stores.redis.faults import unsafe

OLDEST: Final = 7
BROKEN: Final = (exceptions.ConnectionError, exceptions.TimeoutError)
_TRUSTED_SECONDS: Final = 1.0

Argument = bytes | str | int
Reply = Any


class Raw(Protocol):
    """The part of the client's connection that we use; it has no types of its own."""

    redis_connect_func: Callable[["Raw"], None]

    def connect(self) -> None: ...  # noqa: D102 - see redis.connection.AbstractConnection
    def on_connect(self) -> None: ...  # noqa: D102
    def send_packed_command(self, packed: Sequence[bytes], *, check_health: bool) -> None: ...  # noqa: D102
    def read_response(self) -> Reply: ...  # noqa: D102
    def can_read(self) -> bool: ...  # noqa: D102
    def disconnect(self) -> None: ...  # noqa: D102


class Connection:
    """A connection for one thread at a time. Any error while an answer is awaited closes it."""

    def __init__(self, raw: object, address: str) -> None:
        """Speak through `raw`, which connects by itself, and silently connects again after a break."""
        self._raw = cast("Raw", raw)
        self._address = address
        self._used_at = 0.0
        self.run_id = ""
        self._raw.redis_connect_func = self._greet

    def connect(self) -> None:
        """Connect. Raises StoreError `STORE_UNSAFE` for a server that is not safe for leases."""
        self._raw.connect()

    def _greet(self, raw: Raw) -> None:
        """Learn which server answers, whenever a connection begins."""
        raw.on_connect()
        try:
            lines = (line.partition(":") for line in self.ask("INFO").decode(errors="replace").splitlines())
            self.run_id = _checked({name: value for name, mark, value in lines if mark}, self._address)
        except StoreError:
            raw.disconnect()
            raise

    def ask(self, *command: Argument) -> Reply:
        """Send one command and await its answer."""
        # The client's own way to put a command into bytes reads every part of it twice.
        self._raw.send_packed_command((pack_command(cast("Any", command)),), check_health=False)
        reply = self._raw.read_response()
        self._used_at = monotonic()
        return reply

    def is_usable(self) -> bool:
        """Whether the other end is still there. Right after an answer from there it is not checked."""
        if monotonic() - self._used_at < _TRUSTED_SECONDS:
            return True
        try:
            return not self._raw.can_read()
        except BROKEN:
            return False

    def close(self) -> None:
        """Close it; idempotent."""
        self._raw.disconnect()


def _checked(facts: dict[str, str], address: str) -> str:
    """Return the run id of a server that is safe for leases."""
    version, policy, run_id = (facts.get(name, "") for name in ("redis_version", "maxmemory_policy", "run_id"))
    if not run_id:
        why = "the server does not tell its run id, so fences could not go on safely after a failover"
        raise unsafe(why, "connect to Redis itself, not to a proxy before it", address)
    if int(version.partition(".")[0] or 0) < OLDEST:
        why = f"the Redis server has version {version or 'unknown'}; leases need {OLDEST} or newer"
        raise unsafe(why, "upgrade the server, or name another one", address)
    if policy.startswith("allkeys"):
        why = f"the Redis server throws any data away when its memory is full (maxmemory-policy {policy}), leases too"
        raise unsafe(why, "set maxmemory-policy to noeviction, or use a server of its own for leases", address)
    return run_id
