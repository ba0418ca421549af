"""Workers on several machines, simulated with a seed: wakes are lost and doubled, supervisors die, the clock jumps."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random

import pytest
from tests.effort import is_stress
from tests.unit.sessions.house import FINISHED, PAUSED, House
from tests.unit.tasks.table import TTL, kind

from commonhold.kernel.clock import Now
from commonhold.kernel.managed_session import EndCause, ManagedSessionRecord, SessionState
from commonhold.sessions.commands import (
    ClaimSession,
    SessionAction,
    SessionChanged,
    SessionClaimed,
    SessionLimits,
    SessionRefused,
)

WORKERS, AT_ONCE, SINGLES = 3, 4, 50
MANY = 500 if is_stress() else 200
POLL_SECONDS = 5.0
CHANCE_OF_DEATH = 0.1
MOST_ATTEMPTS = 3


@dataclass
class Cluster(House):
    """Machines with a worker each, and the sessions of tenants that any of them may run. Time is a heap of events."""

    chance: Random = field(default_factory=Random)
    wall_ahead: float = 0.0
    limits: SessionLimits = SessionLimits(AT_ONCE, 10_000)  # noqa: RUF009 - it is frozen
    heap: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)
    numbers: "count[int]" = field(default_factory=count)
    claimed: list[ManagedSessionRecord] = field(default_factory=list)
    late: int = 0

    @property
    def now(self) -> Now:
        return Now("boot", self.seconds, self.seconds + self.wall_ahead)

    def after(self, seconds: float, act: Callable[[], object]) -> None:
        heapq.heappush(self.heap, (self.seconds + seconds, next(self.numbers), act))

    def run_out(self) -> None:
        """Let time pass until no session waits or runs."""
        while any(not each.is_final and each.state is not _REVIEW for each in self.state.managed_sessions.values()):
            self.seconds, _, act = heapq.heappop(self.heap)
            act()

    def wake(self) -> None:
        """Send a wake to every worker: each gets it never, once or twice, at some time."""
        for place in range(WORKERS):
            for _ in range(self.chance.choice((0, 1, 1, 2))):
                self.after(self.chance.uniform(0, 2), lambda place=place: self.look(place))  # type: ignore[misc]

    def poll(self, place: int) -> None:
        self.look(place)
        self.after(POLL_SECONDS, lambda: self.poll(place))

    def look(self, place: int) -> None:
        self.settle()
        while True:
            lease = f"lease-{next(self.numbers)}"
            claim = ClaimSession("engine", f"machine-{place}:/state", self.limits, lease, TTL, takes_any=True)
            outcome = self.send(claim)
            if not isinstance(outcome, SessionClaimed):
                return
            self.claimed.append(outcome.record)
            self.begin(outcome.record)

    def begin(self, record: ManagedSessionRecord) -> None:
        """Let a supervisor report in time, never, or after its lease has ended."""
        seconds = self.chance.uniform(1, 20)
        if self.chance.random() >= CHANCE_OF_DEATH:
            self.after(seconds, lambda: kind(SessionChanged, self.ended(record)))
        elif self.chance.random() < 0.5:
            self.after(TTL + seconds + 2 * POLL_SECONDS, lambda: kind(SessionRefused, self.ended(record)))

    def ended(self, record: ManagedSessionRecord) -> object:
        outcome = self.report(record, FINISHED)
        self.late += isinstance(outcome, SessionRefused)
        self.wake()
        return outcome

    def jump(self) -> None:
        """Set the clocks of all machines forward or back by up to a day."""
        self.wall_ahead += self.chance.uniform(-86_400, 86_400)
        self.after(10, self.jump)


_REVIEW = SessionState.AWAITING_REVIEW


@pytest.mark.parametrize("seed", range(10 if is_stress() else 1))
def test_each_session_of_each_tenant_ends_once_whatever_is_lost(seed: int) -> None:
    cluster = Cluster(chance=Random(seed))
    for _ in range(MANY):
        cluster.start(tenant="many", place="", remote="origin", most_attempts=MOST_ATTEMPTS)
    for number in range(SINGLES):
        cluster.start(tenant=f"single{number}", place="", remote="origin", most_attempts=MOST_ATTEMPTS)
    for place in range(WORKERS):
        cluster.poll(place)
    cluster.wake()
    cluster.after(1, cluster.jump)
    cluster.run_out()

    records = cluster.state.managed_sessions.values()
    given_up = [each for each in records if each.state is SessionState.FAILED]
    assert {each.state for each in records} <= {_REVIEW, SessionState.FAILED}
    assert all((each.tries, each.cause) == (MOST_ATTEMPTS, EndCause.LOST) for each in given_up)
    assert {each.place for each in records} == {f"machine-{place}:/state" for place in range(WORKERS)}
    # Each attempt was claimed once, and the tenants with one session had their turns among the first.
    assert len({(each.id, each.attempt) for each in cluster.claimed}) == len(cluster.claimed)
    first = [each.session.tenant for each in cluster.claimed if each.attempt == 1]
    assert {f"single{number}" for number in range(SINGLES)} <= set(first[: 2 * (SINGLES + 1)])
    assert cluster.late, "no supervisor came back too late: the chances must be changed"


def test_a_paused_session_goes_on_where_its_workspace_is_and_a_lost_one_anywhere() -> None:
    cluster = Cluster(chance=Random(1))
    session = cluster.start(place="", remote="origin").id

    def claim(place: str, *, takes_any: bool = True) -> object:
        lease = f"lease-{next(cluster.numbers)}"
        return cluster.send(ClaimSession("engine", place, cluster.limits, lease, TTL, takes_any=takes_any))

    assert not isinstance(claim("one:/state", takes_any=False), SessionClaimed), "no worker is there"
    running = kind(SessionClaimed, claim("one:/state")).record
    assert (running.place, running.attempts[-1].place) == ("one:/state", "one:/state")
    cluster.change(session, SessionAction.PAUSE)
    cluster.report(running, PAUSED)
    cluster.change(session, SessionAction.RESUME)
    assert not isinstance(claim("two:/state"), SessionClaimed)
    kind(SessionClaimed, claim("one:/state"))
    cluster.seconds += TTL + 1
    cluster.settle()
    assert cluster.record(session).place == "", "it waits for any worker again"
    cluster.seconds += 60
    assert kind(SessionClaimed, claim("two:/state")).record.attempt == 2
