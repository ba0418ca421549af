"""The choice of the best task."""

from tests.unit.tasks.table import TTL, Table, kind, task

from commonhold.kernel.commands import Acquire
from commonhold.kernel.keys import canonical
from commonhold.kernel.modes import Mode
from commonhold.kernel.refusals import Refusal
from commonhold.tasks.board import Collision
from commonhold.tasks.commands import Collisions, FailTask, NoTask, TaskClaimed
from commonhold.tasks.offers import AGEING_SECONDS, offers


def order(table: Table, holder: str = "one") -> list[str]:
    return [each.record.id for each in offers(table.board, holder, table.now)]


def test_the_oldest_of_equal_tasks_comes_first() -> None:
    table = Table()
    table.add(task("b"), task("a"), task("c"))
    assert order(table) == ["b", "a", "c"]


def test_a_higher_priority_comes_first() -> None:
    table = Table()
    table.add(task("low", priority=-1), task("normal"), task("high", priority=2))
    assert order(table) == ["high", "normal", "low"]


def test_waiting_raises_the_priority_so_that_no_task_starves() -> None:
    table = Table()
    table.add(task("old", estimate_seconds=1.0))
    table.seconds += 2 * AGEING_SECONDS
    table.add(task("new", priority=1))
    assert order(table) == ["old", "new"]
    table.add(task("newest", priority=3))
    assert order(table) == ["newest", "old", "new"]


def test_the_task_with_the_longest_chain_comes_first_then_the_largest() -> None:
    table = Table()
    table.add(
        task("small", estimate_seconds=10.0),
        task("large", estimate_seconds=50.0),
        task("first", estimate_seconds=10.0),
        task("after", needs=("first",), estimate_seconds=40.0),
    )
    assert order(table) == ["large", "first", "small"]


def test_a_task_that_must_begin_now_goes_before_all_priorities() -> None:
    table = Table(seconds=1_000.0)
    table.add(
        task("urgent", priority=9),
        task("due", deadline_at=1_500.0, estimate_seconds=600.0),
        task("later", deadline_at=9_000.0, estimate_seconds=600.0),
    )
    assert order(table) == ["due", "urgent", "later"]


def test_a_task_that_collides_with_running_work_is_the_last_resort() -> None:
    table = Table()
    table.add(task("f", "file:a.py#f", priority=2), task("file", "file:a.py", priority=1), task("other", "file:b.py"))
    assert table.claim("one").id == "f"
    assert order(table, "two") == ["other", "file"]
    assert table.claim("two").id == "other"
    claimed = kind(TaskClaimed, table.ask("three"))
    assert claimed.record.id == "file"
    assert claimed.collisions == (Collision("file:a.py", "file:a.py#f", "one", "title of f", TTL, "f"),)


def test_a_caller_can_refuse_tasks_that_collide() -> None:
    table = Table()
    table.add(task("f", "file:a.py#f"), task("file", "file:a.py"))
    table.claim("one")
    refused = kind(NoTask, table.ask("two", collisions=Collisions.NEVER))
    assert [(each.task_id, each.why) for each in refused.waiting] == [
        ("file", "its keys are in use"),
        ("f", "it is claimed by one (attempt 1)"),
    ]
    named = kind(NoTask, table.ask("two", "file", collisions=Collisions.NEVER))
    assert (named.code, named.collisions[0].task_id) == (Refusal.LOCK_CONFLICT, "f")


def test_leased_keys_come_after_keys_of_running_tasks() -> None:
    table = Table()
    table.add(task("leased", "file:b.py", priority=5), task("f", "file:a.py#f"), task("file", "file:a.py"))
    table.claim("one", "f")
    lease = table.lease("editor", "file:b.py")
    assert order(table, "two") == ["file", "leased"]
    (collision,) = offers(table.board, "two", table.now)[1].collisions
    assert (collision.holder, collision.task_id, collision.doing) == ("editor", "", "by hand")
    assert lease in table.state.leases
    table.seconds += TTL
    table.run(FailTask("one", "f", table.state.tasks["f"].fence, "x"))
    assert order(table, "two") == ["leased", "f", "file"]


def test_own_leases_and_own_tasks_are_no_collisions() -> None:
    table = Table()
    table.add(task("f", "file:a.py#f"), task("file", "file:a.py"))
    table.claim("one")
    table.lease("one", "file:a.py")
    assert [each.collisions for each in offers(table.board, "one", table.now)] == [()]


def test_a_session_gets_a_task_that_it_failed_at_after_all_others() -> None:
    table = Table()
    table.add(task("hard", priority=5), task("easy"))
    failed = table.claim("one")
    table.run(FailTask("one", "hard", failed.fence, "could not"))
    assert (order(table, "one"), order(table, "two")) == (["easy", "hard"], ["hard", "easy"])


def test_only_sessions_that_may_take_a_task_are_offered_it() -> None:
    table = Table()
    table.add(task("theirs", takers=("claude:*",)), task("everyone"))
    assert order(table, "claude:1") == ["theirs", "everyone"]
    assert order(table, "codex:1") == ["everyone"]
    assert kind(NoTask, table.ask("codex:1", "theirs")).code is Refusal.TASK_NOT_YOURS


def test_labels_choose_among_tasks() -> None:
    table = Table()
    table.add(task("both", labels=("python", "docs")), task("one", labels=("python",)))
    found = offers(table.board, "x", table.now, labels=("docs", "python"))
    assert [each.record.id for each in found] == ["both"]
    assert kind(NoTask, table.ask("x", "one", labels=("docs",))).code is Refusal.TASK_NOT_YOURS


def test_a_task_whose_own_key_is_leased_or_waited_for_is_not_offered() -> None:
    table = Table()
    table.add(task("a"), task("b"))
    lease = table.lease("one", "task:a")
    assert order(table, "two") == ["b"]
    assert kind(NoTask, table.ask("two", "a")).code is Refusal.TASK_TAKEN
    assert order(table, "one") == ["a", "b"]
    wish = Acquire("w", "w", "two", "", (canonical("task:a"),), Mode.EXCLUSIVE, TTL, patience_seconds=50.0)
    table.lease_command(wish)
    assert lease in table.state.leases
    assert order(table, "one") == ["b"]
