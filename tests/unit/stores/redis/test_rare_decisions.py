"""Stories that chance rarely finds: the scripts decide as `decide` does, and each story has its point."""

from collections import Counter

import pytest
from tests.services.redis_server import RedisServer
from tests.unit.stores.redis.twins import Twins

from commonhold.kernel.commands import (
    Acquire,
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
from commonhold.kernel.events import (
    Event,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    ValuePut,
    WaiterLeft,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Base
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Outcome
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.values import Version

pytestmark = pytest.mark.slow

Story = list[Command[Outcome] | float]


def keys(text: str) -> tuple[Key, ...]:
    return tuple(canonical(part if ":" in part else f"account:{part}") for part in text.split())


def hold(lease_id: str, holder: str, wanted: str, mode: Mode = Mode.EXCLUSIVE, *, based: bool = False) -> Acquire:
    bases = (Base("file:a", None),) if based else ()
    return Acquire(lease_id, "", holder, "a task", keys(wanted), mode, 600.0, bases=bases)


def wait(lease_id: str, holder: str, wanted: str, replaces: str | None = None) -> Acquire:
    return Acquire(lease_id, "", holder, "", keys(wanted), Mode.EXCLUSIVE, 600.0, 300.0, replaces)


STORIES: dict[str, tuple[Story, dict[type[Event], int]]] = {
    "a circle that closes when a lease is released": (
        [
            *(hold("l1", "one", "a"), hold("l2", "one", "b"), hold("l3", "three", "c")),
            *(wait("w1", "two", "a"), wait("w2", "two", "b"), wait("w3", "one", "a c")),
            Release("l1", "one"),
        ],
        {WaiterLeft: 1, LeaseGranted: 4},
    ),
    "a circle that closes when a lease changes hands": (
        [
            *(hold("l1", "one", "a"), hold("l2", "two", "b")),
            *(wait("w1", "two", "a"), wait("w2", "three", "b")),
            HandOver("l1", "one", "three"),
        ],
        {WaiterLeft: 1},
    ),
    "who waits is given what it waits for": (
        [hold("l1", "one", "a"), wait("w1", "two", "a"), HandOver("l1", "one", "two")],
        {LeaseGranted: 2},
    ),
    "of two circles that a wish would close it loses the second, so nobody leaves": (
        [
            *(hold("l1", "oldest", "a"), hold("l2", "old", "b"), hold("l3", "young", "e"), hold("l4", "youngest", "c")),
            *(wait("w1", "oldest", "b"), wait("w2", "young", "b"), wait("w3", "youngest", "e d")),
            wait("w4", "old", "a c d"),
        ],
        {WaiterLeft: 0, LeaseDenied: 1},
    ),
    "what was to be replaced has gone to another": (
        [
            *(hold("l1", "one", "a"), hold("l2", "two", "b"), wait("w1", "one", "b", replaces="l1")),
            *(HandOver("l1", "one", "three"), wait("w2", "three", "b"), Release("l2", "two")),
        ],
        {LeaseGranted: 3, LeaseReleased: 1},
    ),
    "what is to be replaced is held by another, far away": (
        [hold("l1", "one", "a"), wait("w1", "two", "b", replaces="l1"), wait("w2", "two", "b", replaces="l0")],
        {LeaseGranted: 1},
    ),
    "a lease on a file does not cover a folder of that name": (
        [
            hold("l1", "one", "file:a file:b/"),
            *(Put(key, "one", "text", 0, must_hold=True) for key in keys("file:a/ file:a file:b/c file:b/ file:a#f")),
        ],
        {ValuePut: 4},
    ),
    "numbers that nobody gave out": (
        [
            *(hold("l1", "one", "a"), Put(canonical("account:a"), "one", "text", 2**63 - 1)),
            Put(canonical("account:a"), "one", "text", 0, fence=2**53 + 1),
            Put(canonical("account:a"), "one", "text", 0, reads=(Version("account:b", 2**62 + 1),)),
        ],
        {ValuePut: 0},
    ),
    "work that is lost twice under one id is that of the second lease": (
        [
            *(hold("l1", "one", "a", based=True), Break("l1", "two", ""), hold("l1", "three", "b", based=True)),
            *(
                Break("l1", "two", ""),
                RecordPartialWork("l1", "two", (UnfinishedChange("file:a", None, "1f"),)),
                Review("l1", "two", "kept"),
            ),
        ],
        {WorkLeft: 1, WorkReviewed: 1},
    ),
    "work is lost once more when it is told what is left": (
        [
            *(hold("l1", "one", "a", based=True), Break("l1", "two", ""), hold("l1", "three", "b", based=True)),
            *(1000.0, RecordPartialWork("l1", "two", (UnfinishedChange("file:a", None, "1f"),))),
        ],
        {WorkLeft: 1},
    ),
    "an id that stands in line, for something else": (
        [hold("l1", "one", "a"), wait("w1", "two", "a"), hold("w1", "two", "b"), hold("w1", "three", "a")],
        {LeaseGranted: 1, LeaseDenied: 0},
    ),
    "what nobody waits for is given out beside a line": (
        [
            *(hold("l1", "one", "a"), wait("w1", "two", "a"), hold("l2", "three", "b"), hold("l3", "two", "c")),
            *(Release("l2", "three"), Release("l3", "two"), Release("l1", "one")),
        ],
        {LeaseGranted: 4},
    ),
    "what somebody waits for is not taken by who comes later": (
        [
            *(hold("l1", "one", "a", Mode.SHARED), wait("w1", "two", "a"), hold("l2", "three", "a", Mode.SHARED)),
            *(hold("l3", "one", "a", Mode.SHARED), Release("l1", "one"), Release("l3", "one")),
        ],
        {LeaseGranted: 3, LeaseDenied: 1},
    ),
    "a lease that waited for its upgrade goes on from the same": (
        [
            *(hold("l1", "one", "a", Mode.SHARED, based=True), hold("l2", "two", "a", Mode.SHARED)),
            *(wait("w1", "one", "a", replaces="l1"), Release("l2", "two"), Break("w1", "two", "")),
        ],
        {LeaseGranted: 3},
    ),
    "a time to live that was asked for is given again": (
        [
            hold("l1", "one", "a"),
            Renew("l1", "one", 100.0),
            60.0,
            Heartbeat("one"),
            60.0,
            Heartbeat("one"),
            150.0,
            Heartbeat("two"),
        ],
        {LeaseRenewed: 3, LeaseExpired: 1},
    ),
    "more conflicts than are told": (
        [*(hold(f"l{number}", "one", f"a:{number}") for number in range(120)), hold("w1", "two", "a:*")],
        {LeaseDenied: 1},
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_the_same_is_decided(worker_redis: RedisServer, name: str) -> None:
    story, expected = STORIES[name]
    twins = Twins(worker_redis.socket_url)
    for step in story:
        if isinstance(step, float):
            twins.clock.seconds += step
        else:
            twins.tell(step)
    twins.check()
    counts = Counter(type(each.event) for each in twins.tables.log[1:])
    assert {kind: counts[kind] for kind in expected} == expected
    left = [each.event for each in twins.tables.log if isinstance(each.event, WaiterLeft)]
    assert {each.why for each in left} <= {Leaving.DEADLOCK}
    twins.close()
