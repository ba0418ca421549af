"""Agents that claim through one ref at once: any interleaving, pushes that are refused, answers that are lost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.clock import Now
from commonhold.kernel.errors import InputError, StoreError
from commonhold.tasks.claim_files import Board, File, board
from commonhold.tasks.claiming import (
    MOST_TRIES,
    Changed,
    Claimed,
    Claims,
    Lost,
    NothingToClaim,
    Remembered,
    Surroundings,
)
from commonhold.tasks.claims import Edit


@dataclass
class Remote:
    """A ref that is moved by compare-and-swap; `chance` decides what goes wrong and when another comes first."""

    files: dict[str, bytes]
    chance: Random = field(default_factory=lambda: Random(0))
    trouble: float = 0.0
    history: list[Edit] = field(default_factory=list)

    def read(self) -> Board:
        read = {path: File(f"{len(content)}{hash(content)}", content) for path, content in self.files.items()}
        return board(f"c{len(self.history)}", len(self.history), read)

    def push(self, board: Board, edit: Edit) -> bool:
        if self.chance.random() < self.trouble or board.commit != f"c{len(self.history)}":
            return False
        self.history.append(edit)
        self._apply(edit.files)
        return self.chance.random() >= self.trouble  # the answer may be lost

    def _apply(self, files: Mapping[str, bytes | None]) -> None:
        for path, content in files.items():
            if content is None:
                self.files.pop(path, None)
            else:
                self.files[path] = content


class Losing(Remote):
    """Every push arrives, and no answer does."""

    def push(self, board: Board, edit: Edit) -> bool:
        super().push(board, edit)
        return False


@dataclass
class Clone:
    kept: Remembered = field(default_factory=Remembered)

    def load(self) -> Remembered:
        return self.kept

    def save(self, remembered: Remembered) -> None:
        self.kept = remembered


@dataclass
class World:
    remote: Remote
    ticks: float = 0.0
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def claims(self, agent: str, clone: Clone) -> Claims:
        around = Surroundings(
            lambda: Now("boot", self.ticks, self.ticks),
            lambda prefix: f"{prefix}-{next(self.numbers)}",
            lambda _seconds: None,
            lambda: 0.5,
            str,
        )
        return Claims(self.remote, clone, around, agent)


def tasks(*names: str) -> dict[str, bytes]:
    return {f"tasks/pending/{name}.yml": b"" for name in names}


@given(st.integers(0, 10**9), st.floats(0, 0.6))
def test_no_task_has_two_holders_and_none_is_done_twice(seed: int, trouble: float) -> None:
    chance = Random(seed)
    world = World(Remote(tasks(*"abcd"), chance, trouble))
    agents = {f"agent {number}": Clone() for number in range(3)}
    for _ in range(60):
        world.ticks += chance.choice((0.0, 1.0, 40.0))
        agent = chance.choice(sorted(agents))
        mine = world.claims(agent, agents[agent])
        held = [task for task, each in agents[agent].kept.mine.items() if each.agent == agent]
        if held and chance.random() < 0.5:
            chance.choice((mine.beat, mine.release, mine.complete))(chance.choice(held))
        else:
            mine.claim(None, 60.0)

    by_task: dict[str, list[Edit]] = {}
    for edit in world.remote.history:
        by_task.setdefault(edit.lock.task, []).append(edit)
    for edits in by_task.values():
        fences = [each.lock.fence for each in edits if each.action in ("claim", "takeover")]
        assert fences == sorted(set(fences))
        assert [each.action for each in edits].count("done") <= 1
        for before, after in pairwise(edits):
            if after.action in ("beat", "release", "done"):
                assert (before.lock.claim, before.lock.fence) == (after.lock.claim, after.lock.fence)
            assert after.action != "claim" or before.action == "release"


def test_an_agent_that_lost_its_answer_owns_what_it_pushed() -> None:
    world, clone = World(Remote(tasks("a"))), Clone()
    first = world.claims("alice", clone).claim(None, 60.0)
    again = world.claims("alice", clone).claim(None, 60.0)

    assert isinstance(first, Claimed)
    assert isinstance(again, Claimed)
    assert (again.lock.claim, again.is_new) == (first.lock.claim, False)
    assert len(world.remote.history) == 1


class Late(Remote):
    """The first push is that of a process that is killed: it arrives just before the next one."""

    late: tuple[Board, Edit] | None = None
    is_killed: bool = False

    def push(self, board: Board, edit: Edit) -> bool:
        if not self.is_killed:
            self.late, self.is_killed = (board, edit), True
            raise KeyboardInterrupt
        if self.late is not None:
            late, self.late = self.late, None
            super().push(*late)
        return super().push(board, edit)


def test_a_claim_whose_process_was_killed_while_its_push_was_under_way_is_the_agents() -> None:
    world, clone = World(Late(tasks("a", "b"))), Clone()
    with pytest.raises(KeyboardInterrupt):
        world.claims("alice", clone).claim(None, 60.0)
    found = world.claims("alice", clone).claim(None, 60.0)

    assert isinstance(found, Claimed)
    (edit,) = world.remote.history
    assert (found.lock.task, found.lock.claim, found.is_new) == (edit.lock.task, edit.lock.claim, False)


def test_another_clone_with_the_same_name_is_another_agent() -> None:
    world = World(Remote(tasks("a")))
    world.claims("alice", Clone()).claim(None, 60.0)
    twin = Clone()

    assert isinstance(world.claims("alice", twin).claim(None, 60.0), NothingToClaim)
    assert isinstance(world.claims("alice", twin).complete("a"), Lost)


def test_a_late_agent_is_refused_after_its_task_was_taken_over() -> None:
    world, early, late = World(Remote(tasks("a"))), Clone(), Clone()
    first = world.claims("early", early).claim("a", 60.0)
    watching = world.claims("late", late)
    assert isinstance(watching.claim("a", 60.0), NothingToClaim)
    world.ticks += 59
    assert isinstance(watching.claim("a", 60.0), NothingToClaim)
    world.ticks += 1
    second = watching.claim("a", 60.0)

    assert isinstance(first, Claimed)
    assert isinstance(second, Claimed)
    assert (second.was, second.lock.fence > first.lock.fence) == ("early", True)
    for call in (world.claims("early", early).beat, world.claims("early", early).complete):
        lost = call("a")
        assert isinstance(lost, Lost)
        assert lost.now is not None
        assert lost.now.agent == "late"


def test_an_end_whose_answer_was_lost_counts_as_an_end() -> None:
    world, clone = World(Remote(tasks("a"))), Clone()
    world.claims("alice", clone).claim("a", 60.0)
    world.remote = Losing(world.remote.files, history=world.remote.history)

    found = world.claims("alice", clone).complete("a")

    assert isinstance(found, Changed)
    assert (found.action, clone.kept.mine) == ("done", {})


def test_a_task_that_is_not_there_is_an_error_and_pushes_that_never_come_first_end() -> None:
    world = World(Remote(tasks("a"), trouble=1.0))

    with pytest.raises(InputError, match="there is no task 'b'"):
        world.claims("alice", Clone()).claim("b", 60.0)
    with pytest.raises(StoreError, match=f"{MOST_TRIES} times in a row") as busy:
        world.claims("alice", Clone()).claim("a", 60.0)
    assert busy.value.retryable
