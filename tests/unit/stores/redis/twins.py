"""A registry on Redis beside one that is nothing but `decide`: both are told the same."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import msgspec
import redis
from tests.unit.stores.redis.oracle import FoldedTables

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command, Put
from commonhold.kernel.errors import UsageError
from commonhold.kernel.events import Recorded, WorkLeft
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_ports import LeaseView, Once
from commonhold.kernel.outcomes import Stored
from commonhold.kernel.projection import State, fold
from commonhold.leases.registry import TableRegistry
from commonhold.stores.redis import open_redis

# Stories go by this unit. A call that a busy machine delays by less does the same as one that takes no time.
UNIT_SECONDS: Final = 50
CLOCK_STEP_SECONDS: Final = 5  # how far back somebody may set the clock of the machine meanwhile


@dataclass
class StoryClock:
    """Stands still until told, in the epoch of Redis."""

    seconds: float = 1_000_000_000.0

    def now(self) -> Now:
        return Now("redis", self.seconds, self.seconds)

    def skew(self) -> float:
        return self.seconds - time.time()


@dataclass
class Twins:
    """Both begin with the same number, which Redis chooses."""

    url: str
    clock: StoryClock = field(default_factory=StoryClock)

    def __post_init__(self) -> None:
        self.namespace = f"story-{uuid4()}"
        self.redis = open_redis(self.url, self.namespace, skew=self.clock.skew)
        begin = Put(canonical("story:begin"), "narrator", "once upon a time", 0)
        stored = self.redis.execute(begin)
        assert isinstance(stored, Stored)
        self.tables = FoldedTables(stored.value.version)
        self.decided = TableRegistry(self.tables, self.clock)  # type: ignore[arg-type]  # nobody reads from it
        self.decided.execute(begin)

    @property
    def state(self) -> State:
        return self.tables.state

    def tell(self, command: Command[Any], request_id: str | None = None) -> None:
        once = Once(request_id, repr(command)) if request_id else None
        assert outcome_of(self.redis, command, once) == outcome_of(self.decided, command, once), command

    def check(self) -> None:
        state = self.state
        with self.redis.read() as view:
            events = view.events()
            assert rounded(events) == rounded(self.tables.log)
            assert rounded(view.leases()) == rounded(sorted(state.leases.values(), key=lambda lease: lease.fence))
            assert rounded(view.waiters()) == rounded(tuple(state.waiters.values()))
            assert by_id(view.lost()) == by_id(state.lost.values())
            assert [work.lease_id for work in view.works()] == in_order_found(self.tables.log, state)
            assert_explained(fold(events), view)
            claims: list[Lease | Waiter] = [*view.leases(), *view.waiters()]
            assert self.index_size() == sum(map(entry_count, claims))

    def index_size(self) -> int:
        """How many entries leases and places in line are found by."""
        with redis.Redis.from_url(self.url) as client:
            size: Any = client.zcard(f"{{commonhold:{self.namespace}}}:index")
        return int(size)

    def close(self) -> None:
        self.redis.close()


def assert_explained(state: State, view: LeaseView) -> None:
    """The log explains what is there, to the last digit (invariant I9)."""
    assert state.leases == {lease.id: lease for lease in view.leases()}
    assert state.waiters == {waiter.id: waiter for waiter in view.waiters()}
    assert state.lost == {lease.id: lease for lease in view.lost()}
    assert state.works == {work.lease_id: work for work in view.works()}
    assert state.values == {key: view.value(key) for key in state.values}


def entry_count(claim: Lease | Waiter) -> int:
    """One for its end, one for each place and first name, and for a lease one for its holder."""
    keys = map(canonical, claim.keys)
    places = {(key.scheme, key.path, key.names[0].text if key.names else "") for key in keys}
    return len(places) + (2 if isinstance(claim, Lease) else 1)


def outcome_of(registry: Any, command: Command[Any], once: Once | None) -> Any:
    try:
        outcome = registry.execute(command, once)
    except UsageError as error:
        return error.code
    return type(outcome), rounded(outcome)


def rounded(value: object) -> Any:
    """Make JSON types of a value, without the moments that a real server takes."""
    return _rounded(msgspec.to_builtins(value))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return math.floor((value + CLOCK_STEP_SECONDS) / UNIT_SECONDS)
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value


def by_id(leases: Iterable[Lease]) -> dict[str, Any]:
    return {lease.id: rounded(lease) for lease in leases}


def in_order_found(log: list[Recorded], state: State) -> list[str]:
    found = [each.event.lease_id for each in log if isinstance(each.event, WorkLeft) and each.event.changes]
    return [lease_id for lease_id in reversed(list(dict.fromkeys(reversed(found)))) if lease_id in state.works]
