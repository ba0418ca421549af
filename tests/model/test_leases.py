"""Registries beside a naive model: whatever a few agents do to leases, lines and values, both say the same."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from tests.contract.rigs import MemoryRig, SqliteRig, postgres_rig, redis_rig
from tests.effort import examples
from tests.model.naive_leases import ATOMS, Claim, Town
from tests.services.postgres_server import Database
from tests.services.redis_server import RedisServer

from commonhold.history.check import chain_fault
from commonhold.history.compaction import Compaction, Limit
from commonhold.history.replay import replay
from commonhold.history.snapshot import Beginning, Progress, beginning_of
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
from commonhold.kernel.events import Leaving, Recorded, WaiterLeft
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Base
from commonhold.kernel.lease_ports import LeaseView, Once, Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Outcome, Queued
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.projection import State
from commonhold.kernel.values import Version
from commonhold.leases.registry import TableRegistry
from commonhold.stores.postgres.tables import PostgresTables
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

VALUED = ("account:1", "account:2", "account:1:x")
# Times end in 50 where they are deadlines and in 00 where they pass, so that a clock that goes on by itself for half a
# minute, as that of a server beside a machine that stands still, changes no outcome.
TTLS, PATIENCES, STEPS = (550.0, 2150.0), (350.0, 1150.0), (100.0, 300.0, 1000.0, 5000.0)
TOLERANCE = 50.0

holders = st.sampled_from(("one", "two", "three", "four"))
key_sets = st.sets(st.sampled_from(sorted(ATOMS)), min_size=1, max_size=2).map(sorted).map(tuple)
modes = st.sampled_from(Mode)
leases = st.integers(1, 12).map("lease-{}".format)
versions = st.sampled_from(("current", "old"))
picks = st.integers(0, 20)


class OpenRig(Protocol):
    def registry(self) -> Registry: ...

    def advance(self, seconds: float) -> None: ...

    def close(self) -> None: ...


class Agents(RuleBasedStateMachine):
    """Four agents, a small world of names, one clock."""

    def __init__(self, rig: OpenRig) -> None:
        super().__init__()
        self.rig = rig
        self.town = Town()
        self.count = 0
        self.seen = 0
        self.asked: list[tuple[Command[Outcome], Once, Outcome]] = []
        self.wishes: dict[str, Acquire] = {}
        self.reopen()
        self.start = self.registry.now().ticks

    @rule()
    def reopen(self) -> None:
        """Go on with a fresh client of the same namespace."""
        self.registry = self.rig.registry()

    def run(self, command: Command[Any], *, is_alive: bool = True) -> Outcome:
        """Send a command; then let the model do what every command begins with."""
        self.count += 1
        once = Once(f"request-{self.count}", repr(command))
        self.keep_time()
        outcome: Outcome = self.registry.execute(command, once)
        if not isinstance(outcome, Queued):
            self.asked.append((command, once, outcome))
        self.town.sent_away = [event.lease_id for event in self.news() if event.why is Leaving.DEADLOCK]
        self.town.begin(command.holder if is_alive else None, getattr(command, "lease_id", None))
        return outcome

    def news(self) -> list[WaiterLeft]:
        with self.registry.read() as view:
            new = view.events(after=self.seen)
        self.seen = new[-1].sequence if new else self.seen
        return [each.event for each in new if isinstance(each.event, WaiterLeft)]

    @rule(seconds=st.sampled_from(STEPS))
    def wait(self, seconds: float) -> None:
        self.town.seconds += seconds
        self.keep_time()

    def keep_time(self) -> None:
        """Set the clock to the model's time: a server's goes on by itself, and a slow machine takes its time."""
        self.rig.advance(self.start + self.town.seconds - self.registry.now().ticks)

    @rule(
        holder=holders,
        keys=key_sets,
        mode=modes,
        ttl=st.sampled_from(TTLS),
        patience=st.none() | st.sampled_from(PATIENCES),
        replaces=st.none() | leases,
        has_bases=st.booleans(),
    )
    def acquire(
        self,
        holder: str,
        keys: tuple[str, ...],
        mode: Mode,
        ttl: float,
        patience: float | None,
        replaces: str | None,
        *,
        has_bases: bool,
    ) -> None:
        lease_id = f"lease-{len(self.wishes) + 1}"
        bases = (Base(keys[0], None),) if has_bases else ()
        wish = Acquire(
            lease_id, "acq", holder, "task", tuple(map(canonical, keys)), mode, ttl, patience, replaces, "/w", bases
        )
        self.wishes[lease_id] = wish
        outcome = self.run(wish)
        self.check_new_wish(outcome, wish)

    def check_new_wish(self, outcome: Outcome, wish: Acquire) -> None:
        wanted = Claim(
            wish.lease_id,
            wish.holder,
            tuple(map(str, wish.keys)),
            str(wish.mode),
            wish.ttl_seconds,
            0.0,
            wish.patience_seconds or 0.0,
            wish.replaces,
            has_bases=bool(wish.bases),
        )
        expected = self.town.acquire(wanted, may_wait=wish.patience_seconds is not None)
        self.check_wish(outcome, expected, wanted)

    def check_wish(self, outcome: Any, expected: str, wanted: Claim) -> None:
        assert verdict(outcome) == expected
        if expected in ("LOCK_CONFLICT", "DEADLOCK", "queued"):
            against = self.town.in_the_way_of(wanted)
            assert {(each.holder, each.is_waiting) for each in outcome.conflicts} == {
                (claim.holder, claim in self.town.line) for claim in against
            }
        if expected == "queued":
            assert outcome.position == self.town.position(wanted)
        self.town.settle()

    @precondition(lambda self: self.town.line or self.town.leases)
    @rule(pick=picks, holder=st.none() | holders)
    def acquire_again(self, pick: int, holder: str | None) -> None:
        """Ask again for what is waited for or held; sometimes another does, by mistake."""
        all_known = [*self.town.line, *self.town.leases]
        known = all_known[pick % len(all_known)]
        wish = replace(self.wishes[known.id], holder=holder or known.holder)
        outcome = self.run(wish)
        now = self.town.lease(known.id) or self.town.place(known.id)
        if now is None:
            self.check_new_wish(outcome, wish)
        else:
            expected = self.town.again(now, wish.holder, has_bases=bool(wish.bases))
            self.check_wish(outcome, expected, now)

    @rule(holder=holders, lease_id=leases, ttl=st.sampled_from((250.0, 950.0)))
    def renew(self, holder: str, lease_id: str, ttl: float) -> None:
        outcome = self.run(Renew(lease_id, holder, ttl))
        refused = self.town.why_not_held(lease_id, holder)
        assert verdict(outcome) == (refused or "renewed")
        lease = self.town.lease(lease_id)
        if lease is not None and refused is None:
            lease.is_claimed, lease.ttl, lease.ends = True, ttl, self.town.seconds + ttl
        self.town.settle()

    @rule(holder=holders, lease_id=leases)
    def release(self, holder: str, lease_id: str) -> None:
        self.check_release(self.run(Release(lease_id, holder)), holder, lease_id)

    @precondition(lambda self: self.town.line or self.town.leases)
    @rule(pick=picks)
    def release_own(self, pick: int) -> None:
        known = [*self.town.line, *self.town.leases]
        claim = known[pick % len(known)]
        self.check_release(self.run(Release(claim.id, claim.holder)), claim.holder, claim.id)

    def check_release(self, outcome: Outcome, holder: str, lease_id: str) -> None:
        place, lease = self.town.place(lease_id), self.town.lease(lease_id)
        if place is not None and place.holder == holder:
            self.town.line.remove(place)
            assert verdict(outcome) == "cancelled"
        else:
            refused = self.town.why_not_held(lease_id, holder)
            assert verdict(outcome) == (refused or "released")
            if lease is not None and refused is None:
                self.town.leases.remove(lease)
        self.town.settle()

    @rule(holder=holders, lease_id=leases)
    def break_lease(self, holder: str, lease_id: str) -> None:
        outcome = self.run(Break(lease_id, holder, "why"))
        lease = self.town.lease(lease_id)
        assert verdict(outcome) == ("broken" if lease else "LEASE_LOST")
        if lease is not None:
            self.town.lose(lease)
        self.town.settle()

    @rule(holder=holders, lease_id=leases)
    def ask(self, holder: str, lease_id: str) -> None:
        outcome = self.run(Ask(lease_id, holder, "why"))
        lease = self.town.lease(lease_id)
        assert verdict(outcome) == ("asked" if lease else "LEASE_LOST")
        if lease is not None:
            lease.wish = holder
        self.town.settle()

    @precondition(lambda self: self.town.leases)
    @rule(pick=picks, giver=st.none() | holders, to=holders)
    def hand_over(self, pick: int, giver: str | None, to: str) -> None:
        lease = self.town.leases[pick % len(self.town.leases)]
        holder = giver or lease.holder
        outcome = self.run(HandOver(lease.id, holder, to))
        expected = self.town.hand_over(lease.id, holder, to)
        self.learn_fences()
        assert verdict(outcome) == expected
        self.town.settle()

    @rule(holder=holders)
    def show(self, holder: str) -> None:
        assert verdict(self.run(Heartbeat(holder))) == "acknowledged"
        self.town.settle()

    @precondition(lambda self: self.wishes)
    @rule(pick=picks, is_changed=st.booleans())
    def leave(self, pick: int, *, is_changed: bool) -> None:
        known = self.town.lost or list(self.wishes)
        lease_id = known[pick % len(known)]
        changes = (UnfinishedChange("file:b.py", None, "h"),) if is_changed else ()
        is_lost = lease_id in self.town.lost
        outcome = self.run(RecordPartialWork(lease_id, self.wishes[lease_id].holder, changes), is_alive=False)
        assert verdict(outcome) == ("acknowledged" if is_lost else "nothing left")
        if is_lost:
            self.town.lost = [each for each in self.town.lost if each != lease_id]
        if is_lost and is_changed:
            self.town.works = [*(each for each in self.town.works if each != lease_id), lease_id]
        self.town.settle()

    @precondition(lambda self: self.wishes)
    @rule(pick=picks, holder=holders)
    def review(self, pick: int, holder: str) -> None:
        known = self.town.works or list(self.wishes)
        lease_id = known[pick % len(known)]
        outcome = self.run(Review(lease_id, holder, "note"))
        is_there = lease_id in self.town.works
        assert verdict(outcome) == ("acknowledged" if is_there else "nothing left")
        self.town.works = [each for each in self.town.works if each != lease_id]
        self.town.settle()

    @rule(
        holder=holders,
        key=st.sampled_from(VALUED),
        text=st.none() | st.sampled_from(("x", "y")),
        version=versions,
        fence=st.none() | picks,
        reads=st.dictionaries(st.sampled_from(VALUED), versions, max_size=2),
        must_hold=st.booleans(),
    )
    def put(
        self,
        holder: str,
        key: str,
        text: str | None,
        version: str,
        fence: int | None,
        reads: dict[str, str],
        *,
        must_hold: bool,
    ) -> None:
        expected_version = self.town.version(key) if version == "current" else 1
        seen = {read: self.town.version(read) if when == "current" else 1 for read, when in reads.items()}
        fences = [lease.fence for lease in self.town.leases] or [1]
        named = None if fence is None else fences[fence % len(fences)]
        based_on = tuple(Version(read, number) for read, number in seen.items())
        outcome = self.run(Put(canonical(key), holder, text, expected_version, named, based_on, must_hold))
        refused = self.town.why_not_stored(key, holder, named, must_hold=must_hold)
        refused = refused or self.town.why_stale(key, expected_version, seen)
        assert verdict(outcome) == (refused or "stored")
        if refused is None:
            stored: Any = outcome
            assert stored.value.version > max((number for number, _ in self.town.values.values()), default=0)
            self.town.values[key] = stored.value.version, text
        self.town.settle()

    @rule(pick=picks)
    def compact(self, pick: int) -> None:
        """Replace the events up to any of them by a snapshot: nothing that is decided later depends on them."""
        tables = getattr(self.registry, "tables", None)
        if isinstance(tables, SqliteStore | PostgresTables):
            with tables.read() as reader:
                log = reader.events(limit=1_000_000)
            last = log[len(log) * pick // 20 - 1].sequence if log else 0
            Compaction(tables, "eve", self.registry.now, Limit(inf, last=last)).run()

    @precondition(lambda self: self.asked)
    @rule(pick=picks)
    def ask_again(self, pick: int) -> None:
        """Repeat a request: the first answer is given, and nothing is done."""
        command, once, outcome = self.asked[-1 - pick % len(self.asked)]
        assert self.registry.first_outcome(command.holder, once) == outcome
        assert self.registry.execute(command, once) == outcome
        assert self.news() == []

    def learn_fences(self) -> None:
        """Take the fences of new grants from the store: they are higher than all before, in the order of the grants."""
        with self.registry.read() as view:
            fences = {lease.id: lease.fence for lease in view.leases()}
        highest = max((lease.fence for lease in self.town.leases), default=0)
        for lease in self.town.leases:
            if lease.fence == 0 and lease.id in fences:
                lease.fence = fences[lease.id]
                assert lease.fence > highest
                highest = lease.fence

    @invariant()
    def the_same_is_held(self) -> None:
        self.learn_fences()
        with self.registry.read() as view:
            found = view.leases()
        assert [lease.fence for lease in found] == sorted(lease.fence for lease in self.town.leases)
        by_id = {lease.id: lease for lease in found}
        for held in self.town.leases:
            lease = by_id[held.id]
            assert (lease.fence, lease.holder, lease.keys) == (held.fence, held.holder, held.keys)
            assert (lease.mode, lease.is_claimed, bool(lease.bases)) == (held.mode, held.is_claimed, held.has_bases)
            assert (lease.wish.by if lease.wish else None) == held.wish
            assert 0 <= lease.deadline.ticks - (self.start + held.ends) < TOLERANCE

    @invariant()
    def the_same_line_waits(self) -> None:
        with self.registry.read() as view:
            assert [waiter.id for waiter in view.waiters()] == [place.id for place in self.town.line]
        assert self.town.sent_away == [], "somebody was sent away without need"

    @invariant()
    def the_same_is_known(self) -> None:
        with self.registry.read() as view:
            values = {key: (value.version, value.text) for key in VALUED if (value := view.value(key))}
            assert values == self.town.values
            assert sorted(lease.id for lease in view.lost()) == sorted(set(self.town.lost))
            assert [work.lease_id for work in view.works()] == self.town.works

    @invariant()
    def the_log_explains_the_state(self) -> None:
        with self.registry.read() as view:
            log = view.events(limit=1_000_000)
            assert [each.sequence for each in log] == sorted({each.sequence for each in log})
            past = Progress(self.beginning().snapshot)
            for each in log:
                past.apply(each)
            assert past.state == viewed(view, log)

    def beginning(self) -> Beginning:
        """Return how the log begins: after a snapshot, if it was compacted."""
        if not isinstance(self.registry, TableRegistry):
            return Beginning()
        with self.registry.tables.read() as reader:
            return beginning_of(reader)

    def teardown(self) -> None:
        if isinstance(self.registry, TableRegistry):  # Redis keeps times in fewer digits, and not the whole log
            with self.registry.read() as view:
                past = Progress(self.beginning().snapshot)
                assert replay(view.events(limit=1_000_000), progress=past).difference is None
            with self.registry.tables.read() as reader:
                assert chain_fault(reader) is None
        self.rig.close()


def viewed(view: LeaseView, log: tuple[Recorded, ...]) -> State:
    return State(
        log[-1].sequence if log else 0,
        {lease.id: lease for lease in view.leases()},
        {waiter.id: waiter for waiter in view.waiters()},
        {lease.id: lease for lease in view.lost()},
        {work.lease_id: work for work in view.works()},
        {value.key: value for key in VALUED if (value := view.value(key))},
    )


def verdict(outcome: Any) -> str:
    """Name an outcome in a word: the code of a refusal, or what was done."""
    name = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in type(outcome).__name__).strip()
    return str(getattr(outcome, "code", name))


def check(make_rig: Callable[[], OpenRig], share: float) -> None:
    """Look for a story that a store tells otherwise than the model; `share` is how much of the usual effort it gets."""
    run_state_machine_as_test(lambda: Agents(make_rig()), settings=examples(share))  # type: ignore[arg-type]


def test_in_memory() -> None:
    check(MemoryRig, share=2.0)


def test_in_sqlite(tmp_path: Path) -> None:
    numbers = count()
    check(lambda: SqliteRig(str(tmp_path / str(next(numbers)))), share=0.5)


def test_in_postgres(database: Database) -> None:
    check(lambda: postgres_rig(database.socket_url, uuid4().hex), share=0.15)


def test_in_redis(redis_server: RedisServer) -> None:
    check(lambda: redis_rig(redis_server.socket_url, uuid4().hex), share=0.3)
