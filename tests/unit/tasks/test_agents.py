"""The sessions that work on tasks: derived from claims, leases and presences, never stored."""

from tests.unit.tasks.table import TTL, Table, task

from commonhold.kernel.presence import Presence
from commonhold.tasks.agents import Agent, AgentState, agents_of
from commonhold.tasks.board import Waiting
from commonhold.tasks.commands import SettleTasks


def present(*holders: str) -> list[Presence]:
    return [Presence(holder, "/w", "", "", 0.0, 0.0) for holder in holders]


def test_a_session_with_a_claim_is_busy_and_one_without_is_idle_with_its_best_task() -> None:
    table = Table()
    table.add(task("a", "file:a.py", priority=1), task("b", "file:b.py"))
    table.claim("ann")
    assert agents_of(table.board, present("ann", "bob"), table.now) == (
        Agent("ann", AgentState.BUSY, ("a",)),
        Agent("bob", AgentState.IDLE, (), 1, "b"),
    )


def test_an_idle_session_is_offered_no_task_that_collides_or_that_it_may_not_take() -> None:
    table = Table()
    table.add(task("a", "file:a.py"), task("same", "file:a.py#f"), task("other", takers=("claude:*",)))
    table.claim("ann", "a")
    assert agents_of(table.board, present("bob"), table.now)[1] == Agent(
        "bob", AgentState.IDLE, (), 1, "", barred=(Waiting("other", "title of other", "only claude:* may take it"),)
    )


def test_a_session_that_lost_its_claim_is_gone_until_it_is_seen_again() -> None:
    table = Table()
    table.add(task("a"))
    table.claim("ann")
    table.seconds = TTL + 1
    table.run(SettleTasks("bob"))
    assert agents_of(table.board, (), table.now) == (Agent("ann", AgentState.GONE, ("a",)),)
    assert agents_of(table.board, present("ann"), table.now)[0].state is AgentState.IDLE
    table.claim("bob")
    assert [each.holder for each in agents_of(table.board, (), table.now)] == ["bob"]


def test_a_session_that_holds_a_lease_is_known() -> None:
    table = Table()
    table.lease("ann", "file:a.py")
    assert agents_of(table.board, (), table.now) == (Agent("ann", AgentState.IDLE),)
    table.seconds = TTL + 1
    assert agents_of(table.board, (), table.now) == ()
