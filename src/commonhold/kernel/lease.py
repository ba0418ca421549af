"""Leases, places in line, and their conflicts."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.keys import HEADER, Key, canonical, contains, overlaps
from commonhold.kernel.modes import Mode, are_compatible

DEFAULT_TTL_SECONDS: Final = 1800.0
MAX_TTL_SECONDS: Final = 30 * 86400.0
MAX_CONFLICTS: Final = 100
MAX_SLOTS: Final = 1000


@dataclass(frozen=True, slots=True)
class Base:
    """The hash of a leased key at the grant; None if the key did not exist."""

    key: str
    hash: str | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A request to the holder to release a lease, and its reason."""

    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Lease:
    """A time-limited claim of one holder on one or more keys, granted as a whole.

    `keys` are canonical key texts. `fence` is the fencing token: it is greater than that of every earlier grant.
    Each sign of life of the holder renews it for `ttl_seconds`. A lease granted to a waiter is not `is_claimed` until
    the waiter has asked again: until then it lasts only as long as a place in line does. `bases` are the hashes of the
    keys at the grant, in `worktree`: differences from them when the holder is lost are its partial work. `wish` is the
    last request to release it. With `slots` above zero it occupies one of that many slots of its only key, number
    `slot` (from 1). `is_once`: the work under it is done once for all, and its result is kept.
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
    ttl_seconds: float = DEFAULT_TTL_SECONDS
    is_claimed: bool = True
    worktree: str = ""
    bases: tuple[Base, ...] = ()
    wish: Wish | None = None
    slots: int = 0
    slot: int = 0
    is_once: bool = False

    def is_live(self, now: Now) -> bool:
        """Whether the lease still holds at `now`."""
        return not self.deadline.has_passed(now)

    def covering(self, key: Key) -> str | None:
        """The first of the lease's keys that overlaps `key`."""
        return _first_overlapping(self.keys, key)

    def covers(self, key: Key) -> bool:
        """Whether the lease holds all of `key`: the key itself or a container of it."""
        return any(contains(canonical(held), key) for held in self.keys)


@dataclass(frozen=True, slots=True)
class Waiter:
    """A place in line. `id` will be the id of the lease; `number` is that of the event that began the waiting.

    Every sign of life moves `deadline` to `patience_seconds` later; a waiter that shows none loses its place.
    `replaces` is the lease that ends with the grant. `slots` and `is_once` are those of the future lease.
    """

    id: str
    number: int
    holder: str
    task: str
    keys: tuple[str, ...]
    mode: Mode
    acquisition_id: str
    queued_at: float
    deadline: Deadline
    patience_seconds: float
    ttl_seconds: float
    replaces: str | None = None
    slots: int = 0
    is_once: bool = False

    def is_live(self, now: Now) -> bool:
        """Whether the waiter still stands in line at `now`."""
        return not self.deadline.has_passed(now)

    def covering(self, key: Key) -> str | None:
        """The first of the keys waited for that overlaps `key`."""
        return _first_overlapping(self.keys, key)


def _first_overlapping(texts: Iterable[str], key: Key) -> str | None:
    return next((text for text in texts if overlaps(canonical(text), key)), None)


@dataclass(frozen=True, slots=True)
class Conflict:
    """The reason why a key cannot be granted: the requested key, the held key, its holder and the holder's task.

    `is_waiting`: the other does not hold the key yet, but is ahead in line.
    """

    key: str
    held: str
    holder: str
    task: str
    mode: Mode
    expires_at: float
    is_waiting: bool = False


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


def conflicts(
    keys: Iterable[Key], mode: Mode, holder: str, claims: Iterable[Lease | Waiter], now: Now
) -> tuple[Conflict, ...]:
    """Return the claims that conflict with `holder` having `keys` in `mode`; a holder never conflicts with itself.

    At most MAX_CONFLICTS are named, as by `overlapping_claims`.
    """
    return overlapping_claims(
        keys, [claim for claim in claims if claim.is_live(now) and stands_against(claim, mode, holder)]
    )


def overlapping_claims(keys: Iterable[Key], claims: Sequence[Lease | Waiter]) -> tuple[Conflict, ...]:
    """Return the claims that overlap the keys, at most MAX_CONFLICTS.

    A holder that claims one key several times in one mode is named once, with the claim that ends last.
    """
    if not claims:
        return ()
    claimed = Claims(claims)
    named: dict[tuple[str, str, str, Mode, bool], Conflict] = {}
    overlaps = ((str(key), held, claim) for key in keys for held, claim in claimed.overlapping(key))
    for key, held, claim in overlaps:
        ends_at, is_waiting = claim.deadline.wall, isinstance(claim, Waiter)
        each = Conflict(key, str(held), claim.holder, claim.task, claim.mode, ends_at, is_waiting)
        name = (each.key, each.held, each.holder, each.mode, each.is_waiting)
        if name in named:
            named[name] = max(named[name], each, key=lambda conflict: conflict.expires_at)
        elif len(named) == MAX_CONFLICTS:
            break
        else:
            named[name] = each
    return tuple(named.values())


def stands_against(claim: Lease | Waiter, mode: Mode, holder: str) -> bool:
    """Whether a claim excludes that `holder` has an overlapping key in `mode`."""
    return claim.holder != holder and not are_compatible(claim.mode, mode)


def shares_slots(claim: Lease | Waiter, wanted: Lease | Waiter) -> bool:
    """Whether both count among the same slots of the same key: then only their number matters."""
    return 0 < claim.slots == wanted.slots and claim.keys == wanted.keys


def divides_otherwise(claim: Lease | Waiter, wanted: Lease | Waiter) -> bool:
    """Whether both count slots of the same key, but not the same number of them."""
    return 0 < claim.slots != wanted.slots > 0 and claim.keys == wanted.keys


class Claims:
    """Claimed keys by path and first name, so that many keys against many claims is no product of both."""

    def __init__(self, claims: Iterable[Lease | Waiter]) -> None:
        """Index `claims`, in their order."""
        self._by_path: dict[tuple[str, ...], dict[str, list[tuple[Key, Lease | Waiter]]]] = {}
        self._below: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for claim in claims:
            self.add(claim)

    def add(self, claim: Lease | Waiter) -> None:
        """Index one more claim, after the others."""
        for key in map(canonical, claim.keys):
            place = (key.scheme, *key.path)
            if place not in self._by_path:
                for size in range(1, len(place)):
                    self._below.setdefault(place[:size], []).append(place)
            names = self._by_path.setdefault(place, {})
            names.setdefault(key.first_name, []).append((key, claim))

    def overlapping(self, key: Key) -> Iterator[tuple[Key, Lease | Waiter]]:
        """Each claim with a key that overlaps `key`, once, with that key."""
        seen = set()
        for held, claim in self._candidates(key):
            if claim.id not in seen and overlaps(held, key):
                seen.add(claim.id)
                yield held, claim

    def _candidates(self, key: Key) -> Iterator[tuple[Key, Lease | Waiter]]:
        place = (key.scheme, *key.path)
        for size in range(1, len(place)):
            yield from self._all_at(place[:size])
        if key.first_name in ("", HEADER):
            yield from self._all_at(place)
        else:
            names = self._by_path.get(place, {})
            yield from chain.from_iterable(names.get(name, ()) for name in (key.first_name, "", HEADER))
        yield from chain.from_iterable(map(self._all_at, self._below.get(place, ())))

    def _all_at(self, place: tuple[str, ...]) -> Iterator[tuple[Key, Lease | Waiter]]:
        return chain.from_iterable(self._by_path.get(place, {}).values())
