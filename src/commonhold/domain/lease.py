"""Leases and the answers about them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from commonhold.domain.clock import Deadline, Now
from commonhold.domain.errors import Code, UsageError
from commonhold.domain.keys import FILE, HEADER, Key, canonical, contains, overlaps
from commonhold.domain.modes import Mode, are_compatible
from commonhold.domain.refusal import Refusal

DEFAULT_TTL_SECONDS: Final = 1800.0
MAX_TTL_SECONDS: Final = 30 * 86400.0
MAX_CONFLICTS: Final = 100


@dataclass(frozen=True, slots=True)
class Lease:
    """A time-limited claim of one holder on one or more keys, granted as a whole.

    `keys` are canonical key texts. `fence` is the fencing token: it is greater than that of every earlier grant.
    """

    id: str
    fence: int
    holder: str
    task: str
    keys: tuple[str, ...]
    mode: Mode
    acquisition_id: str
    granted_at: float
    deadline: Deadline

    def is_live(self, now: Now) -> bool:
        """Whether the lease still holds at `now`."""
        return not self.deadline.has_passed(now)

    def covering(self, key: Key) -> str | None:
        """The first of the lease's keys that overlaps `key`."""
        return next((held for held in self.keys if overlaps(canonical(held), key)), None)

    def covers(self, key: Key) -> bool:
        """Whether the lease holds all of `key`: the key itself or a container of it."""
        return any(contains(canonical(held), key) for held in self.keys)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a key cannot be had: the key asked for, the key held, and who holds it for what."""

    key: str
    held: str
    holder: str
    task: str
    mode: Mode
    expires_at: float


@dataclass(frozen=True, slots=True)
class Granted:
    """The lease was granted."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Denied:
    """Nothing was granted: every conflict is named."""

    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class Renewed:
    """The lease now ends at `lease.deadline`."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Released:
    """The lease has ended; its keys are free."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The caller does not hold that lease. `code` is `LEASE_LOST` or `NOT_HOLDER`; `why` is a sentence."""

    code: Refusal
    lease_id: str
    why: str


def check_ttl(ttl_seconds: float) -> float:
    """Check a time to live. Raises UsageError `TTL_INVALID` unless it is above zero and at most 30 days."""
    if math.isfinite(ttl_seconds) and 0 < ttl_seconds <= MAX_TTL_SECONDS:
        return ttl_seconds
    raise UsageError(
        Code.TTL_INVALID,
        f"a time to live of {ttl_seconds} seconds cannot be granted",
        hint=f"give a number of seconds above 0 and at most {MAX_TTL_SECONDS:.0f}",
        fields={"ttl_seconds": str(ttl_seconds)},
    )


def conflicts(keys: Iterable[Key], mode: Mode, holder: str, leases: Sequence[Lease], now: Now) -> tuple[Conflict, ...]:
    """What stands against `holder` having `keys` in `mode`; a holder never conflicts with itself.

    At most MAX_CONFLICTS are named.
    """
    against = [
        lease
        for lease in leases
        if lease.holder != holder and lease.is_live(now) and not are_compatible(lease.mode, mode)
    ]
    if not against:
        return ()
    held = _Held(against)
    return tuple(islice((conflict for key in keys for conflict in held.in_the_way_of(key)), MAX_CONFLICTS))


class _Held:
    """Held keys by path and first name, so that many keys against many leases is no product of both."""

    def __init__(self, leases: Sequence[Lease]) -> None:
        self._by_path: dict[tuple[str, ...], dict[str, list[tuple[Key, Lease]]]] = {}
        for lease in leases:
            for key in map(canonical, lease.keys):
                names = self._by_path.setdefault((key.scheme, *key.path), {})
                names.setdefault(_first_name(key), []).append((key, lease))

    def in_the_way_of(self, key: Key) -> Iterator[Conflict]:
        seen = set()
        for held, lease in self._candidates(key):
            if lease.id not in seen and overlaps(held, key):
                seen.add(lease.id)
                yield Conflict(str(key), str(held), lease.holder, lease.task, lease.mode, lease.deadline.wall)

    def _candidates(self, key: Key) -> Iterator[tuple[Key, Lease]]:
        place = (key.scheme, *key.path)
        for size in range(1, len(place)):
            yield from self._all_at(place[:size])
        if _first_name(key) in ("", HEADER):
            yield from self._all_at(place)
        else:
            names = self._by_path.get(place, {})
            yield from chain.from_iterable(names.get(name, ()) for name in (_first_name(key), "", HEADER))
        if key.is_folder or key.scheme != FILE:
            below = (path for path in self._by_path if len(path) > len(place) and path[: len(place)] == place)
            yield from chain.from_iterable(map(self._all_at, below))

    def _all_at(self, place: tuple[str, ...]) -> Iterator[tuple[Key, Lease]]:
        return chain.from_iterable(self._by_path.get(place, {}).values())


def _first_name(key: Key) -> str:
    return key.names[0].text if key.names else ""
