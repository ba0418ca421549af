"""Turns: first come, first served, in every queue at once, and for a limited time."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.patience import PATIENCE_SECONDS, until

from commonhold.commits.turns import TURN_SECONDS, Ticket, TurnQueues, Turns

NAMES = st.sets(st.sampled_from("abcd"), min_size=1)


def test_who_came_first_has_the_turn_and_the_next_follows() -> None:
    queues = TurnQueues()
    first, second, third = (queues.join(["a"]) for _ in range(3))
    assert [queues.begin(each, 0.0) for each in (third, second, first)] == [False, False, True]
    queues.leave(first)
    assert second.is_called.is_set()
    assert [queues.begin(each, 0.0) for each in (third, second)] == [False, True]


def test_other_names_are_independent() -> None:
    queues = TurnQueues()
    assert queues.begin(queues.join(["a"]), 0.0)
    assert queues.begin(queues.join(["b"]), 0.0)


def test_who_wants_two_names_waits_for_both_and_holds_up_those_behind() -> None:
    queues = TurnQueues()
    first, both, behind = queues.join(["a"]), queues.join(["a", "b"]), queues.join(["b"])
    assert queues.begin(first, 0.0)
    assert not queues.begin(both, 0.0)
    assert not queues.begin(behind, 0.0)
    queues.leave(first)
    assert queues.begin(both, 0.0)
    assert not queues.begin(behind, 0.0)


def test_a_turn_that_lasts_too_long_ends_for_those_who_wait() -> None:
    queues = TurnQueues()
    slow, next_one = queues.join(["a"]), queues.join(["a"])
    assert queues.begin(slow, 0.0)
    assert not queues.begin(next_one, TURN_SECONDS - 0.1)
    assert queues.has_turn(slow)
    assert queues.begin(next_one, TURN_SECONDS)
    assert not queues.has_turn(slow)
    queues.leave(slow)
    assert queues.has_turn(next_one)


def test_who_comes_back_has_a_longer_turn_behind_all_others() -> None:
    queues = TurnQueues()
    slow, waiting = queues.join(["a"]), queues.join(["a"])
    assert queues.begin(slow, 0.0)
    assert queues.begin(waiting, TURN_SECONDS)
    queues.join_again(slow)
    assert not queues.has_turn(slow)
    assert not queues.begin(slow, TURN_SECONDS)
    queues.leave(waiting)
    assert queues.begin(slow, TURN_SECONDS)
    after = queues.join(["a"])
    assert not queues.begin(after, 3 * TURN_SECONDS - 0.1)
    assert queues.begin(after, 3 * TURN_SECONDS)


def test_the_time_of_a_turn_stands_still_while_another_is_waited_for_within_it() -> None:
    queues = TurnQueues()
    inner, outer, behind = queues.join(["all"]), queues.join(["a"]), queues.join(["a"])
    assert queues.begin(inner, 0.0)
    assert queues.begin(outer, 0.0)
    within = queues.join(["all"], outer)
    assert not queues.begin(within, TURN_SECONDS - 0.1)
    assert not queues.begin(behind, 5 * TURN_SECONDS)
    queues.leave(inner)
    assert queues.begin(within, 5 * TURN_SECONDS)
    assert not queues.begin(behind, 6 * TURN_SECONDS - 0.1)
    assert queues.begin(behind, 6 * TURN_SECONDS)


def test_who_is_too_slow_within_two_turns_loses_both() -> None:
    queues = TurnQueues()
    outer = queues.join(["a"])
    assert queues.begin(outer, 0.0)
    within, next_one = queues.join(["all"], outer), queues.join(["all"])
    assert queues.begin(within, 0.0)
    assert queues.begin(next_one, TURN_SECONDS)
    assert not queues.has_turn(within)
    assert not queues.has_turn(outer)


class Crowd:
    """Tickets that come, begin and go, as they are told."""

    def __init__(self) -> None:
        self.queues = TurnQueues()
        self.waiting: list[Ticket] = []
        self.begun: list[Ticket] = []

    def come(self, names: set[str]) -> None:
        self.waiting.append(self.queues.join(names))

    def begin_all(self) -> None:
        for ticket in list(self.waiting):
            stands_behind = any(set(ticket.names) & set(each.names) for each in self._before(ticket))
            assert self.queues.begin(ticket, 0.0) is not stands_behind
            if not stands_behind:
                self.waiting.remove(ticket)
                self.begun.append(ticket)

    def _before(self, ticket: Ticket) -> list[Ticket]:
        return [*self.begun, *self.waiting[: self.waiting.index(ticket)]]

    def go(self, index: int) -> None:
        if self.begun:
            self.queues.leave(self.begun.pop(index % len(self.begun)))


@given(st.lists(NAMES | st.integers(0, 9), max_size=30))
def test_nobody_is_overtaken_and_everybody_gets_a_turn(deeds: list[set[str] | int]) -> None:
    crowd = Crowd()
    for deed in deeds:
        if isinstance(deed, int):
            crowd.go(deed)
        else:
            crowd.come(deed)
        crowd.begin_all()
        held = [name for ticket in crowd.begun for name in ticket.names]
        assert len(held) == len(set(held))
    for _ in range(len(crowd.waiting) + len(crowd.begun)):
        crowd.go(0)
        crowd.begin_all()
    assert not crowd.waiting


@contextmanager
def beside(turns: Turns, *names: str) -> Iterator[threading.Event]:
    """A thread that asks for a turn; the event says that it has it."""
    has_it = threading.Event()

    def run() -> None:
        with turns.take(*names):
            has_it.set()

    thread = threading.Thread(target=run)
    thread.start()
    yield has_it
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()


def test_threads_wait_for_each_other() -> None:
    turns = Turns()
    with turns.take("a") as mine, beside(turns, "a") as has_it:
        assert not has_it.is_set()
        turns._queues.leave(mine)  # the end of the block, before that of the thread
        assert has_it.wait(PATIENCE_SECONDS)


def test_a_turn_that_has_ended_is_waited_for_again() -> None:
    turns = Turns()
    with turns.take("a") as mine:
        turns.regain(mine)
        turns._queues.leave(mine)
        with turns.take("a"), ThreadPoolExecutor(1) as pool:
            assert not turns.has_turn(mine)
            regained = pool.submit(turns.regain, mine)
            until(lambda: mine in turns._queues._queues["a"])
            assert not turns.has_turn(mine)
            turns._queues.leave(turns._queues._queues["a"][0])
            regained.result(PATIENCE_SECONDS)
        assert turns.has_turn(mine)


def test_who_fails_in_its_turn_leaves_it() -> None:
    turns = Turns()
    with pytest.raises(ValueError, match="no"), turns.take("a"):
        raise ValueError("no")
    with turns.take("a"):
        pass


def test_who_is_interrupted_while_waiting_leaves_the_line() -> None:
    ticks = iter([0.0])

    def clock() -> float:
        for tick in ticks:
            return tick
        raise KeyboardInterrupt

    turns = Turns(clock)
    with turns.take("a"):
        with pytest.raises(KeyboardInterrupt), turns.take("a"):
            raise AssertionError("nobody has two turns")
        assert len(turns._queues._queues["a"]) == 1


def test_a_forked_child_waits_for_no_thread_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns()
    with turns.take("a"):
        monkeypatch.setattr("os.getpid", lambda: -1)
        with turns.take("a"):
            pass


def test_linked_commits_are_counted_by_working_tree() -> None:
    turns = Turns()
    turns.add_linked("/a")
    turns.add_linked("/a")
    assert (turns.linked("/a"), turns.linked("/b")) == (2, 0)
