"""Leases: acquire, renew, release, list."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from commonhold.app.answers import AcquireAnswer, LeaseAnswer, Next, RegionHash
from commonhold.app.once import earlier_answer, first_answer, remember
from commonhold.app.ports import Clock, Ids, Reader, Stamp, Store, Writer
from commonhold.app.reading import Reading, contents_of
from commonhold.app.sweeping import sweep
from commonhold.domain import texts
from commonhold.domain.clock import Now
from commonhold.domain.commands import Acquire, Release, Renew
from commonhold.domain.errors import Code, UsageError
from commonhold.domain.events import LeaseGranted
from commonhold.domain.keys import Key
from commonhold.domain.lease import (
    DEFAULT_TTL_SECONDS,
    Conflict,
    Denied,
    Granted,
    Lease,
    NotHeld,
    Released,
    Renewed,
    check_ttl,
)
from commonhold.domain.lease_table import LeaseTable, decide
from commonhold.domain.modes import Mode
from commonhold.domain.refusal import Refusal

MAX_KEYS: Final = 1000


@dataclass(frozen=True, slots=True)
class AcquireRequest:
    """A wish for one lease on all of `keys`, in any form."""

    holder: str
    keys: tuple[str, ...]
    task: str = ""
    mode: Mode = Mode.EXCLUSIVE
    ttl_seconds: float = DEFAULT_TTL_SECONDS
    acquisition_id: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class RenewRequest:
    """A wish that the lease end `ttl_seconds` from now."""

    holder: str
    lease_id: str
    ttl_seconds: float = DEFAULT_TTL_SECONDS
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """A wish to give a lease up."""

    holder: str
    lease_id: str
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Resolved:
    """The canonical keys of a request, the regions that are there, and their bytes to keep."""

    keys: tuple[Key, ...]
    shadowed: tuple[Key, ...] = ()
    regions: tuple[RegionHash, ...] = ()
    contents: Mapping[str, bytes] = field(default_factory=dict)
    seen: Mapping[str, Stamp | None] = field(default_factory=dict)


class Leases:
    """The lease service of one repository."""

    def __init__(self, store: Store, reading: Reading, clock: Clock, ids: Ids) -> None:
        """Keep leases in `store`; look regions up through `reading`."""
        self._store = store
        self._reading = reading
        self._clock = clock
        self._ids = ids

    def acquire(self, request: AcquireRequest) -> AcquireAnswer:
        """Ask for all the keys at once: all are granted or none. A conflict is an answer.

        The answer holds the hash of each code region, to start an edit from; a region that is not there yet is
        reserved, and its hash is None. Raises UsageError for no holder, no keys or a bad time to live, InputError
        for keys that make no sense.
        """
        _check(request)
        earlier = earlier_answer(self._store, request, AcquireAnswer)
        if earlier is not None:
            return earlier
        resolved = self._resolve(request.keys)
        with self._store.write() as writer:
            earlier = first_answer(writer, request, AcquireAnswer)
            if earlier is not None:
                return earlier
            if not self._reading.is_current(resolved.seen):
                resolved = self._resolve(request.keys)
            now = self._clock.now()
            return remember(writer, request, self._acquire(writer, request, resolved, now), now.wall)

    def _resolve(self, keys: Sequence[str]) -> _Resolved:
        glances = self._reading.glances()
        found = self._reading.resolve(keys, glances)
        shadowed = tuple(key for key in found if self._reading.is_also_a_file(key))
        if not glances:
            return _Resolved(tuple(found), shadowed)
        contents: dict[str, bytes] = {}
        for each in found.values():
            if each.region is not None and each.source is not None:
                contents |= contents_of(each.source, each.region)
        regions = tuple(
            RegionHash(str(key), each.region.hash if each.region else None)
            for key, each in found.items()
            if key.is_region
        )
        return _Resolved(tuple(found), shadowed, regions, contents, glances.seen())

    def _acquire(self, writer: Writer, request: AcquireRequest, resolved: _Resolved, now: Now) -> AcquireAnswer:
        sweep(writer, now)
        lease_id = self._ids.new("lease")
        command = Acquire(
            lease_id=lease_id,
            acquisition_id=request.acquisition_id or lease_id,
            holder=request.holder,
            task=request.task,
            keys=resolved.keys,
            mode=request.mode,
            ttl_seconds=request.ttl_seconds,
        )
        decision = decide(LeaseTable(writer.overlapping(resolved.keys), writer.next_sequence), command, now)
        writer.record(decision.events, now.wall)
        match decision.answer:
            case Denied(conflicts):
                return _denied(request, conflicts)
            case Granted(lease):
                writer.keep(resolved.contents.items(), now.wall)
                return _granted(lease, resolved)

    def renew(self, request: RenewRequest) -> LeaseAnswer:
        """Set the end of a live lease to `ttl_seconds` from now. A lease that has ended is refused, not revived."""
        check_ttl(request.ttl_seconds)
        return self._change(request, Renew(request.lease_id, request.holder, request.ttl_seconds))

    def release(self, request: ReleaseRequest) -> LeaseAnswer:
        """End a lease. Refused for a lease that has ended already, or that another holds."""
        return self._change(request, Release(request.lease_id, request.holder))

    def _change(self, request: RenewRequest | ReleaseRequest, command: Renew | Release) -> LeaseAnswer:
        with self._store.write() as writer:
            earlier = first_answer(writer, request, LeaseAnswer)
            if earlier is not None:
                return earlier
            now = self._clock.now()
            sweep(writer, now)
            lease = writer.lease(request.lease_id)
            decision = decide(LeaseTable((lease,) if lease else (), writer.next_sequence), command, now)
            writer.record(decision.events, now.wall)
            return remember(writer, request, _lease_answer(writer, decision.answer), now.wall)

    def live(self, *, holder: str | None = None) -> tuple[Lease, ...]:
        """The live leases, oldest first, of all holders or of one."""
        now = self._clock.now()
        with self._store.read() as reader:
            leases = reader.leases()
        return tuple(lease for lease in leases if lease.is_live(now) and holder in (None, lease.holder))

    def on(self, key: Key) -> tuple[Lease, ...]:
        """The live leases that overlap `key`."""
        now = self._clock.now()
        with self._store.read() as reader:
            leases = reader.overlapping([key])
        return tuple(lease for lease in leases if lease.is_live(now) and lease.covering(key))


def _check(request: AcquireRequest) -> None:
    texts.check_line(request.task, "task")
    texts.check_line(request.acquisition_id or "", "acquisition_id", texts.MAX_ID_LENGTH)
    check_ttl(request.ttl_seconds)
    if not 0 < len(request.keys) <= MAX_KEYS:
        raise UsageError(
            Code.USAGE,
            f"{len(request.keys)} keys were named; a lease is on 1 to {MAX_KEYS}",
            hint="name what you want to change; lease a folder or a file to cover many regions at once",
        )


def _granted(lease: Lease, resolved: _Resolved) -> AcquireAnswer:
    reserved = [region.key for region in resolved.regions if not region.hash]
    notices = [f"{key} is not there yet: its name is reserved for you" for key in reserved]
    return AcquireAnswer(
        "granted", lease, regions=resolved.regions, notices=(*notices, *map(_looks_like_a_file, resolved.shadowed))
    )


def _looks_like_a_file(key: Key) -> str:
    return f"{key} is a free name, though there is a file of that name: to lease the file, write file:{key}"


def _denied(request: AcquireRequest, conflicts: tuple[Conflict, ...]) -> AcquireAnswer:
    again = ask_again(
        request.keys,
        request.task,
        conflicts,
        mode=None if request.mode is Mode.EXCLUSIVE else request.mode.value,
        ttl_seconds=None if request.ttl_seconds == DEFAULT_TTL_SECONDS else request.ttl_seconds,
    )
    return AcquireAnswer("denied", conflicts=conflicts, next=again)


def ask_again(keys: Iterable[object], task: str, conflicts: Sequence[Conflict], **more: object) -> Next:
    """The call for somebody whose keys are held by others."""
    holders = ", ".join(sorted({conflict.holder for conflict in conflicts}))
    why = f"do other work first, until {holders} has released what you need or it has expired; then ask again"
    return Next.acquire(keys, task, why, **more)


def _lease_answer(reader: Reader, answer: Renewed | Released | NotHeld) -> LeaseAnswer:
    match answer:
        case Renewed(lease):
            return LeaseAnswer("renewed", lease)
        case Released(lease):
            return LeaseAnswer("released", lease)
        case NotHeld():
            return _not_held(reader, answer)


def _not_held(reader: Reader, answer: NotHeld) -> LeaseAnswer:
    events = [recorded.event for recorded in reader.events(lease_id=answer.lease_id, limit=1)]
    granted = next((event for event in events if isinstance(event, LeaseGranted)), None)
    if granted is None or answer.code is Refusal.NOT_HOLDER:
        return LeaseAnswer("refused", None, answer.code, answer.why, Next("leases", {}, "see which leases are yours"))
    why = "acquire the keys again, and read the regions again before you write"
    again = Next.acquire(granted.lease.keys, granted.lease.task, why)
    return LeaseAnswer("refused", None, answer.code, answer.why, again)
