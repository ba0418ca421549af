"""Commits in flight: beside each other where they have nothing to do with each other, one after the other elsewhere."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.in_memory.index import MemoryIndex
from tests.in_memory.store import MemoryStore
from tests.patience import PATIENCE_SECONDS, until

from commonhold.api.service import Service
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.turns import Turns
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.answers import CommitAnswer
from commonhold.kernel.changeset import Changeset, Edit, Op, Read
from commonhold.kernel.events import Committed, CommitUndone
from commonhold.kernel.files import Journal, Write
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.in_flight import Flight, InFlight

pytestmark = pytest.mark.slow

TEXT = "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
USER = "from a import f\n\n\ndef use():\n    return f(1)\n"


class Held:
    """A commit that stops at a step until it is let go on, or made to fail."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.is_there, self.may_go = threading.Event(), threading.Event()
        self.fault: OSError | None = None

    def __call__(self, step: str) -> None:
        if step == self.step:
            self.is_there.set()
            assert self.may_go.wait(PATIENCE_SECONDS)
            if self.fault:
                raise self.fault


class House:
    """A working tree with agents that share a process, as in the daemon."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for path in ("a.py", "b.py"):
            root.joinpath(path).write_text(TEXT)
        self.store, self.ids = MemoryStore(), CountingIds()
        self.turns = Turns(is_complete=True)
        self.index = MemoryIndex(lambda: {each.name: each.read_bytes() for each in sorted(root.iterdir())})
        self.threads = ThreadPoolExecutor(8)

    def service(self, agent: str, at_step: Callable[[str], None] = lambda _: None) -> Service:
        return Service(
            store=self.store,
            files=WorkingTree(str(self.root), at_step=at_step),
            clock=FakeClock(),
            ids=self.ids,
            agent=agent,
            surroundings=Surroundings(see=lambda: Insight(self.index), turns=self.turns),
            at_step=at_step,
        )

    def begin(self, act: Callable[..., Any], *args: object) -> "Future[Any]":
        return self.threads.submit(act, *args)

    def flight(self, agent: str, step: str, *edits: Edit) -> "tuple[Held, Future[CommitAnswer]]":
        """A commit that is at a step."""
        held = Held(step)
        made = self.begin(self.service(agent, held).commit, Changeset(edits, intent=agent))
        assert held.is_there.wait(PATIENCE_SECONDS)
        return held, made

    def edit(self, key: str, old: str, new: str) -> Edit:
        (region,) = self.service("reader").read(key)
        return Edit(Op.REPLACE, key, region.hash, (region.text or "").replace(old, new))

    def who_committed(self) -> list[str]:
        return [each.event.intent for each in self.service("reader").log() if isinstance(each.event, Committed)]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.threads.shutdown()


def is_still_waiting(future: "Future[object]") -> bool:
    """Whether it goes on to wait; a moment is enough, since a wrong answer comes at once."""
    with pytest.raises(TimeoutError):
        future.result(0.2)
    return True


@pytest.mark.parametrize("step", ["journalled", "staged a.py", "swapped a.py", "flushed beside a.py"])
def test_others_commit_to_other_files_meanwhile(house: House, step: str) -> None:
    held, first = house.flight("one", step, house.edit("a.py#f", "return x", "return 1"))
    changeset = Changeset((house.edit("b.py#f", "return x", "return 2"),), intent="two")
    assert house.service("two").commit(changeset).outcome == "committed"
    held.may_go.set()
    assert first.result().outcome == "committed"
    assert house.who_committed() == ["two", "one"]


def test_the_next_one_to_a_file_is_planned_when_it_is_written_and_recorded_after_it(house: House) -> None:
    edits = house.edit("a.py#f", "return x", "return 1"), house.edit("a.py#g", "return x", "return 2")
    held, first = house.flight("one", "flushed beside a.py", edits[0])
    second = house.begin(house.service("two").commit, Changeset((edits[1],), intent="two"))
    assert is_still_waiting(second)
    held.may_go.set()
    assert [first.result().outcome, second.result().outcome] == ["committed", "committed"]
    assert house.who_committed() == ["one", "two"]
    assert "return 1" in (house.root / "a.py").read_text()
    assert "return 2" in (house.root / "a.py").read_text()


def test_one_that_fails_is_taken_back_from_under_the_next(house: House) -> None:
    edits = house.edit("a.py#f", "return x", "return 1"), house.edit("a.py#g", "return x", "return 2")
    held, first = house.flight("one", "flushed beside a.py", edits[0])
    second = house.begin(house.service("two").commit, Changeset((edits[1],), intent="two"))
    held.fault = OSError("the disk is gone")
    held.may_go.set()
    with pytest.raises(OSError, match="gone"):
        first.result()
    assert second.result().outcome == "committed"
    assert (house.root / "a.py").read_text() == TEXT.replace("return x", "return 2").replace("return 2", "return x", 1)
    assert any(isinstance(each.event, CommitUndone) for each in house.service("reader").log())


def test_who_has_read_what_is_being_changed_is_decided_after_it(house: House) -> None:
    (house.root / "user.py").write_text(USER)
    reader = house.service("two")
    (use,) = reader.read("user.py#use")
    reader.read("a.py#f")
    held, first = house.flight("one", "journalled", house.edit("a.py#f", "return x", "return 1"))
    edit = Edit(Op.REPLACE, "user.py#use", use.hash, "def use():\n    return 3\n")
    second = house.begin(reader.commit, Changeset((edit,), intent="two"))
    assert is_still_waiting(second)
    held.may_go.set()
    assert [first.result().outcome, second.result().outcome] == ["committed", "committed"]
    assert house.who_committed() == ["one", "two"]


def test_what_a_changeset_proves_to_have_read_is_looked_at_after_it(house: House) -> None:
    (read,) = house.service("reader").read("a.py#f")
    edit = house.edit("b.py#g", "return x", "return 2")
    held, _ = house.flight("one", "journalled", house.edit("a.py#f", "return x", "return 1"))
    second = house.begin(house.service("two").commit, Changeset((edit,), reads=(Read("a.py#f", read.hash),)))
    assert is_still_waiting(second)
    held.may_go.set()
    assert second.result().outcome == "refused"


@pytest.mark.parametrize("key", ["a.py#f", "a.py", "./"])
def test_a_lease_is_granted_when_what_it_covers_is_written(house: House, key: str) -> None:
    held, first = house.flight("one", "journalled", house.edit("a.py#f", "return x", "return 1"))
    granted = house.begin(lambda: house.service("two").acquire(key, task="next"))
    assert is_still_waiting(granted)
    held.may_go.set()
    assert first.result().outcome == "committed"
    lease = granted.result().lease
    assert lease is not None
    (now,) = house.service("reader").read("a.py#f")
    assert all(base.hash == now.hash for base in lease.bases if base.key == "a.py#f")


def test_other_leases_are_granted_meanwhile(house: House) -> None:
    held, _ = house.flight("one", "journalled", house.edit("a.py#f", "return x", "return 1"))
    assert house.service("two").acquire("b.py#f", task="next").outcome == "granted"
    held.may_go.set()


def test_readers_wait_where_they_could_see_half(house: House) -> None:
    edits = [house.edit(f"{path}#f", "return x", "return 1") for path in ("a.py", "b.py")]
    held, _ = house.flight("one", "swapped a.py", *edits)
    read = house.begin(house.service("two").read, "b.py#f")
    assert is_still_waiting(read)
    held.may_go.set()
    assert "return 1" in read.result()[0].text


def test_readers_do_not_wait_for_one_file(house: House) -> None:
    held, _ = house.flight("one", "swapped a.py", house.edit("a.py#f", "return x", "return 1"))
    assert "return 1" in (house.service("two").read("a.py#f")[0].text or "")
    held.may_go.set()


def test_what_was_read_of_a_commit_that_is_taken_back_is_no_base(house: House) -> None:
    held, first = house.flight("one", "flushed beside a.py", house.edit("a.py#f", "return x", "return 1"))
    edit = house.edit("a.py#f", "return 1", "return 2")
    held.fault = OSError("the disk is gone")
    held.may_go.set()
    with pytest.raises(OSError, match="gone"):
        first.result()
    assert house.service("two").commit(Changeset((edit,))).outcome == "refused"
    assert (house.root / "a.py").read_text() == TEXT


def test_what_is_being_written_is_no_change_from_outside(house: House) -> None:
    house.service("reader").read("a.py")
    held, first = house.flight("one", "swapped a.py", house.edit("a.py#f", "return x", "return 1"))
    noticed = house.begin(lambda: house.service("watcher").record_external_changes(["a.py"]))
    assert is_still_waiting(noticed)
    held.may_go.set()
    assert first.result().outcome == "committed"
    assert noticed.result().outcome == "nothing"


def journal(number: int, *paths: str) -> Journal:
    return Journal(number, "/root", "one", "", tuple(Write(path, None, None, None, None) for path in paths))


def test_whoever_wants_to_be_alone_is_let_in_before_newcomers() -> None:
    flying, order = InFlight(), []
    entered, leave = threading.Event(), threading.Event()

    def commit(name: str) -> None:
        with flying.join():
            order.append(name)
            entered.set()
            assert leave.wait(PATIENCE_SECONDS)

    def look() -> None:
        with flying.alone(), flying.alone():
            order.append("alone")

    with ThreadPoolExecutor() as threads:
        threads.submit(commit, "first")
        assert entered.wait(PATIENCE_SECONDS)
        threads.submit(look)
        until(lambda: flying._wanting)
        threads.submit(commit, "second")
        assert order == ["first"]
        leave.set()
    assert order == ["first", "alone", "second"]


def test_who_is_stopped_while_waiting_to_be_alone_keeps_nobody_out() -> None:
    def stop(_event: threading.Event, _seconds: float) -> None:
        raise KeyboardInterrupt

    flying = InFlight(stop)
    with flying.join():
        with pytest.raises(KeyboardInterrupt), flying.alone():
            pass
        with flying.join():
            pass


def test_what_nobody_carries_out_is_left_behind() -> None:
    flying = InFlight()
    flying.add(Flight(journal(1, "a.py")))
    assert flying.left_behind([journal(1, "a.py"), journal(2, "b.py")]) == [journal(2, "b.py")]
    flying.end(1)
    flying.end(1)
    assert flying.left_behind([journal(1, "a.py")]) == [journal(1, "a.py")]
