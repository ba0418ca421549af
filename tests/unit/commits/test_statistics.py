"""Statistics are counted from the log: collisions, merges, repairs, and waits by cause."""

from commonhold.commits.statistics import Statistics, Wait, statistics_of
from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import (
    CommitRefused,
    Committed,
    Event,
    FileChange,
    LeaseDenied,
    LeaseGranted,
    LeaseQueued,
    Leaving,
    Merge,
    Recorded,
    WaiterLeft,
)
from commonhold.kernel.lease import Conflict, Lease, Waiter
from commonhold.kernel.modes import Mode
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Move, Task, TaskAdded, TaskMoved

KEY = "file:a.py#f"
SOON = Deadline("boot", 100.0, 100.0)


def counted(*events: tuple[float, Event], since: float = 0.0) -> Statistics:
    return statistics_of((Recorded(number, at, event) for number, (at, event) in enumerate(events, 1)), since)


def waiter(name: str, holder: str) -> Waiter:
    return Waiter(name, 1, holder, "", (KEY,), Mode.EXCLUSIVE, name, 0.0, SOON, 60.0, 60.0)


def lease(name: str, holder: str) -> Lease:
    return Lease(name, 1, holder, "", (KEY,), Mode.EXCLUSIVE, name, 0.0, SOON)


def commit(holder: str, path: str, *merged: Merge) -> Committed:
    return Committed(holder, "", "/w", (), (FileChange(path, None, "x", None, None),), (), merged=merged)


def refused(holder: str, key: str) -> CommitRefused:
    return CommitRefused(holder, "", Refusal.REGION_CHANGED, (key,), "")


def test_a_wait_ends_with_the_grant_or_when_the_session_gives_up() -> None:
    found = counted(
        (1.0, LeaseQueued(waiter("one", "ann"))),
        (2.0, LeaseQueued(waiter("two", "bob"))),
        (4.0, LeaseGranted(lease("one", "ann"))),
        (9.0, WaiterLeft("bob", "two", Leaving.TIMED_OUT)),
        (9.0, LeaseGranted(lease("three", "cid"))),
    )
    assert (found.granted, found.queued, found.sessions) == (2, 2, {"ann", "bob", "cid"})
    assert found.waits == {"in line for a lease, granted": Wait(1, 3.0), "in line for a lease, timed out": Wait(1, 7.0)}
    assert found.contended == {KEY: 2}


def test_a_log_whose_beginning_was_compacted_counts_from_its_first_event() -> None:
    left = [Recorded(5, 7.0, WaiterLeft("bob", "two", Leaving.TIMED_OUT)), Recorded(6, 9.0, commit("bob", "a.py"))]
    assert statistics_of(left).since == 7.0
    assert statistics_of(left, since=8.0).since == 8.0
    assert counted((7.0, commit("bob", "a.py"))).since == 0.0


def test_a_denied_lease_is_a_collision_at_the_key_that_is_held() -> None:
    conflict = Conflict("file:a.py", KEY, "bob", "", Mode.EXCLUSIVE, 60.0)
    found = counted((1.0, LeaseDenied("ann", "", ("file:a.py",), Mode.EXCLUSIVE, (conflict,))))
    assert (found.collisions, found.contended) == (1, {KEY: 1})


def test_a_refused_commit_is_repaired_by_the_same_session_in_the_same_file() -> None:
    found = counted(
        (1.0, refused("ann", KEY)),
        (2.0, commit("bob", "a.py")),
        (3.0, commit("ann", "b.py")),
        (6.0, commit("ann", "a.py")),
        (7.0, commit("ann", "a.py")),
    )
    assert found.refused == {"REGION_CHANGED": 1}
    assert (found.commits, found.repaired, found.repair_seconds) == (4, 1, 5.0)


def test_merged_commits_are_counted_and_an_adoption_is_no_commit() -> None:
    merged = commit("ann", "a.py", Merge(KEY, "b", "f", "s"), Merge("file:a.py#g", "b", "f", "s"))
    adopted = Committed("ann", "", "/w", (), (), (), adopts="bob")
    found = counted((1.0, merged), (2.0, commit("bob", "b.py")), (3.0, adopted))
    assert (found.commits, found.merged, found.merged_regions) == (2, 1, 2)


def test_tasks_wait_for_a_claim_and_for_their_landing() -> None:
    found = counted(
        (1.0, TaskAdded("ann", Task("t1", "title"))),
        (5.0, TaskMoved("bob", "t1", Move.CLAIM, 1, to="bob")),
        (6.0, TaskMoved("bob", "t1", Move.RETURN, 1)),
        (8.0, TaskMoved("cid", "t1", Move.CLAIM, 2, to="cid")),
        (9.0, TaskMoved("cid", "t1", Move.FINISH, 2)),
        (12.0, TaskMoved("cid", "t1", Move.LAND, 2)),
    )
    assert found.waits == {"task open until claimed": Wait(2, 6.0), "task done until landed": Wait(1, 3.0)}
    assert (found.tasks_added, found.moves[Move.CLAIM], found.moves[Move.LAND]) == (1, 2, 1)


def test_only_the_end_of_a_wait_must_lie_in_the_time_asked_for() -> None:
    events = ((1.0, LeaseQueued(waiter("one", "ann"))), (4.0, LeaseGranted(lease("one", "ann"))))
    found = counted(*events, since=3.0)
    assert (found.events, found.queued, found.granted) == (1, 0, 1)
    assert found.waits == {"in line for a lease, granted": Wait(1, 3.0)}
    assert counted(*events, since=5.0).waits == {}
