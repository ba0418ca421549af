"""Explanations from the log: who stood in the way, what changed meanwhile, and how it went on."""

from typing import Any

import pytest
from tests.unit.history.shop import SOURCE, Shop

from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.managed_session import ManagedSession, SessionMove, SessionMoved, SessionQueued
from commonhold.kernel.run import CandidateOutcome, EditCandidate, ItemStep, LockPlan, Role, RunMove
from commonhold.kernel.task import Task
from commonhold.runs.commands import Post


def test_a_denial_names_the_holder_its_purpose_and_the_later_grant(shop: Shop) -> None:
    lease = shop.session("ann").acquire("a.py#f", task="round to cents", ttl_seconds=600).lease
    shop.session("ben").acquire("a.py", task="rewrite")
    denied = shop.newest()
    assert denied.text == 'ben asked for an exclusive lease on file:a.py for "rewrite", and was refused.'
    assert denied.reasons == ('ann held file:a.py#f (exclusive) for "round to cents", for another 10 min at least.',)
    assert denied.code == "LOCK_CONFLICT"
    assert lease is not None
    shop.session("ann").release(lease.id)
    shop.clock.advance(60)
    shop.session("ben").acquire("a.py", task="rewrite")
    assert shop.explain(denied.sequence).steps[0].reasons[-1].startswith("It got the keys 60 s later, by event ")


def test_a_wait_names_the_lease_that_it_waited_for_and_its_end(shop: Shop) -> None:
    held = shop.session("ann").acquire("a.py#f", task="round to cents").lease
    assert held is not None
    ticket = shop.session("ben").acquire("a.py#f", patience_seconds=600).ticket
    queued = shop.newest()
    assert queued.text == "ben began to wait for file:a.py#f."
    assert queued.reasons == (f'ann held file:a.py#f for "round to cents" by the lease {held.id} (event 1).',)
    shop.clock.advance(90)
    shop.session("ann").release(held.id)
    account = shop.explain(ticket)
    assert (account.subject, [each.kind for each in account.steps]) == ("lease", ["lease_queued", "lease_granted"])
    assert account.steps[1].reasons == (
        "It had waited since event 2, for 2 min.",
        f"The lease {held.id} of ann ended (event 3).",
    )


def test_a_refused_commit_names_the_change_that_was_made_meanwhile(shop: Shop) -> None:
    base = shop.session("ann").read("a.py#f")[0].hash
    shop.replace("ann", base, "def f(x):\n    return 1\n", "ones")
    shop.replace("ben", base, "def f(x):\n    return 2\n", "twos")
    refused = shop.newest()
    assert refused.text == 'ben tried to change a.py#f for "twos", and was refused.'
    assert refused.code == "REGION_CHANGED"
    assert 'ann (event 1) for "ones" had changed it.' in refused.reasons
    now = shop.session("ben").read("a.py#f")[0].hash
    shop.replace("ben", now, "def f(x):\n    return 2\n")
    last = shop.explain(refused.sequence).steps[0].reasons[-1]
    assert last == "It changed the same place less than 1 s later, by event 3."


def test_a_commit_refused_for_a_lease_names_its_grant(shop: Shop) -> None:
    base = shop.session("ann").read("a.py#f")[0].hash
    shop.session("ann").acquire("a.py#f")
    shop.replace("ben", base, "def f(x):\n    return 2\n")
    assert shop.newest().reasons[-1] == "ann had got its lease by event 1."


def test_a_merge_names_the_commit_that_it_was_merged_with(shop: Shop) -> None:
    base = shop.session("ann").read("a.py")[0].hash
    for name, old, new in (("ann", "return x\n", "return -x\n"), ("ben", "x + 1", "x + 2")):
        edit = Edit(Op.REWRITE, "a.py", base, SOURCE.replace(old, new))
        assert shop.session(name).commit(Changeset((edit,))).outcome != "refused"
    (reason,) = shop.newest().reasons
    assert reason.startswith("file:a.py was changed by ann (event 1)")


def test_an_undone_commit_says_so(shop: Shop) -> None:
    base = shop.session("ann").read("a.py#f")[0].hash
    shop.replace("ann", base, "def f(x):\n    return 1\n")
    shop.session("ben").undo("1", apply=True)
    assert shop.newest().text == "ben took back event 1, which changed file:a.py#f."
    assert shop.explain(1).steps[0].reasons == ('ben (event 2) for "undo 1 by ann" took it back.',)


def test_a_region_has_the_events_about_it_and_about_its_containers(shop: Shop) -> None:
    shop.session("ann").acquire("a.py#g")
    shop.session("ann").acquire("a.py#f")
    shop.session("ben").acquire("a.py")
    account = shop.explain("a.py#f")
    assert (account.subject, account.name) == ("region", "file:a.py#f")
    assert [each.kind for each in account.steps] == ["lease_granted", "lease_denied"]
    assert account.next is not None
    assert account.next.arguments == {"what": "LOCK_CONFLICT"}
    assert shop.explain("b.py").steps == ()


def test_a_region_has_no_changes_of_its_neighbours(shop: Shop) -> None:
    base = shop.session("ann").read("a.py#f")[0].hash
    shop.replace("ann", base, "def f(x):\n    return 1\n")
    shop.replace_g("ben", "def g(x):\n    return 2\n")
    shop.replace("cid", base, "def f(x):\n    return 3\n")
    assert [each.sequence for each in shop.explain("a.py#f").steps] == [1, 3]
    assert [each.sequence for each in shop.explain("a.py#g").steps] == [2]
    assert [each.sequence for each in shop.explain("a.py").steps] == [1, 2, 3]
    assert shop.explain("a.py#h").steps == ()
    assert [each for each in shop.newest().reasons if each.endswith("had changed it.")] == [
        "ann (event 1) had changed it."
    ]


def test_a_managed_session_has_its_transitions(shop: Shop) -> None:
    shop.session("here").acquire("session:s1")
    session = ManagedSession("s1", "Round prices", "claude", "0" * 40, "/w", "here")
    moves = [SessionMoved("here", "s1", move, 1) for move in (SessionMove.CLAIM, SessionMove.FINISH)]
    approved = SessionMoved("person", "s1", SessionMove.APPROVE, 1)
    with shop.store.write() as writer:
        writer.record([SessionQueued("person", session), *moves, approved], 0.0)
    shop.session("here").acquire("session:s2")
    account = shop.explain("session:s1")
    assert (account.subject, account.name) == ("session", "s1")
    assert [each.sequence for each in account.steps] == [2, 3, 4, 5]
    assert account.steps[-1].text == "person approved the session s1 (attempt 1)."


def test_a_task_has_its_transitions_and_the_commits_of_its_attempts(shop: Shop) -> None:
    shop.session("person").add_tasks(Task("price", "the price"))
    shop.session("ann").claim_task("price", ttl_seconds=60)
    base = shop.session("ann").read("a.py#f")[0].hash
    shop.replace("ann", base, "def f(x):\n    return 1\n")
    shop.replace("ben", base, "def f(x):\n    return 2\n")
    shop.clock.advance(3600)
    shop.session("ben").tasks()
    account = shop.explain("task:price")
    assert [each.kind for each in account.steps] == ["task_added", "task_moved", "committed", "task_moved"]
    assert account.steps[1].reasons[0].startswith("It holds the task by the lease lease-1 with the fence ")
    assert account.steps[3].reasons[0].startswith("The note says ")
    assert account.steps[3].text.endswith("returned the task price to the queue (attempt 1).")
    assert shop.explain("price") == account


def test_a_deadlock_is_told(shop: Shop) -> None:
    shop.session("ann").acquire("x:1")
    shop.session("ben").acquire("x:2")
    shop.session("ann").acquire("x:2", patience_seconds=600)
    shop.session("ben").acquire("x:1", patience_seconds=600)
    codes = {each.kind: each.code for each in shop.explain("x:1").steps}
    assert codes["lease_denied"] == "LOCK_CONFLICT"


def test_only_the_newest_steps_are_told(shop: Shop) -> None:
    for _ in range(60):
        lease = shop.session("ann").acquire("x:1").lease
        assert lease is not None
        shop.session("ann").release(lease.id)
    account = shop.explain("x:1")
    assert (len(account.steps), account.left_out) == (50, 70)


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("0", Code.EVENT_UNKNOWN),
        ("999", Code.EVENT_UNKNOWN),
        ("99999999999999999999999", Code.EVENT_UNKNOWN),
        ("lease-none", Code.EVENT_UNKNOWN),
        ("task:none", Code.TASK_UNKNOWN),
        ("../x", Code.PATH_OUTSIDE),
    ],
)
def test_what_the_log_does_not_know_is_an_error(shop: Shop, what: str, code: Code) -> None:
    with pytest.raises(InputError) as caught:
        shop.explain(what)
    assert caught.value.code is code


def test_a_run_has_its_transitions_and_the_steps_of_its_items(shop: Shop) -> None:
    boss = shop.session("boss")
    run = boss.start_run(Task("price", "price"), goal="round to cents").runs[0].run
    boss.take_item(run.id, fence=run.fence)
    boss.end_run(run.id, RunMove.STOP, fence=run.fence, note="Ctrl-C")
    account = shop.explain(f"run:{run.id}")
    assert (account.subject, account.name) == ("run", run.id)
    assert [each.text for each in account.steps] == [
        f'boss began the run {run.id} for "round to cents".',
        f"boss added 1 item to the run {run.id}: price.",
        f"boss gave price to editor:{run.id}.price (run {run.id}, round 1).",
        f"boss gave price back, and the attempt does not count (run {run.id}, round 1).",
        f"boss stopped the run {run.id}.",
    ]
    assert account.steps[-1].reasons == ('The note says "Ctrl-C".',)
    of_task = shop.explain("task:price")
    assert [each.kind for each in of_task.steps].count("item_moved") == 2
    assert f"editor:{run.id}.price gave the task price back" in " ".join(each.text for each in of_task.steps)


def test_a_text_that_is_both_note_and_reason_is_told_once(shop: Shop) -> None:
    boss = shop.session("boss")
    run = boss.start_run(Task("price", "price")).runs[0].run
    taken = boss.take_item(run.id, fence=run.fence).item
    assert taken is not None
    item, steps = taken.item, (ItemStep.PROPOSE, ItemStep.REFUSE, ItemStep.REPLAN)
    parts: list[dict[str, Any]] = [
        {"candidate": EditCandidate(1, "{}")},
        {"outcome": CandidateOutcome("REGION_CHANGED", "it has changed"), "note": "it has changed"},
        {"locks": LockPlan(why="others are at it"), "note": "others are at it"},
    ]
    for step, part in zip(steps, parts, strict=True):
        made = boss.post(run.id, Post("price", step, item.last, Role.EDITOR, **part), fence=run.fence).item
        assert made is not None
        item = made.item
    assert [each.reasons for each in shop.explain(f"run:{run.id}").steps[-2:]] == [
        ("The refusal was REGION_CHANGED: it has changed.",),
        ("Its lock plan is optimistic: others are at it.",),
    ]
