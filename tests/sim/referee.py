"""Whoever watches the store: says of every step whether it was right, by rules of its own in the plainest words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.model.naive_leases import ATOMS

from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.commands import Acquire, Break, Command, Put, RecordPartialWork, Release
from commonhold.kernel.events import (
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    Recorded,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
)
from commonhold.kernel.lease_ports import LeaseView, Once
from commonhold.kernel.outcomes import Granted, HandedOver, NotStored, Queued, Renewed, Stored
from commonhold.kernel.projection import State, fold

FRIENDS = {("shared", "shared"), ("shared", "upgradable"), ("upgradable", "shared")}
MEETING = {(left, right) for left in ATOMS for right in ATOMS if ATOMS[left] & ATOMS[right]} | {
    ("gpu:box", "gpu:box"),
    ("job:1", "job:1"),
}
COVERED = {(outer, inner) for outer in ATOMS for inner in ATOMS if ATOMS[outer] >= ATOMS[inner]}
LONGEST_TTL = 60.0


@dataclass(frozen=True)
class Claim:
    """A lease, or a place in line; `number` says since when it has been asked for."""

    id: str
    holder: str
    keys: tuple[str, ...]
    mode: str
    until: Deadline
    number: float
    fence: int = 0
    patience: float = 0.0
    slots: int = 0
    slot: int = 0

    def shares(self, other: "Claim") -> bool:
        return self.slots > 0 and (self.slots, self.keys) == (other.slots, other.keys)

    def excludes(self, other: "Claim") -> bool:
        if self.shares(other):
            return False
        if self.holder == other.holder or (self.mode, other.mode) in FRIENDS:
            return False
        return any((mine, theirs) in MEETING for mine in self.keys for theirs in other.keys)

    def is_over(self, now: Now) -> bool:
        return self.until.epoch != now.epoch or self.until.ticks <= now.ticks


class Referee:
    """The leases, places and values as the log tells of them, and what agents were told of their writes."""

    def __init__(self) -> None:
        self.leases: dict[str, Claim] = {}
        self.line: dict[str, Claim] = {}
        self.versions: dict[str, int] = {}
        self.sequence = 0
        self.fence = 0
        self.first_answers: dict[str, object] = {}
        self.writes: dict[str, tuple[str, object]] = {}
        self.judgements: dict[type[Event], Callable[..., None]] = {
            LeaseGranted: self.on_granted,
            LeaseHandedOver: self.on_handed_over,
            LeaseRenewed: self.on_moved,
            LeaseClaimed: self.on_moved,
            LeaseReleased: self.on_released,
            LeaseExpired: self.on_expired,
            LeaseBroken: self.on_broken,
            LeaseQueued: self.on_queued,
            WaiterSeen: self.on_seen,
            WaiterLeft: self.on_left,
            ValuePut: self.on_put,
        }

    def watch(self, command: Command[Any], once: Once, outcome: object, view: LeaseView, now: Now) -> None:
        """Judge one step: its answer, each event in it, and what is left."""
        events = view.events(after=self.sequence)
        if once.request_id in self.first_answers:
            assert outcome == self.first_answers[once.request_id], "a repeated request got another answer"
            assert not events, "a repeated request changed something"
            return
        if not isinstance(outcome, Queued):
            self.first_answers[once.request_id] = outcome
        for recorded in events:
            assert recorded.sequence > self.sequence, "the log is out of order"
            self.sequence = recorded.sequence
            judge = self.judgements.get(type(recorded.event))
            if judge is not None:
                judge(recorded, recorded.event, command, now)
        self.judge_what_was_told(outcome)
        self.judge_what_is_left(command, now, has_changed=bool(events))

    def judge_what_was_told(self, outcome: object) -> None:
        if isinstance(outcome, Granted | HandedOver | Renewed):
            claim, lease = self.leases[outcome.lease.id], outcome.lease
            assert (lease.fence, lease.holder) == (claim.fence, claim.holder), "an agent was told of another lease"
            assert lease.deadline == claim.until, "an agent was told of another end"

    def judge_what_is_left(self, command: Command[Any], now: Now, *, has_changed: bool) -> None:
        # Leave comes many at a time, and ends no leases beside; of all else so few expire at once that none is left.
        leases = () if isinstance(command, RecordPartialWork) else self.leases.values()
        for claim in (*leases, *self.line.values()):
            assert not claim.is_over(now), f"{claim.id} is over, and has not ended"
        if has_changed and self.line:
            places = list(self.line.values())
            for place in places:
                assert self.in_the_way_of(place, places), f"{place.id} waits for nothing"
                assert not self.is_in_circle(place, places, has_slots=False), f"{place.id} waits in a circle"

    def in_the_way_of(self, wanted: Claim, places: list[Claim], *, has_slots: bool = True) -> list[Claim]:
        """List leases of others, and places before it in line, except those that wait for a lease of its holder.

        Those that share its slots are listed if they take all of them, but not without `has_slots`.
        """
        mine = [lease for lease in self.leases.values() if lease.holder == wanted.holder]
        before = (
            place
            for place in places
            if place.number < wanted.number and not any(lease.excludes(place) for lease in mine)
        )
        claims = [*self.leases.values(), *before]
        sharing = [claim for claim in claims if claim.shares(wanted)]
        excluding = [claim for claim in claims if claim.excludes(wanted)]
        return excluding + (sharing if has_slots and len(sharing) >= wanted.slots else [])

    def is_in_circle(self, start: Claim, places: list[Claim], *, has_slots: bool = True) -> bool:
        """Follow who waits for whom, and see whether that leads back to the holder of `start`."""
        seen: set[str] = set()
        following = [claim.holder for claim in self.in_the_way_of(start, places, has_slots=has_slots)]
        while following:
            holder = following.pop()
            if holder == start.holder:
                return True
            if holder not in seen:
                seen.add(holder)
                theirs = (place for place in places if place.holder == holder)
                following += [
                    claim.holder for place in theirs for claim in self.in_the_way_of(place, places, has_slots=has_slots)
                ]
        return False

    def places_with(self, command: Command[Any]) -> list[Claim]:
        """List the places in line as they would be with one more, for who asks."""
        places = list(self.line.values())
        if isinstance(command, Acquire) and command.lease_id not in self.line:
            keys, nowhere = tuple(map(str, command.keys)), Deadline("", 0.0, 0.0)
            more = {"slots": command.slots}
            places.append(Claim(command.lease_id, command.holder, keys, command.mode, nowhere, float("inf"), **more))
        return places

    def on_granted(self, recorded: Recorded, event: LeaseGranted, _: object, now: Now) -> None:
        lease = event.lease
        place = self.line.pop(lease.id, None)
        number = place.number if place else recorded.sequence
        granted = Claim(
            lease.id,
            lease.holder,
            lease.keys,
            lease.mode,
            lease.deadline,
            number,
            lease.fence,
            slots=lease.slots,
            slot=lease.slot,
        )
        sharing = [claim.slot for claim in self.leases.values() if claim.shares(granted)]
        assert len(sharing) < max(1, lease.slots), f"{lease.id} was granted beside {len(sharing)} of {lease.slots}"
        assert lease.slot not in sharing, f"the slot {lease.slot} was given twice"
        assert 0 <= lease.slot <= lease.slots, f"there is no slot {lease.slot}"
        done = lease.is_once and self.versions.get(f"once:{lease.keys[0]}")
        assert not done, "work that was done was given out again"
        assert lease.id not in self.leases, "a lease was granted twice"
        against = self.in_the_way_of(granted, list(self.line.values()))
        assert not [claim for claim in against if claim.fence], f"{lease.id} was granted beside {against}"
        assert not against, f"{lease.id} was granted before those that stood before it in line: {against}"
        assert not granted.is_over(now), "what was granted is over already"
        longest = place.patience if place and not lease.is_claimed else LONGEST_TTL
        assert lease.deadline.ticks <= now.ticks + longest, f"{lease.id} lasts too long"
        self.leases[lease.id] = granted
        self.check_fence(lease.fence, recorded)

    def check_fence(self, fence: int, recorded: Recorded) -> None:
        assert fence > self.fence, f"the fence {fence} does not rise above {self.fence}"
        assert fence == recorded.sequence, "a fence is not the number of its event"
        self.fence = fence

    def on_handed_over(self, recorded: Recorded, event: LeaseHandedOver, command: Command[Any], _: Now) -> None:
        lease = self.leases[event.lease_id]
        assert lease.holder == command.holder == event.holder, "a lease was given away by another than its holder"
        given = replace(lease, holder=event.to, fence=recorded.sequence)
        against = [claim for claim in self.leases.values() if claim.excludes(given) and claim.id != lease.id]
        assert not against, f"{lease.id} was handed over beside {against}"
        self.leases[lease.id] = given
        self.check_fence(recorded.sequence, recorded)

    def on_moved(self, _: Recorded, event: LeaseRenewed | LeaseClaimed, command: Command[Any], now: Now) -> None:
        lease = self.leases[event.lease_id]
        assert not lease.is_over(now), f"{lease.id} was revived"
        assert command.holder == lease.holder, f"{lease.id} was renewed by another than its holder"
        assert not isinstance(command, RecordPartialWork), f"{lease.id} was renewed for one who is not there"
        self.leases[lease.id] = replace(lease, until=event.deadline)

    def on_released(self, _: Recorded, event: LeaseReleased, __: object, ___: Now) -> None:
        assert self.leases.pop(event.lease_id).holder == event.holder, "a lease was released for another"

    def on_expired(self, _: Recorded, event: LeaseExpired, __: object, now: Now) -> None:
        assert self.leases.pop(event.lease_id).is_over(now), f"{event.lease_id} expired too early"

    def on_broken(self, _: Recorded, event: LeaseBroken, command: Command[Any], __: Now) -> None:
        assert isinstance(command, Break), "a lease was broken, and nobody asked for it"
        assert (command.lease_id, command.holder) == (event.lease_id, event.by), "another lease was broken"
        del self.leases[event.lease_id]

    def on_queued(self, recorded: Recorded, event: LeaseQueued, _: object, __: Now) -> None:
        waiter = event.waiter
        assert waiter.number == recorded.sequence, "a place does not have the number of its event"
        self.line[waiter.id] = Claim(
            waiter.id,
            waiter.holder,
            waiter.keys,
            waiter.mode,
            waiter.deadline,
            waiter.number,
            patience=waiter.patience_seconds,
            slots=waiter.slots,
        )

    def on_seen(self, _: Recorded, event: WaiterSeen, command: Command[Any], now: Now) -> None:
        place = self.line[event.lease_id]
        assert not place.is_over(now), f"{place.id} was let in again"
        assert command.holder == place.holder, f"{place.id} was kept up by another"
        self.line[place.id] = replace(place, until=event.deadline)

    def on_left(self, _: Recorded, event: WaiterLeft, command: Command[Any], now: Now) -> None:
        place = self.line[event.lease_id]
        match event.why:
            case Leaving.TIMED_OUT:
                assert place.is_over(now), f"{place.id} was turned away too early"
            case Leaving.CANCELLED:
                assert isinstance(command, Release), f"{place.id} was cancelled, and nobody asked for it"
                assert command.holder == place.holder, f"{place.id} was cancelled by another"
            case Leaving.DEADLOCK:
                assert self.is_in_circle(place, self.places_with(command)), f"{place.id} was in no circle"
            case Leaving.DONE:
                is_result = isinstance(command, Release) and command.result is not None
                assert is_result, f"{place.id} waits for what is not done"
        del self.line[event.lease_id]

    def on_put(self, recorded: Recorded, event: ValuePut, command: Command[Any], now: Now) -> None:
        if isinstance(command, Release) and command.result is not None:
            self.check_result(recorded, event, command, now)
            return
        assert isinstance(command, Put), "a value was put, and nobody asked for it"
        assert event.key == str(command.key), "another key was written"
        current = self.versions.get(event.key, 0)
        assert command.expected_version == current, f"a write on version {command.expected_version} of {current}"
        for read in command.reads:
            assert read.version == self.versions.get(read.key, 0), f"a write that relied on an old {read.key}"
        written = Claim("", command.holder, (event.key,), "exclusive", Deadline("", 0.0, 0.0), 0)
        against = [lease for lease in self.leases.values() if lease.excludes(written)]
        assert not against, f"a write on what others hold: {against}"
        if command.fence is not None:
            assert command.fence in self.fences_on(written, now), f"a write with the fence {command.fence}"
        self.versions[event.key] = recorded.sequence

    def check_result(self, recorded: Recorded, event: ValuePut, command: Release, now: Now) -> None:
        lease = self.leases[command.lease_id]
        assert lease.holder == command.holder == event.holder, "a result was given by another than the holder"
        assert not lease.is_over(now), "a result was given too late"
        assert (event.key, event.text) == (f"once:{lease.keys[0]}", command.result), "another result is kept"
        assert event.key not in self.versions, "work was done twice"
        self.versions[event.key] = recorded.sequence

    def fences_on(self, written: Claim, now: Now) -> list[int]:
        """List the fences of live exclusive leases that the writer has on what it writes."""
        return [
            lease.fence
            for lease in self.leases.values()
            if lease.holder == written.holder
            and lease.mode == "exclusive"
            and not lease.is_over(now)
            and any((held, written.keys[0]) in COVERED for held in lease.keys)
        ]

    def was_told(self, token: str, key: str, outcome: object) -> None:
        """Note what a writer was answered (None: nothing, ever)."""
        self.writes[token] = key, outcome

    def judge_the_end(self, view: LeaseView) -> None:
        """Judge what is left when everybody has gone home and all time has passed."""
        assert not view.waiters(), "somebody waits for ever"
        assert not view.leases(), "somebody holds for ever"
        log = view.events(limit=100_000)
        values = {key: value for key in self.versions if (value := view.value(key))}
        works = {work.lease_id: work for work in view.works()}
        expected = State(self.sequence, {}, {}, {lease.id: lease for lease in view.lost()}, works, values)
        assert fold(log) == expected, "the log does not explain the state"
        texts = {key: (value.text or "").split() for key, value in values.items()}
        for token, (key, outcome) in self.writes.items():
            times = texts.get(key, []).count(token)
            assert times <= 1, f"{token} was written {times} times"
            assert times or not isinstance(outcome, Stored), f"{token} was stored, and is lost"
            assert not (times and isinstance(outcome, NotStored)), f"{token} was refused, and is there"
