"""Leases: acquire, renew, release, break, request, hand over, list."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Final, Unpack

from commonhold.code.regions.find import near_names
from commonhold.code.regions.region import RegionMap
from commonhold.kernel import texts
from commonhold.kernel.answers import AcquireAnswer, LeaseAnswer, Next
from commonhold.kernel.commands import Acquire, Ask, Break, Command, HandOver, Heartbeat, Release, Renew
from commonhold.kernel.errors import Code, InputError, StoreError, UsageError
from commonhold.kernel.events import LeaseExpired, LeaseGranted, LeaseQueued, Recorded
from commonhold.kernel.files import Stamp
from commonhold.kernel.keys import FILE, Key, canonical, file_key, overlaps, parse
from commonhold.kernel.lease import Base, Lease, Waiter, check_ttl
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.lease_table import ENDED_BESIDE, is_short
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Broken, Denied, Done, Granted, NotHeld, Outcome, Queued
from commonhold.kernel.ports import Ids
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.unwritable import although_unwritable
from commonhold.kernel.values import check_value
from commonhold.kernel.write_slot_names import SCHEME
from commonhold.leases.acquire_options import AcquireOptions
from commonhold.leases.answers import Changed, denied, done, granted, lease_answer, queued, wishes
from commonhold.leases.decision_log import log_acquire, log_lease
from commonhold.leases.idempotency import once
from commonhold.leases.key_history import changes_on
from commonhold.leases.partial_work import PartialWorks
from commonhold.leases.registry import reused
from commonhold.leases.requests import (
    AcquireRequest,
    AskRequest,
    BreakRequest,
    HandOverRequest,
    ReleaseRequest,
    RenewRequest,
    check,
    check_reason,
)
from commonhold.leases.wait_estimate import estimated_wait_seconds
from commonhold.reads.change_notifications import ChangeNotifications
from commonhold.reads.read_sets import ReadSet
from commonhold.reads.reading import RegionReader, contents_of
from commonhold.workspace.place import WorktreeState

RECENT_EVENTS: Final = 200
_LIKE: Final = 0.8
_ChangeRequest = RenewRequest | ReleaseRequest | BreakRequest | AskRequest | HandOverRequest
ENDED_AT_ONCE: Final = 256
"""The number of expired leases that one transaction ends: other writers wait meanwhile."""


@dataclass(frozen=True, slots=True)
class _Resolved:
    """The canonical keys of a request, their present state, and the bytes to keep; read after the event `since`.

    `files` are the files that contain the regions, with their hashes: they tell the earlier content if a file changes.
    `told` says why a larger key replaces one that was requested. `absent` has the files of regions that do not exist.
    """

    keys: tuple[Key, ...]
    shadowed: tuple[Key, ...] = ()
    bases: tuple[Base, ...] = ()
    contents: Mapping[str, bytes] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, Stamp | None] = field(default_factory=dict)
    since: int = 0
    told: tuple[str, ...] = ()
    absent: Mapping[Key, RegionMap] = field(default_factory=dict)

    def near(self, key: Key) -> list[str]:
        """Return the keys of regions whose names are like that of `key`, which does not exist in its file."""
        file = self.absent.get(key)
        return [f"{key.file}#{name}" for name in near_names(file, key.qualname, _LIKE)] if file else []


class Leases:
    """The lease service of one repository."""

    def __init__(
        self,
        place: WorktreeState,
        reading: RegionReader,
        ids: Ids,
        works: PartialWorks,
        notifications: ChangeNotifications,
        read_set: ReadSet,
    ) -> None:
        """Keep leases in the registry of `place`; look regions up through `reading`.

        `notifications` and `read_set` belong to the session: its answers carry the notifications for it.
        """
        self._name = place.name
        self._is_shared = place.is_shared
        self._store = place.store
        self._registry = place.registry
        self._in_flight = place.in_flight
        self._reading = reading
        self._ids = ids
        self._works = works
        self._notifications = notifications
        self._read_set = read_set

    def acquire(
        self,
        holder: str,
        keys: tuple[str, ...],
        *,
        task: str,
        ttl_seconds: float,
        mode: Mode = Mode.EXCLUSIVE,
        **more: Unpack[AcquireOptions],
    ) -> AcquireAnswer:
        """Request all the keys at once: all are granted or none. A conflict is an answer, not an error.

        The answer has the hash of each code region, as the base of an edit; a region that does not exist yet is
        reserved, and its hash is None. Raises UsageError for no holder, no keys or an invalid time to live, InputError
        for invalid keys.
        """
        more.pop("hold_seconds", None)
        request = AcquireRequest(holder, keys, task, mode, ttl_seconds, **more)  # type: ignore[misc]
        check(request)
        key = once(request)
        outcome = self._registry.first_outcome(request.holder, key) if key else None
        if outcome is not None:
            return self._notifications.with_news(self._acquire_answer(request, outcome, _Resolved(())))
        while True:
            resolved = self._resolve(request.keys)
            with self._granting(resolved.keys):
                flights = self._in_the_way(resolved.keys)
                if not flights:
                    return self._asked(request, resolved, key)
            self._in_flight.wait_for(flights)

    def _granting(self, keys: Sequence[Key]) -> AbstractContextManager[object]:
        """Begin one atomic step.

        Write slots are asked for by a hook that goes on to propose a write: they are durable together with the
        proposal. If the power fails before, neither the hook nor its tool goes on.
        """
        if not self._is_shared and all(key.scheme == SCHEME for key in keys):
            return self._store.write_unawaited()
        return self._registry.together()

    def _in_the_way(self, keys: Sequence[Key]) -> frozenset[int]:
        """Return the commits in flight that write files under the keys: a lease is granted only once they are done."""
        return frozenset(
            flight.id
            for flight in self._in_flight.flights()
            for path in flight.paths
            if any(overlaps(key.file, file_key(path)) for key in keys)
        )

    def _asked(self, request: AcquireRequest, resolved: _Resolved, once_: Once | None) -> AcquireAnswer:
        if not self._reading.is_current(resolved.seen):
            resolved = self._resolve(request.keys)
        lease_id = request.ticket or self._ids.new("lease")
        command = Acquire(
            lease_id=lease_id,
            acquisition_id=request.acquisition_id or lease_id,
            holder=request.holder,
            task=request.task,
            keys=resolved.keys,
            mode=request.mode,
            ttl_seconds=request.ttl_seconds,
            patience_seconds=request.patience_seconds,
            replaces=request.replaces,
            worktree=self._name if resolved.bases else "",
            bases=resolved.bases,
            slots=1 if request.once else request.slots,
            is_once=request.once,
        )
        outcome = self._registry.execute(command, once_)
        if isinstance(outcome, Granted):
            self._keep(resolved, is_own_wish=request.acquisition_id is None)
        self._works.look_for(resolved.keys)
        answer = self._acquire_answer(request, outcome, resolved)
        log_acquire(request.holder, resolved.keys, answer)
        # The response to a queued request may be delayed and replaced by another one, so it carries no news.
        return answer if isinstance(outcome, Queued) else self._notifications.with_news(answer)

    def _keep(self, resolved: _Resolved, *, is_own_wish: bool) -> None:
        """Keep the present content at the grant. The holder got hashes, not texts: this is no new read of its own.

        If an edit or a command leases the regions, its own report supplies the earlier content of the files.
        """
        if resolved.contents:
            with self._store.write() as writer:
                at = self._registry.now().wall
                writer.keep(resolved.contents.items(), at)
                shown = {base.key: base.hash for base in resolved.bases if base.hash is not None}
                self._read_set.note(writer, shown, resolved.since, at)
                if is_own_wish:
                    self._read_set.know(writer, resolved.files, resolved.since, at)

    def _resolve(self, texts_: Sequence[str]) -> _Resolved:
        """Resolve the keys. They are sorted, so that equal requests become equal commands."""
        if not any(parse(text).scheme == FILE for text in texts_):
            free = dict.fromkeys(map(canonical, texts_))  # they name no code, so there is nothing to read
            return _Resolved(tuple(sorted(free)), tuple(filter(self._reading.is_also_a_file, free)))
        since = self._read_set.newest()
        glances = self._reading.glances()
        found = self._reading.resolve(texts_, glances)
        shadowed = tuple(key for key in found if self._reading.is_also_a_file(key))
        contents: dict[str, bytes] = {}
        files: dict[str, str] = {}
        bases = []
        for key, each in found.items():
            if key.is_region:
                bases.append(Base(str(key), each.region.hash if each.region else None))
                if each.region is not None and each.source is not None:
                    contents |= contents_of(each.source, each.region)
                    contents |= contents_of(each.source, each.source.file)
                    files[each.source.path] = each.source.file.hash
            elif key.scheme == FILE and not key.is_folder:
                bases += self._whole(key, contents)
        told = (*(each.why for each in found.values() if each.why), *self._widened(texts_))
        absent = {key: each.source for key, each in found.items() if key.is_region and each.source and not each.region}
        keys = tuple(sorted(found))
        return _Resolved(keys, shadowed, tuple(bases), contents, files, glances.seen(), since, told, absent)

    def _widened(self, texts_: Sequence[str]) -> Iterator[str]:
        """Yield a notice for each path with a wildcard: a lease cannot have one."""
        for text in texts_:
            if ("*" in text or "?" in text) and (key := self._reading.locate(text)).is_folder and key.scheme == FILE:
                yield f"{text} has a wildcard: the folder {key} is leased, with everything in it"

    def _whole(self, key: Key, contents: dict[str, bytes]) -> Iterator[Base]:
        """Yield the present hash of a whole file. An unreadable file can be leased all the same."""
        with suppress(InputError, StoreError):
            content_hash, kept = self._reading.now_at(key)
            contents |= kept
            yield Base(str(key), content_hash)

    def _acquire_answer(self, request: AcquireRequest, outcome: Outcome, resolved: _Resolved) -> AcquireAnswer:
        match outcome:
            case Granted():
                answer = granted(outcome, resolved.shadowed, resolved.told, resolved.near)
                return self._woken(answer, outcome.lease.id) if request.patience_seconds is not None else answer
            case Queued():
                return self._queued(request, outcome)
            case Denied(_, Refusal.ID_IN_USE):
                raise _of_another_wish(request.ticket or "")
            case Denied():
                return denied(outcome, request, self.live(holder=request.holder))
            case Done(value):
                return done(value, request)
            case NotHeld():
                why = "there is nothing to replace: acquire again, and read again before you write"
                step = Next.acquire(request.keys, request.task, why)
                return AcquireAnswer("denied", code=outcome.code, next=step, notices=(outcome.why,))
            case _:
                raise reused(request.request_id or "")

    def _queued(self, request: AcquireRequest, outcome: Queued) -> AcquireAnswer:
        with self._registry.read() as view:
            recent = view.latest(RECENT_EVENTS)
        estimate = estimated_wait_seconds(recent, outcome.conflicts, outcome.position - 1, self._registry.now())
        return queued(outcome, request, estimate)

    def _woken(self, answer: AcquireAnswer, ticket: str) -> AcquireAnswer:
        """Return the answer with the changes to the keys since the holder began to wait."""
        with self._registry.read() as view:
            events = view.events(lease_id=ticket, limit=1)
            if answer.lease is None or not events or not isinstance(events[0].event, LeaseQueued):
                return answer
            keys = [canonical(key) for key in answer.lease.keys]
            lapsed = _lapsed(view.latest(RECENT_EVENTS), keys, events[0].at)
            values = tuple(value for key in keys if key.scheme != FILE and (value := view.value(str(key))))
        with self._store.read() as reader:
            changes = {change.sequence: change for key in keys for change in changes_on(reader, key)}
        changed = tuple(change for _, change in sorted(changes.items()) if change.at >= events[0].at)
        return replace(answer, values=values, changed=changed, notices=(*answer.notices, *lapsed))

    def renew(self, holder: str, lease_id: str, ttl_seconds: float, request_id: str | None = None) -> LeaseAnswer:
        """Set the end of a live lease to `ttl_seconds` from now. A lease that has ended is refused, not revived."""
        check_ttl(ttl_seconds)
        request = RenewRequest(holder, lease_id, ttl_seconds, request_id)
        return self._change(request, Renew(lease_id, holder, ttl_seconds))

    def release(
        self, holder: str, lease_id: str, request_id: str | None = None, result: str | None = None
    ) -> LeaseAnswer:
        """End a lease or a place in line. Refused for a lease that has already ended, or that another holder has.

        A `result` is kept for all that ask for the same work later; refused unless the lease was acquired with `once`.
        Raises InputError `TEXT_INVALID` for a result that is too long or not UTF-8.
        """
        check_value(result)
        return self._change(ReleaseRequest(holder, lease_id, request_id, result), Release(lease_id, holder, result))

    def break_(self, holder: str, lease_id: str, reason: str, request_id: str | None = None) -> LeaseAnswer:
        """Take a lease from its holder. The log keeps the author and the reason; unfinished work is kept for review."""
        check_reason(reason, "reason")
        return self._change(BreakRequest(holder, lease_id, reason, request_id), Break(lease_id, holder, reason))

    def ask(self, holder: str, lease_id: str, why: str, request_id: str | None = None) -> LeaseAnswer:
        """Ask the holder of a lease to release it: the holder's next answers say so."""
        check_reason(why, "reason")
        return self._change(AskRequest(holder, lease_id, why, request_id), Ask(lease_id, holder, why))

    def hand_over(self, holder: str, lease_id: str, to: str, request_id: str | None = None) -> LeaseAnswer:
        """Give a lease to another holder, with a new fence."""
        texts.check_holder(to)
        return self._change(HandOverRequest(holder, lease_id, to, request_id), HandOver(lease_id, holder, to))

    def _change(self, request: _ChangeRequest, command: Command[Changed]) -> LeaseAnswer:
        with self._registry.together():
            outcome = self._registry.execute(command, once(request))
            if isinstance(outcome, Broken):
                self._works.look_for([canonical(key) for key in outcome.lease.keys])
            answer = self._notifications.with_news(lease_answer(self._registry, request.holder, outcome))
        log_lease(request.holder, request.lease_id, answer)
        return answer

    def will_last(self, holder: str) -> bool:
        """Whether no lease of a holder would be extended by a sign of life now."""
        with self._registry.read() as view:
            held = view.held_by(holder)
        now = self._registry.now()
        return not any(is_short(lease, now) for lease in held)

    def let_last(self, holder: str) -> None:
        """Extend the leases of a holder, which has given a sign of life."""
        if not self.will_last(holder):
            with although_unwritable():
                self._registry.execute(Heartbeat(holder))

    def end_expired(self, holder: str) -> bool:
        """End a few hundred expired leases in one transaction, in the order of their expiry.

        The leases of `holder` are extended. Return whether more expired ones are left.
        """
        with self._registry.together():
            for _ in range(ENDED_AT_ONCE // ENDED_BESIDE):
                self._registry.execute(Heartbeat(holder))
                with self._registry.read() as view:
                    if not view.has_expired(self._registry.now()):
                        return False
        return True

    def wishes_to(self, holder: str) -> tuple[str, ...]:
        """Return the requests of others to a holder."""
        return wishes(self.live(holder=holder))

    def live(self, *, holder: str | None = None) -> tuple[Lease, ...]:
        """Return the live leases, oldest first, of all holders or of one."""
        now = self._registry.now()
        with self._registry.read() as view:
            leases = view.leases() if holder is None else view.held_by(holder)
        return tuple(lease for lease in leases if lease.is_live(now))

    def on(self, key: Key) -> tuple[Lease, ...]:
        """Return the live leases that overlap `key`."""
        now = self._registry.now()
        with self._registry.read() as view:
            leases = view.overlapping([key])
        return tuple(lease for lease in leases if lease.is_live(now) and lease.covering(key))

    def waiting(self, key: Key | None = None) -> tuple[Waiter, ...]:
        """Return the waiters in line, in order; all of them, or those for keys that overlap `key`."""
        now = self._registry.now()
        with self._registry.read() as view:
            waiters = view.waiters()
        return tuple(waiter for waiter in waiters if waiter.is_live(now) and (key is None or waiter.covering(key)))


def _lapsed(recent: Sequence[Recorded], keys: Sequence[Key], since: float) -> list[str]:
    """Return a notice for each lease on these keys that expired since then; its holder's work may be unfinished."""
    leases = {each.event.lease.id: each.event.lease for each in recent if isinstance(each.event, LeaseGranted)}
    lost = [each.event for each in recent if isinstance(each.event, LeaseExpired) and each.at >= since]
    ended = [event.lease_id for event in lost]
    return [
        f"{texts.short_name(lease.holder)} did not release {', '.join(lease.keys)}: the lease lapsed without a "
        "sign of life; `commonhold review` shows changes that may be half done"
        for lease_id in ended
        if (lease := leases.get(lease_id)) and any(map(lease.covering, keys))
    ]


def _of_another_wish(ticket: str) -> UsageError:
    return UsageError(
        Code.REQUEST_ID_REUSED,
        f"the ticket {ticket!r} belongs to another request",
        hint="ask again with the very keys and mode that it was given for, or without a ticket",
        fields={"ticket": ticket},
    )
