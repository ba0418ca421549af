"""The overview: agents with true states, the line, what waits for a person, and conflicts."""

from dataclasses import replace

from tests.unit.history.shop import Shop

from commonhold.kernel.entry import Entry, EntryRecord, EntryState, Fault, RepairPacket
from commonhold.kernel.managed_session import ManagedSession, ManagedSessionRecord, SessionAttempt, SessionState
from commonhold.kernel.run import RunMove
from commonhold.kernel.task import Task
from commonhold.tasks.answers import TaskAction
from commonhold.views.overview import SILENT_SECONDS, AgentRow, AgentState, Meeting, Overview, Source, Work, overview

NOTHING = "0" * 64


def look(shop: Shop) -> Overview:
    return shop.session("person").overview()


def row(shop: Shop, holder: str) -> AgentRow:
    return next(each for each in look(shop).agents if each.holder == holder)


def test_nothing_is_there_at_first(shop: Shop) -> None:
    found = look(shop)
    assert replace(found, root="", at=0.0) == Overview("", 0.0, 0)


def test_a_state_says_where_it_is_known_from_and_since_when(shop: Shop) -> None:
    ann, ben = shop.session("ann"), shop.session("ben")
    began = shop.clock.now().wall
    ann.start_session("process")
    ann.set_intent("a discount")
    ann.acquire("a.py#f", task="percent")
    shop.clock.advance(10)
    ben.acquire("a.py#f", task="round", patience_seconds=60)
    working = row(shop, "ann")
    assert (working.state, working.source, working.since) == (AgentState.WORKING, Source.HOOKS, began)
    assert working.intent == "a discount"
    assert [(each.keys, each.purpose, each.is_writing) for each in working.holds] == [
        (("file:a.py#f",), "percent", False)
    ]
    waiting = row(shop, "ben")
    assert (waiting.state, waiting.source, waiting.since) == (AgentState.WAITING, Source.LINE, began + 10)
    assert [each.behind for each in waiting.waits] == [("ann",)]
    assert look(shop).queue == waiting.waits
    assert look(shop).agents[0] == waiting, "those that wait come first"


def test_finished_a_turn_is_apart_from_silent(shop: Shop) -> None:
    ann, ben = shop.session("ann"), shop.session("ben")
    for each in (ann, ben):
        each.start_session("process")
        each.set_intent("x")
    ann.end_turn()
    shop.clock.advance(SILENT_SECONDS + 1)
    assert [(each.holder, each.state) for each in look(shop).agents] == [
        ("ann", AgentState.FINISHED),
        ("ben", AgentState.SILENT),
    ]
    assert row(shop, "ben").since == row(shop, "ben").seen_at


def test_a_session_without_hooks_is_known_by_its_lease(shop: Shop) -> None:
    shop.session("ann").acquire("a.py#f", task="percent")
    found = row(shop, "ann")
    assert (found.state, found.source, found.intent) == (AgentState.WORKING, Source.LEASE, "percent")


def test_conflicts_are_in_words_and_the_newest_comes_first(shop: Shop) -> None:
    shop.session("ann").acquire("a.py#f", task="percent")
    shop.session("ben").acquire("a.py", task="<script>")
    shop.replace("ann", NOTHING, "def f(x):\n    return 2\n", intent="two")
    refused, denied = look(shop).incidents
    assert (denied.kind, denied.holder, denied.code) == ("lease_denied", "ben", "LOCK_CONFLICT")
    assert denied.keys == ("file:a.py",)
    assert '"<script>"' in denied.text
    assert (refused.kind, refused.code) == ("commit_refused", "REGION_CHANGED")


def test_a_refusal_needs_a_person_once_its_session_has_given_up(shop: Shop) -> None:
    ann = shop.session("ann")
    ann.start_session("process")
    ann.set_intent("two")
    shop.replace("ann", NOTHING, "def f(x):\n    return 2\n", intent="two")
    assert look(shop).needs == ()
    ann.end_turn()
    (need,) = look(shop).needs
    assert (need.subject, need.holder, need.title) == ("commit_refused", "ann", "two")
    assert [ann.content(each) for each in need.contents] == [b"def f(x):\n    return 2\n"]
    shop.replace("ann", ann.read("a.py#f")[0].hash, "def f(x):\n    return 2\n", intent="two")
    assert look(shop).needs == ()


def test_unfinished_work_and_failed_tasks_need_a_person(shop: Shop) -> None:
    ann = shop.session("ann")
    ann.acquire("a.py#f", task="percent", ttl_seconds=5)
    (shop.folder / "a.py").write_text("def f(x):\n    return 3\n", encoding="utf-8")
    ann.add_tasks(Task("t", "title", most_attempts=1))
    claim = ann.claim_task("t")
    assert claim.lease
    ann.change_task("t", TaskAction.FAIL, fence=claim.lease.fence, note="no network")
    shop.clock.advance(10)
    shop.session("person").sweep()
    found = look(shop)
    assert {each.subject: (each.title, each.since) for each in found.needs} == {
        "partial_work": ("percent", found.at),
        "task_failed": ("title", found.at - 10),
    }
    assert found.tasks is not None
    assert found.tasks["failed"] == 1


def test_proposed_tasks_need_a_person(shop: Shop) -> None:
    ann, ben = shop.session("ann"), shop.session("ben")
    ann.propose_tasks(Task("t", "title", "why"), Task("u", "other"))
    assert [(each.subject, each.id, each.holder, each.why) for each in look(shop).needs] == [
        ("task_proposed", "t", "ann", "why"),
        ("task_proposed", "u", "ann", "it waits to be accepted"),
    ]
    ben.change_task("t", TaskAction.ACCEPT)
    ben.change_task("u", TaskAction.DECLINE, note="no")
    assert look(shop).needs == ()


def test_a_supervisor_stands_for_its_agent_until_that_is_known(shop: Shop) -> None:
    session = ManagedSession("s1", "Round prices\nto cents", "claude", "0" * 40, "/w", "here")
    work = Work(sessions=(ManagedSessionRecord(session, 1, "ann", 5.0, 6.0, SessionState.RUNNING),))
    shop.session("supervisor:s1").acquire("session:s1", task="supervises s1")

    def rows() -> list[tuple[str, str, Source]]:
        found = overview(shop.session("person").status(), work, (), shop.clock.now())
        return [(each.holder, each.task, each.source) for each in found.agents]

    assert rows() == [("claude:s1", "Round prices", Source.LEASE)]
    shop.session("claude:s1").start_session("process")
    assert rows() == [("claude:s1", "Round prices", Source.HOOKS)]


def test_sessions_that_wait_for_review_need_a_person(shop: Shop) -> None:
    session = ManagedSession("s1", "Round prices\nto cents", "claude", "0" * 40, "/w", "here")
    waiting = ManagedSessionRecord(session, 1, "ann", 5.0, 6.0, SessionState.AWAITING_REVIEW, note="the agent ended")
    running = replace(waiting, session=replace(session, id="s2"), state=SessionState.RUNNING)
    found = overview(shop.session("person").status(), Work(sessions=(waiting, running)), (), shop.clock.now())
    (need,) = found.needs
    assert (need.subject, need.id, need.holder, need.title, need.since) == (
        "session_review",
        "s1",
        "ann",
        "Round prices",
        6.0,
    )
    assert need.why == "the agent ended; look at its work: commonhold session review s1"
    elsewhere = replace(session, place="", remote="origin")
    moved = replace(waiting, session=elsewhere, attempts=(SessionAttempt(1, 5.0, place="build7:/state"),))
    (need,) = overview(shop.session("person").status(), Work(sessions=(moved,)), (), shop.clock.now()).needs
    assert need.why == "the agent ended on build7; look at its work: commonhold session review s1"


def test_entries_that_the_queue_returned_need_a_person_for_a_day(shop: Shop) -> None:
    now = shop.clock.now()
    packet = RepairPacket(Fault.MERGE_CONFLICT, "it cannot be merged", "1" * 40)
    entry = Entry("e7", "feature", "0" * 40, "refs/heads/main", "Round prices")
    why = "it cannot be merged"
    returned = EntryRecord(entry, 7, 9, "ann", 5.0, now.wall - 60, EntryState.RETURNED, why, packet=packet)
    others = (
        replace(returned, entry=replace(entry, id="e1", branch="removed"), packet=None),
        replace(returned, entry=replace(entry, id="e2", branch="of a task", task="price")),
        replace(returned, entry=replace(entry, id="e3", branch="old"), since=now.wall - 90_000),
        replace(returned, entry=replace(entry, id="e4", branch="again")),
        replace(returned, entry=replace(entry, id="e5", branch="again"), state=EntryState.QUEUED, packet=None),
    )
    found = overview(shop.session("person").status(), Work(newest_entries=(*others, returned)), (), now)
    (need,) = found.needs
    assert (need.subject, need.id, need.holder, need.title) == ("entry_returned", "e7", "ann", "Round prices")
    assert need.why == "it cannot be merged; see its repair packet: commonhold queue show e7"


def test_sessions_meet_where_they_hold_or_have_changed_one_file(shop: Shop) -> None:
    shop.replace_g("ann", "def g(x):\n    return 9\n")
    shop.session("ann").acquire("b.py#f")
    shop.session("ben").acquire("a.py#f")
    assert look(shop).meetings == (Meeting("a.py", ("ann", "ben"), is_held=True),)
    shop.clock.advance(3600)
    assert look(shop).meetings == ()


def test_a_run_that_failed_needs_a_person(shop: Shop) -> None:
    ann = shop.session("ann")
    began = ann.start_run(Task("t", "title"), goal="discounts")
    (run,) = began.runs
    ann.end_run(run.run.id, RunMove.FAIL, fence=run.run.fence, note="no editor")
    (need,) = look(shop).needs
    assert (need.subject, need.id, need.title) == ("run_failed", run.run.id, "discounts")
    assert "no editor" in need.why


def test_a_refusal_in_a_run_is_the_runs_own_matter(shop: Shop) -> None:
    ann = shop.session("ann")
    run = ann.start_run(Task("t", "title")).runs[0].run
    taken = ann.take_item(run.id, fence=run.fence).item
    assert taken is not None
    shop.replace(taken.item.session, NOTHING, "def f(x):\n    return 2\n")
    ann.end_run(run.id, RunMove.CANCEL, note="not needed")
    assert look(shop).needs == ()
