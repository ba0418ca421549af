"""Replay: a log of real decisions comes out the same, and a changed event is found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.history.shop import Shop

from commonhold.history.replay import replay
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import (
    KIND_OF,
    CommitRefused,
    Committed,
    Event,
    LeaseBroken,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    ReleaseAsked,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkReviewed,
)
from commonhold.kernel.modes import Mode
from commonhold.kernel.run import (
    CandidateOutcome,
    EditCandidate,
    ItemMoved,
    ItemRecord,
    ItemStep,
    LockPlan,
    Role,
    RunMove,
    RunMoved,
    RunPlanned,
    RunStarted,
)
from commonhold.kernel.task import Move, Task, TaskAdded, TaskMoved
from commonhold.runs.commands import Post
from commonhold.tasks.answers import TaskAction

WAIT = 100.0


def leases(shop: Shop) -> None:
    """Grant, refuse, wait, serve, extend, ask, hand over, break and lose leases."""
    ann, ben, cid = map(shop.session, ("ann", "ben", "cid"))
    first = ann.acquire("a.py#f", "x:1", task="round to cents").lease
    ben.acquire("a.py", task="rewrite")
    ben.acquire("x:1", mode=Mode.SHARED)
    ticket = ben.acquire("a.py", patience_seconds=WAIT).ticket
    cid.acquire("x:1", patience_seconds=WAIT)
    cid.acquire("x:2", patience_seconds=WAIT)
    assert first is not None
    assert ticket is not None
    ann.ask(first.id, why="mine")
    shop.clock.advance(WAIT * 0.7)
    ben.acquire("a.py", patience_seconds=WAIT, ticket=ticket)
    shop.clock.advance(WAIT * 0.7)
    ann.release(first.id)
    served = ben.acquire("a.py", patience_seconds=WAIT, ticket=ticket).lease
    assert served is not None
    ben.renew(served.id, ttl_seconds=500)
    ben.hand_over(served.id, to="ben/helper")
    cid.break_lease(served.id, reason="its machine is gone")
    lost = ann.acquire("a.py#g", ttl_seconds=30).lease
    assert lost is not None
    shop.replace_g("ann", "def g(x):\n    return 0\n", lost)
    shop.clock.advance(60)
    ann.acquire("x:3", ttl_seconds=60)
    for work in ann.partial_works():
        ann.review(work.lease_id, note="seen")
    shop.clock.advance(45)
    ann.heartbeat()


def circle(shop: Shop) -> None:
    """Let two sessions wait for each other."""
    ann, ben = map(shop.session, ("ann", "ben"))
    one, two = ann.acquire("x:1").lease, ben.acquire("x:2").lease
    assert one is not None
    assert two is not None
    ann.acquire("x:2", patience_seconds=WAIT)
    ben.acquire("x:1", patience_seconds=WAIT)
    ben.release(two.id)
    ann.release(one.id)


def values(shop: Shop) -> None:
    """Store values, count slots, and do work once for all."""
    ann, ben = map(shop.session, ("ann", "ben"))
    ann.put("account:1", "100", expected_version=0)
    version = ann.get("account:1").version
    ann.put("account:1", "90", expected_version=version)
    for each in (ann, ben):
        each.acquire("gpu:1", slots=2)
    once = ann.acquire("report:1", once=True).lease
    assert once is not None
    ben.acquire("report:1", once=True, patience_seconds=WAIT)
    ann.release(once.id, result="done")


def tasks(shop: Shop) -> None:
    """Add, claim, return, finish, fail, cancel and reopen tasks."""
    ann, ben, person = map(shop.session, ("ann", "ben", "person"))
    person.add_tasks(Task("b", "b", needs=("a",)), Task("a", "a"), Task("", "c"))
    claimed = ann.claim_task("a", ttl_seconds=60).lease
    shop.clock.advance(3600)
    ben.tasks()
    again = ben.claim_task("a").lease
    assert claimed is not None
    assert again is not None
    ben.change_task("a", TaskAction.UNCHANGED, fence=again.fence, note="nothing to do")
    third = ann.claim_task("b").lease
    assert third is not None
    ann.change_task("b", TaskAction.FAIL, fence=third.fence, note="too hard")
    fourth = ann.claim_task("b").lease
    assert fourth is not None
    ben.change_task("b", TaskAction.CANCEL, note="not wanted")
    ben.change_task("b", TaskAction.REOPEN, note="wanted")


def commits(shop: Shop) -> None:
    """Commit with and without a lease, get refused, and undo."""
    ann, ben = map(shop.session, ("ann", "ben"))
    lease = ann.acquire("a.py#g").lease
    assert lease is not None
    shop.replace_g("ann", "def g(x):\n    return 1\n", lease)
    shop.replace_g("ben", "def g(x):\n    return 2\n")
    ann.release(lease.id)
    shop.replace_g("ben", "def g(x):\n    return 2\n")
    ben.undo("ann", apply=True)
    ben.commit(Changeset((Edit(Op.CREATE_FILE, "b.txt", text="b"),)))


def runs(shop: Shop) -> None:
    """Begin, plan, stop, resume and fail runs; their items are proposed, refused, written, given back and accepted."""
    boss, other = map(shop.session, ("boss", "other"))
    boss.add_tasks(Task("one", "1"))
    run = boss.start_run(Task("one", "1"), goal="a goal").runs[0].run
    boss.plan_run(run.id, Task("two", "2", most_attempts=1), Task("three", "3", needs=("one",)), fence=run.fence)

    def take() -> ItemRecord:
        item = boss.take_item(run.id, fence=run.fence).item
        assert item is not None
        return item.item

    def post(item: ItemRecord, step: ItemStep, **rest: Any) -> ItemRecord:
        made = boss.post(run.id, Post(item.task_id, step, item.last, Role.EDITOR, **rest), fence=run.fence).item
        assert made is not None
        return made.item

    item = post(take(), ItemStep.PROPOSE, candidate=EditCandidate(1, "{}"))
    shop.session(item.session).acquire("a.py#f", "x:1")
    item = post(item, ItemStep.REFUSE, outcome=CandidateOutcome("REGION_CHANGED", "it has changed"))
    item = post(item, ItemStep.REPLAN, locks=LockPlan(keys=("file:a.py#f",), why="others have changed it"))
    take()
    shop.clock.advance(5)
    boss.end_run(run.id, RunMove.STOP, fence=run.fence, note="Ctrl-C")
    run = other.resume_run(run.id, ttl_seconds=60).runs[0].run
    other.take_item(run.id, fence=run.fence, ttl_seconds=3000)
    shop.clock.advance(100)
    run = boss.resume_run(run.id).runs[0].run
    item = take()
    shop.session(item.session).acquire("x:2")
    written = post(item, ItemStep.WRITE, outcome=CandidateOutcome(admitted=(1,)))
    post(written, ItemStep.ACCEPT, note="its checks passed")
    post(take(), ItemStep.FAIL, note="too hard (attempt one)")
    post(take(), ItemStep.GIVE_BACK, note="not now")
    boss.end_run(run.id, RunMove.FAIL, fence=run.fence, note="some items cannot go on")
    boss.change_task("two", TaskAction.REOPEN, note="again")
    run = boss.resume_run(run.id).runs[0].run
    other.end_run(run.id, RunMove.CANCEL, note="not wanted")


STORIES = (leases, circle, values, tasks, commits, runs)


def log_of(shop: Shop, story: Callable[[Shop], None]) -> tuple[Recorded, ...]:
    story(shop)
    return shop.session("person").log(after=0, limit=1000)


@pytest.mark.parametrize("story", STORIES)
def test_a_log_comes_out_the_same(shop: Shop, story: Callable[[Shop], None]) -> None:
    log = log_of(shop, story)
    found = replay(log)
    assert found.difference is None
    assert (found.first, found.last) == (1, len(log))
    assert found.events.total() == len(log)


def test_the_decisions_of_these_kinds_are_made_again(shop: Shop) -> None:
    checked: set[type[Event]] = set()
    for story in STORIES:
        story(shop)
        shop.clock.advance(1e6)
    found = replay(shop.session("person").log(after=0, limit=1000))
    assert found.difference is None
    checked = {kind for kind, name in KIND_OF.items() if found.checked[name] == found.events[name] > 0}
    assert checked >= {LeaseQueued, LeaseReleased, LeaseRenewed, LeaseBroken, LeaseHandedOver, ReleaseAsked, WaiterSeen}
    assert checked >= {LeaseGranted, LeaseExpired, ValuePut, WorkReviewed, TaskAdded, TaskMoved, Committed}
    assert checked >= {RunStarted, RunPlanned, RunMoved, ItemMoved}
    assert found.checked["lease_denied"]
    assert not found.checked["commit_refused"]


def other(event: Event, **fields: Any) -> Event:
    return replace(event, **fields)


def other_lease(event: Event, **fields: Any) -> Event:
    assert isinstance(event, LeaseGranted)
    return replace(event, lease=replace(event.lease, **fields))


MUTANTS: tuple[tuple[Callable[[Shop], None], type[Event], Callable[[Any], Event]], ...] = (
    (leases, LeaseGranted, lambda event: other_lease(event, fence=event.lease.fence + 1)),
    (leases, LeaseGranted, lambda event: other_lease(event, is_claimed=False)),
    (leases, LeaseDenied, lambda event: other(event, conflicts=())),
    (leases, LeaseDenied, lambda event: other(event, keys=("account:7",))),
    (leases, LeaseQueued, lambda event: other(event, waiter=replace(event.waiter, keys=("account:7",)))),
    (leases, LeaseQueued, lambda event: other(event, waiter=replace(event.waiter, number=77))),
    (leases, LeaseReleased, lambda event: other(event, holder="eve")),
    (leases, LeaseReleased, lambda event: other(event, lease_id="lease-none")),
    (leases, LeaseRenewed, lambda event: other(event, holder="eve")),
    (leases, LeaseBroken, lambda event: other(event, holder="eve")),
    (leases, LeaseHandedOver, lambda event: other(event, holder="eve")),
    (leases, ReleaseAsked, lambda event: other(event, lease_id="lease-none")),
    (leases, LeaseExpired, lambda event: other(event, deadline=Deadline("boot-1", 1.0, 1.0))),
    (leases, WorkReviewed, lambda event: other(event, lease_id="lease-none")),
    (values, LeaseGranted, lambda event: other_lease(event, slot=2)),
    (tasks, TaskAdded, lambda event: other(event, task=replace(event.task, needs=("none",)))),
    (tasks, TaskMoved, lambda event: other(event, attempt=event.attempt + 1)),
    (tasks, TaskMoved, lambda event: other(event, task_id="none")),
    (runs, RunStarted, lambda event: other(event, run=replace(event.run, id="r99"))),
    (runs, RunStarted, lambda event: other(event, fence=event.fence + 1)),
    (runs, RunPlanned, lambda event: other(event, tasks=("none",))),
    (runs, RunMoved, lambda event: other(event, holder="eve")),
    (runs, RunMoved, lambda event: other(event, run_id="none")),
    (runs, ItemMoved, lambda event: other(event, round=event.round + 1)),
    (runs, ItemMoved, lambda event: other(event, holder="eve")),
    (runs, ItemMoved, lambda event: other(event, session="eve")),
    (commits, Committed, lambda event: other(event, holder="eve")),
    (commits, Committed, lambda event: other(event, leases=("lease-none",))),
)


@pytest.mark.parametrize(("story", "kind", "mutate"), MUTANTS, ids=map(str, range(len(MUTANTS))))
def test_a_changed_event_is_found(
    shop: Shop, story: Callable[[Shop], None], kind: type[Event], mutate: Callable[[Any], Event]
) -> None:
    log = log_of(shop, story)
    place = next(index for index, each in enumerate(log) if isinstance(each.event, kind))
    changed = replace(log[place], event=mutate(log[place].event))
    found = replay((*log[:place], changed, *log[place + 1 :]))
    assert found.difference is not None


@pytest.mark.parametrize("story", STORIES)
def test_every_missing_event_is_found(shop: Shop, story: Callable[[Shop], None]) -> None:
    log = log_of(shop, story)
    for place in range(len(log) - 1):
        found = replay((*log[:place], *log[place + 1 :]))
        assert found.difference is not None


def test_every_transition_of_a_task_that_another_replaces_is_found(shop: Shop) -> None:
    log = log_of(shop, tasks)
    for place, recorded in enumerate(log):
        event = recorded.event
        for move in Move:
            if isinstance(event, TaskMoved) and move is not event.move:
                changed = replace(recorded, event=replace(event, move=move))
                found = replay((*log[:place], changed, *log[place + 1 :]))
                assert found.difference is not None, (recorded, move)


def test_only_the_events_asked_for_are_checked(shop: Shop) -> None:
    log = log_of(shop, leases)
    found = replay(log, since=8)
    assert (found.first, found.events.total()) == (8, len(log) - 7)


def test_the_answer_compares_the_last_state_with_the_stored_one(shop: Shop) -> None:
    for story in STORIES:
        story(shop)
        shop.clock.advance(1e6)
    answer = shop.session("person").replay()
    assert (answer.outcome, answer.is_stored) == ("same", True)
    assert answer.leases == shop.session("person").leases()
    part = shop.session("person").replay(until=3)
    assert (part.last, part.is_stored) == (3, False)
    assert not replay((), since=3).last


def test_a_lost_place_in_line_and_a_refused_commit_are_counted_but_not_decided_again(shop: Shop) -> None:
    log = log_of(shop, commits)
    found = replay(log)
    assert found.events[KIND_OF[CommitRefused]] == 1
    assert found.checked[KIND_OF[WaiterLeft]] == 0


def test_a_commit_under_a_lease_of_another_session_is_found(shop: Shop) -> None:
    log = log_of(shop, commits)
    (place, event), *_ = [
        (index, each.event) for index, each in enumerate(log) if isinstance(each.event, Committed) and each.event.leases
    ]
    changed = replace(log[place], event=replace(event, leases=(), holder="eve"))
    found = replay((*log[:place], changed, *log[place + 1 :]))
    assert found.difference is not None
    assert "held" in found.difference.why
