"""Leases on a Redis server, decided by a script inside it.

**Promises.** A command is one script: it takes effect as a whole or not at all, at one place in the order of all
commands. It decides as `commonhold.leases.decide` does. The only clock is the server's (`TIME`); an expiry is a value
that is compared. Nothing is left to Redis to drop, so no setting but `allkeys-*` (which is refused) can lose a lease.

**Fences** are the numbers of events, below 2**53. The count is kept with the run id of the server that counts. It jumps
far ahead if it may have been lost: if there is none (eviction, FLUSHALL, a restart that loaded nothing), if another run
of a server answers than the one that counted last (restart, failover), or if this process has seen more than is stored.
Then the next number is the larger of

- 2**20 above the largest number that the server, its log or this process knows of,
- the milliseconds since 2024 on the server's clock, times 1024.

So fences go on increasing if the new server knows all but the last million events, or if its clock is later than that
of the old one was at the last fence; and always, for a process that lives on. (The count is never ahead of the clock by
itself: that would take a million commands a second. Restarts with all data kept, more than one a second, put it ahead.)

**A server that was set back** lacks the newest event that this machine has seen (`Seen`). Then every lease and place in
line there ends, on the record: its holder may have released it since, and another been granted the keys. The event is
identified by its number and by the run id of the server that reported it; if that server still answers, only a count
that is too low can show a loss, and if another answers the log is read as well. A restart that kept all ends nothing.

**Limits.**

- Redis copies to replicas, and with `appendfsync everysec` to disk, after it has answered. A failover or a crash can
  lose the last grants: the leased keys are free again, and another may be granted them while the first holder knows of
  nothing. Their fences differ, the second is the higher one; so a write is safe where fences are compared, and nowhere
  else. `WAIT` and `min-replicas-to-write` narrow the gap and do not close it.
- While two servers both believe to be the primary, each grants, with fences in no order between the two. Numbers that
  one of them forgets when it gives in are not given out again, as above.
- A fence may repeat or fall if all data is lost and the clock is set back behind the last fence; or if a server is made
  a replica, loses events by that, and is made a primary again, without having been restarted and without any command on
  this namespace having reached another primary meanwhile.
- A machine that has seen nothing newer than a backup cannot know that the backup was restored. Until a machine that can
  has made a call, a lease of the backup is live.
- A clock that is set forward ends leases early, one that is set back ends them late. Fences are not affected.

**Lost answers.** If the connection breaks after a command was sent, it may have been executed or not. A command with a
request id is sent once more and gets its first answer; so are those that can be repeated anyway: acquire (identified by
the id of the lease), renew (which sets the expiry) and a sign of life. For others a StoreError says that the outcome is
unknown.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final, TypeVar, cast

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import (
    Acquire,
    Ask,
    Break,
    Command,
    HandOver,
    Heartbeat,
    Put,
    RecordPartialWork,
    Release,
    Renew,
    Review,
)
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.outcomes import Outcome
from commonhold.leases.registry import reused
from commonhold.machine.decoding import msgpack_reader
from commonhold.stores.kept_answers import decode_answer
from commonhold.stores.redis.requests import arguments, micro, request_field
from commonhold.stores.redis.scripts import EPOCH, KEYS, load
from commonhold.stores.redis.server import Server
from commonhold.stores.redis.view import RedisView
from commonhold.stores.seen import Seen

T = TypeVar("T", bound=Outcome)
_NAMES: Final[dict[type[Command[Any]], str]] = {
    Acquire: "acquire",
    Renew: "renew",
    Release: "release",
    Break: "break",
    Ask: "ask",
    HandOver: "hand_over",
    Put: "put",
    Heartbeat: "show",
    RecordPartialWork: "leave",
    Review: "review",
}
_HARMLESS_TWICE: Final = (Acquire, Renew, Heartbeat)
_PARTS: Final = (
    "records",
    "state",
    "quick",
    "line",
    "keys",
    "claims",
    "turn",
    "deadlock",
    "decisions",
    "values",
    "execute",
)
_MAKE_ROOM: Final = (Renew, Release, Break, Heartbeat, Review)
_kept: Final = msgpack_reader(tuple[str, str, str])


class RedisRegistry:
    """The leases of one namespace on a Redis server."""

    def __init__(self, url: str, namespace: str, skew: Callable[[], float], seen: Seen) -> None:
        """Keep the leases of `namespace` on the server at `url`; `skew` is added to its clock.

        `seen` distinguishes a server that lost events from a whole one, and is kept up to date.
        """
        self._keys = {name: f"{{commonhold:{namespace}}}:{name}" for name in KEYS}
        self._server = Server(url, tuple(self._keys.values()))
        self._skew = skew
        self._seen = seen

    def execute(self, command: Command[T], once: Once | None = None) -> T:
        """Decide on a command, on the server."""
        asked = ("", "") if once is None else (request_field(command.holder, once), once.fingerprint)
        # A release with a result is none that can be decided on quickly.
        is_finish = isinstance(command, Release) and command.result is not None
        told = (*asked, "finish" if is_finish else _NAMES[type(command)], *arguments(command))
        reply = self._server.run(
            # A command that releases or keeps leases also runs when the memory is full.
            load("allow-oom" if isinstance(command, _MAKE_ROOM) else "", *_PARTS),
            (micro(self._skew()), *self._seen.newest(), *told),
            is_harmless=once is not None or isinstance(command, _HARMLESS_TWICE),
        )
        kind, body, sequence, run_id, *first = reply
        if once is not None and first and first[0].decode() != once.fingerprint:
            raise reused(once.request_id)
        self._seen.note(int(sequence), run_id.decode())
        return cast("T", decode_answer(kind.decode(), body))

    def together(self) -> nullcontext[None]:
        """Do nothing: the effects of a script are final, whatever the repository's store does."""
        return nullcontext()

    def first_outcome(self, holder: str, once: Once) -> Outcome | None:
        """Return the first answer to this request; None if it is new."""
        packed_answer = self._server.ask("HGET", self._keys["answers"], request_field(holder, once))
        if packed_answer is None:
            return None
        fingerprint, kind, body = _kept(packed_answer)
        if fingerprint != once.fingerprint:
            raise reused(once.request_id)
        return cast("Outcome", decode_answer(kind, body))

    @contextmanager
    def read(self) -> Iterator[RedisView]:
        """Yield one consistent view, as of the first query to it."""
        yield RedisView(self._server, self._keys)

    def now(self) -> Now:
        """The present instant on the server's clock."""
        seconds, microseconds = self._server.ask("TIME")
        ticks = int(seconds) + int(microseconds) / 1_000_000 + self._skew()
        return Now(EPOCH, ticks, ticks)

    def close(self) -> None:
        """Close all connections."""
        self._server.close()
        self._seen.close()
