"""One consistent view of the leases of a namespace."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from commonhold.kernel.clock import Now
from commonhold.kernel.events import Recorded, ValuePut, lease_id_of
from commonhold.kernel.keys import Key
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.values import Value
from commonhold.machine.decoding import msgpack_reader
from commonhold.stores import codec
from commonhold.stores.redis.scripts import load
from commonhold.stores.redis.server import Server

_CHUNK: Final = 1000
_Entry = tuple[bytes, list[bytes]]
_stored_value: Final = msgpack_reader(tuple[int, str])


@dataclass(frozen=True, slots=True)
class _Picture:
    """All at one instant; `sequence` is the number of the last event then."""

    sequence: int
    leases: tuple[Lease, ...]
    waiters: tuple[Waiter, ...]
    lost: tuple[Lease, ...]
    works: tuple[PartialWork, ...]


class RedisView:
    """The state at the time of the first query. The log is read on demand, up to that instant."""

    def __init__(self, server: Server, keys: dict[str, str]) -> None:
        """Read through `server`; `keys` are its Redis keys by content."""
        self._server = server
        self._keys = keys

    @cached_property
    def _picture(self) -> _Picture:
        script = load("no-writes", "records", "line", "view")
        count, leases, waiters, lost, works = self._server.run(script, (), is_harmless=True)
        return _Picture(
            int(count),
            tuple(codec.decode(each, Lease) for each in leases),
            tuple(codec.decode(each, Waiter) for each in waiters),
            tuple(codec.decode(each, Lease) for each in lost),
            tuple(codec.decode(each, PartialWork) for each in works),
        )

    def leases(self) -> tuple[Lease, ...]:
        """All leases that have not ended in the log, oldest first."""
        return self._picture.leases

    def lease(self, lease_id: str) -> Lease | None:
        """One of them."""
        return next((lease for lease in self._picture.leases if lease.id == lease_id), None)

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """Those of one holder."""
        return tuple(lease for lease in self._picture.leases if lease.holder == holder)

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Those with a key that overlaps one of `keys`."""
        return tuple(lease for lease in self._picture.leases if any(map(lease.covering, keys)))

    def waiters(self) -> tuple[Waiter, ...]:
        """The line, the first in line first."""
        return self._picture.waiters

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired and not been ended."""
        return any(not lease.is_live(now) for lease in self.leases())

    def lost(self) -> tuple[Lease, ...]:
        """Return leases whose changes have not been searched for yet."""
        return self._picture.lost

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Those of them near the keys."""
        return tuple(lease for lease in self.lost() if any(map(lease.covering, keys)))

    def works(self) -> tuple[PartialWork, ...]:
        """Partial work that waits for review, oldest first."""
        return self._picture.works

    def value(self, key: str) -> Value | None:
        """The value of a key. If it was changed after the view began, the log gives the earlier one."""
        upto = self._picture.sequence
        packed = self._server.ask("HGET", self._keys["values"], key)
        if packed is None:
            return None
        version, body = _stored_value(packed)
        if version <= upto:
            return codec.decode(body, Value)
        for each in self._backwards():
            if isinstance(each.event, ValuePut) and each.event.key == key:
                return Value(key, each.sequence, each.event.text, each.event.holder, each.at)
        return None

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events above a sequence, of all leases or of one, as far back as the log is kept."""
        found = self._forwards(after, _CHUNK if lease_id else min(limit, _CHUNK))
        return tuple(islice((each for each in found if lease_id in (None, lease_id_of(each.event))), limit))

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """The newest events, in order."""
        return tuple(reversed(tuple(islice(self._backwards(limit), limit))))

    def compaction(self) -> Recorded | None:
        """Nothing: Redis drops the oldest events by itself, and keeps no snapshot in their place."""
        return None

    def _forwards(self, after: int, size: int) -> Iterator[Recorded]:
        end = f"{self._picture.sequence}-0"
        while entries := self._server.ask("XRANGE", self._keys["events"], f"({after}-0", end, "COUNT", size):
            yield from map(_recorded, entries)
            after = _sequence(entries[-1])

    def _backwards(self, size: int = _CHUNK) -> Iterator[Recorded]:
        start = f"{self._picture.sequence}-0"
        count = max(1, min(size, _CHUNK))
        while entries := self._server.ask("XREVRANGE", self._keys["events"], start, "-", "COUNT", count):
            yield from map(_recorded, entries)
            start = f"({_sequence(entries[-1])}-0"


def _sequence(entry: _Entry) -> int:
    return int(entry[0].partition(b"-")[0])


def _recorded(entry: _Entry) -> Recorded:
    kind, body, _, at = entry[1]
    return Recorded(_sequence(entry), float(at), codec.decode_event(kind.decode(), body))
