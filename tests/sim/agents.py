"""Agents: small programs that lease, think and write, crash in the middle, sleep too long, and come back."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.sim.network import Network, Request
from tests.sim.referee import Referee
from tests.sim.world import World

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
from commonhold.kernel.keys import Key, canonical, contains
from commonhold.kernel.lease import Base, Lease
from commonhold.kernel.lease_ports import LeaseView, Once
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted, Queued
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.values import Value, Version

ONE, TWO, PART, ALL = (canonical(text) for text in ("account:1", "account:2", "account:1:x", "account:*"))
FILE, FUNCTION, HEADER = (canonical(text) for text in ("file:src/a.py", "file:src/a.py#f", "file:src/a.py#@header"))
BOX, JOB = canonical("gpu:box"), canonical("job:1")
VALUED = (ONE, TWO)
HOT: tuple[tuple[Key, ...], ...] = ((ONE,), (TWO,), (ONE, TWO), (ALL,))
WISHES: tuple[tuple[Key, ...], ...] = (*HOT, *HOT[:2], (ONE, FUNCTION), (TWO, FILE), (PART, HEADER))
TIMEOUT = 4.0
TRIES = 4
NAMES = ("ann", "bob", "cid", "dee")

Program = Generator["Pause | Call", Any, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Do nothing for a while: think, or wait before asking again."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Call:
    """Send a request, and go on with its answer, or with None if there is none in time."""

    request: Request


class Agent:
    """One process of one agent. Another one may have had its name before, or have it still."""

    def __init__(self, world: World, network: Network, referee: Referee, name: str, incarnation: int) -> None:
        self.world, self.network, self.referee = world, network, referee
        self.name = name
        self.who = f"{name}/{incarnation}"
        self.is_alive = True
        self.asleep_until = 0.0
        self.count = 0
        self.turn = 0
        self.program = self.live(has_lived_before=incarnation > 1)

    def go_on(self, turn: int, value: Any = None) -> None:
        """Go on with the program, if that is what it waits for; later, if the process is suspended."""
        if not self.is_alive or turn != self.turn:
            return
        if self.world.seconds < self.asleep_until:
            self.world.after(self.asleep_until - self.world.seconds, partial(self.go_on, turn, value))
            return
        self.turn += 1
        try:
            effect = self.program.send(value)
        except StopIteration:
            self.is_alive = False
            return
        if isinstance(effect, Call):
            self.network.send(effect.request, partial(self.go_on, self.turn))
        self.world.after(effect.seconds if isinstance(effect, Pause) else TIMEOUT, partial(self.go_on, self.turn))

    def crash(self) -> None:
        self.tell("crashes")
        self.is_alive = False

    def suspend(self, seconds: float) -> None:
        self.tell(f"is suspended for {seconds:.1f} s")
        self.asleep_until = self.world.seconds + seconds

    def tell(self, what: object) -> None:
        self.world.tell(self.who, what)

    def live(self, *, has_lived_before: bool) -> Program:
        random = self.world.random
        yield Pause(random.uniform(0.0, 3.0))
        if has_lived_before and self.world.chance(0.5):
            yield from self.tidy_up()
        for _ in range(random.randint(1, 3)):
            yield from random.choice(JOBS)(self)
            yield Pause(random.expovariate(0.5))

    def look(self, what: Callable[[LeaseView], Any]) -> Program:
        """Look at the state; None if the store cannot be reached."""
        for _ in range(TRIES):
            found = yield Call(what)
            if found is not None:
                return found
        return None

    def ask(self, command: Command[Any], once: Once | None = None) -> Program:
        """Send a command until it is answered; None if it never is."""
        once = once or self.once()
        for _ in range(TRIES):
            outcome = yield Call((command, once))
            if outcome is not None:
                return outcome
        self.tell(f"gives up on {once.request_id}, unanswered")
        return None

    def once(self) -> Once:
        self.count += 1
        return Once(f"{self.who}/{self.count}", "")

    def acquire(
        self,
        keys: tuple[Key, ...],
        mode: Mode = Mode.EXCLUSIVE,
        replaces: str | None = None,
        *,
        slots: int = 0,
        is_once: bool = False,
    ) -> Program:
        """Ask for keys, and go on asking for a while; the lease, or None."""
        random, once = self.world.random, self.once()
        patience, ttl = random.choice((None, 8.0, 20.0, 20.0, 40.0, 40.0)), random.choice((15.0, 30.0, 60.0))
        bases = tuple(Base(str(key), None) for key in keys) if self.world.chance(0.3) else ()
        lease_id = f"lease-{once.request_id}"
        command = Acquire(
            lease_id, "", self.name, "", keys, mode, ttl, patience, replaces, "", bases, slots, is_once=is_once
        )
        gives_up_at = self.world.seconds + random.uniform(5.0, 90.0)
        while isinstance(outcome := (yield from self.ask(command, once)), Queued):
            if self.world.seconds > gives_up_at:
                yield from self.ask(Release(lease_id, self.name))
                return None
            yield Pause(random.uniform(0.5, 12.0))
        return outcome.lease if isinstance(outcome, Granted) else None

    def read(self, key: Key) -> Program:
        """What a key carries; it may be old by the time that it is known."""
        text = str(key)
        return (yield from self.look(lambda view: view.value(text) or Value(text)))

    def write(
        self, value: Value, fence: int | None, reads: tuple[Version, ...] = (), *, must_hold: bool = False
    ) -> Program:
        """Add a word to a value that was read before."""
        token = f"{self.who}/{self.count + 1}"
        text = f"{value.text or ''} {token}"
        command = Put(canonical(value.key), self.name, text, value.version, fence, reads, must_hold)
        # What the writer never hears of may have happened or not.
        self.referee.was_told(token, value.key, None)
        outcome = yield from self.ask(command)
        self.referee.was_told(token, value.key, outcome)
        return outcome

    def think(self) -> Pause:
        """Think: mostly for less time than a lease lasts."""
        return Pause(self.world.random.expovariate(0.15))

    def choose(self, lease: Lease) -> Key:
        """Choose what to write under a lease: mostly what it covers."""
        held = [key for key in VALUED if any(contains(canonical(each), key) for each in lease.keys)]
        return self.world.random.choice(held if held and self.world.chance(0.9) else VALUED)

    def tidy_up(self) -> Program:
        """Release what a former life left behind."""
        name = self.name
        for lease in (yield from self.look(lambda view: view.held_by(name))) or ():
            yield from self.ask(Release(lease.id, name))


def write_under_lease(agent: Agent) -> Program:
    """Lease, read, think, write, perhaps more of it, release."""
    random = agent.world.random
    lease: Lease | None = yield from agent.acquire(random.choice(WISHES))
    if lease is None:
        return
    if agent.world.chance(0.5):
        yield agent.think()
        yield from agent.acquire(random.choice(HOT))
    for _ in range(random.randint(1, 2)):
        value = yield from agent.read(agent.choose(lease))
        yield agent.think()
        if value is not None:
            yield from agent.write(
                value, lease.fence if agent.world.chance(0.8) else None, must_hold=agent.world.chance(0.2)
            )
        if agent.world.chance(0.2):
            yield from agent.ask(Renew(lease.id, agent.name, 20.0))
    yield from leave(agent, lease)


def leave(agent: Agent, lease: Lease) -> Program:
    """Release a lease, hand it over, or forget it."""
    fate = agent.world.random.random()
    if fate < 0.6:
        yield from agent.ask(Release(lease.id, agent.name))
    elif fate < 0.8:
        yield from agent.ask(HandOver(lease.id, agent.name, agent.world.random.choice(NAMES)))


def write_without_lease(agent: Agent) -> Program:
    """Read two, think, write one: it counts only if neither has changed."""
    keys = list(VALUED)
    agent.world.random.shuffle(keys)
    mine = yield from agent.read(keys[0])
    other = yield from agent.read(keys[1])
    yield agent.think()
    if mine is not None and other is not None:
        yield from agent.write(mine, None, (Version(other.key, other.version),))


def read_then_upgrade(agent: Agent) -> Program:
    """Read under a reader's lease, and write under a writer's that takes its place."""
    random = agent.world.random
    keys = random.choice(WISHES)
    reading: Lease | None = yield from agent.acquire(keys, random.choice((Mode.SHARED, Mode.UPGRADABLE)))
    if reading is None:
        return
    value = yield from agent.read(agent.choose(reading))
    yield agent.think()
    writing: Lease | None = yield from agent.acquire(keys, replaces=reading.id)
    if writing is not None and value is not None:
        yield from agent.write(value, writing.fence)
        yield from leave(agent, writing)
    else:
        yield from agent.ask(Release(reading.id, agent.name))


def use_a_slot(agent: Agent) -> Program:
    """Take one of two slots, think, perhaps with another lease beside it, and give it back."""
    lease: Lease | None = yield from agent.acquire((BOX,), slots=2)
    if lease is None:
        return
    if agent.world.chance(0.4):
        yield from agent.acquire(agent.world.random.choice((*HOT, (BOX,))))
    yield agent.think()
    yield from leave(agent, lease)


def do_it_once(agent: Agent) -> Program:
    """Do work that is done once for all, unless it is done; sometimes leave it undone."""
    lease: Lease | None = yield from agent.acquire((JOB,), slots=1, is_once=True)
    if lease is None:
        return
    yield agent.think()
    if agent.world.chance(0.5):
        yield from agent.ask(Release(lease.id, agent.name, f"by {agent.who}"))
    else:
        yield from leave(agent, lease)


def look_after_others(agent: Agent) -> Program:
    """Ask for leases, break them, look for what was left under them, and review it."""
    random = agent.world.random
    leases, lost, works = (yield from agent.look(lambda view: (view.leases(), view.lost(), view.works()))) or (
        (),
        (),
        (),
    )
    if leases:
        lease = random.choice(leases)
        yield from agent.ask(random.choice((Ask, Ask, Break))(lease.id, agent.name, "why"))
    for each in lost:
        changes = (UnfinishedChange(each.keys[0], None, "h"),) if agent.world.chance(0.5) else ()
        yield from agent.ask(RecordPartialWork(each.id, each.holder, changes))
    for work in works:
        yield from agent.ask(Review(work.lease_id, agent.name, "seen"))
    yield from agent.ask(Heartbeat(agent.name))


JOBS = (
    write_under_lease,
    write_under_lease,
    write_under_lease,
    write_without_lease,
    read_then_upgrade,
    use_a_slot,
    do_it_once,
    look_after_others,
)
