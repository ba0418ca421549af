"""PURE: a part of the log, with the questions that an account asks of it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile

from commonhold.kernel.errors import InputError
from commonhold.kernel.events import (
    CommitRefused,
    Committed,
    DebtWaived,
    Event,
    LeaseBroken,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    Recorded,
    ValuePut,
    WaiterLeft,
    lease_id_of,
)
from commonhold.kernel.keys import Key, canonical, contains, file_key, overlaps, parse
from commonhold.kernel.lease import Lease

ENDS = (LeaseReleased, LeaseExpired, LeaseBroken)
"""The events that end a lease."""


class Ledger:
    """Successive events of one log, or of the two logs of a store that machines share."""

    def __init__(self, events: Sequence[Recorded]) -> None:
        """Read `events`, oldest first."""
        self.events = events
        self._by_lease: dict[str, list[Recorded]] = {}
        for each in events:
            if (lease_id := lease_id_of(each.event)) is not None:
                self._by_lease.setdefault(lease_id, []).append(each)

    def before(self, recorded: Recorded) -> Iterator[Recorded]:
        """Yield the events before this one, newest first."""
        earlier = list(takewhile(lambda each: each is not recorded, self.events))
        return reversed(earlier)

    def after(self, recorded: Recorded) -> Iterator[Recorded]:
        """Yield the events after this one, oldest first."""
        found = iter(self.events)
        for each in found:
            if each is recorded:
                break
        return found

    def of_lease(self, lease_id: str) -> Sequence[Recorded]:
        """Return the events about a lease or a place in line, oldest first."""
        return self._by_lease.get(lease_id, ())

    def lease_of(self, lease_id: str) -> Lease | None:
        """Return a lease as it was granted; None if the grant is not in this part of the log."""
        return next((e.event.lease for e in self.of_lease(lease_id) if isinstance(e.event, LeaseGranted)), None)

    def keys_of(self, event: Event) -> tuple[str, ...]:
        """Return the keys that an event is about: of a change of a lease, those of the lease."""
        if isinstance(event, LeaseGranted | LeaseQueued) or (lease_id := lease_id_of(event)) is None:
            return tuple(_keys_in(event))
        starts = (each.event for each in self.of_lease(lease_id))
        first = next((each for each in starts if isinstance(each, LeaseGranted | LeaseQueued)), None)
        return tuple(_keys_in(first)) if first else ()

    def held_at(self, recorded: Recorded, keys: Iterable[Key], holder: str) -> tuple[Recorded, ...]:
        """Return the grants of other holders' leases on these keys that were in force just before an event."""
        wanted = tuple(keys)
        found: dict[str, Recorded] = {}
        for each in takewhile(lambda one: one is not recorded, self.events):
            event = each.event
            if isinstance(event, LeaseGranted) and touches(event.lease.keys, wanted):
                found[event.lease.id] = each
            elif isinstance(event, ENDS):
                found.pop(event.lease_id, None)
        return tuple(each for each in found.values() if self.holder_at(each, recorded) != holder)

    def holder_at(self, grant: Recorded, recorded: Recorded) -> str:
        """Return the holder of a granted lease just before an event: it may have been handed over."""
        event = grant.event
        assert isinstance(event, LeaseGranted)  # noqa: S101 - callers pass grants
        later = takewhile(lambda one: one.sequence < recorded.sequence, self.of_lease(event.lease.id))
        given = [each.event.to for each in later if isinstance(each.event, LeaseHandedOver)]
        return given[-1] if given else event.lease.holder

    def end_of(self, lease_id: str) -> Recorded | None:
        """Return the event that ended a lease, or the place in line; None if none did yet."""
        ends = (*ENDS, WaiterLeft)
        return next((each for each in reversed(self.of_lease(lease_id)) if isinstance(each.event, ends)), None)

    def commits_on(self, keys: Sequence[str], recorded: Recorded, holder: str) -> Iterator[Recorded]:
        """Yield the earlier commits of others that changed one of these keys, newest first."""
        wanted = tuple(map(canonical, keys))
        for each in self.before(recorded):
            event = each.event
            if isinstance(event, Committed) and event.holder != holder and changes(self.keys_of(event), wanted):
                yield each


def touches(texts: Iterable[str], wanted: Sequence[Key]) -> bool:
    """Whether one of these keys, in canonical form, overlaps one of the wanted ones."""
    return any(overlaps(canonical(text), key) for text in texts for key in wanted)


def changes(texts: Iterable[str], wanted: Sequence[Key]) -> bool:
    """Whether a commit that names these keys, in canonical form, changed something in one of the wanted ones.

    It also names the containers of the changed keys: a container stands for all of its content only if it stands alone.
    """
    keys = [canonical(text) for text in texts]
    return any(
        contains(one, key) or not any(other != key and contains(key, other) for other in keys)
        for key in keys
        for one in wanted
        if overlaps(key, one)
    )


def _canonical(texts: Iterable[str]) -> Iterator[Key]:
    """Yield the canonical forms of keys as their author typed them, without those that only the files could tell."""
    for text in texts:
        with suppress(InputError):
            yield parse(text).key()


def _keys_in(event: Event) -> Iterable[str]:
    """Return the keys that an event names itself."""
    match event:
        case LeaseGranted(lease=claim) | LeaseQueued(waiter=claim):
            return claim.keys
        case LeaseDenied(keys=keys):
            return keys
        case Committed():
            return [each.key for each in event.regions] or [str(file_key(each.path)) for each in event.files]
        case CommitRefused(keys=keys):
            return map(str, _canonical(keys))
        case ValuePut(key=key) | DebtWaived(key=key):
            return (key,)
        case _:
            return ()
