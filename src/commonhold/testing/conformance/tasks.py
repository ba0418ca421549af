"""The requirements for every store of tasks, as tests that pytest collects from a class of yours.

class TestMyStore(TaskConformance):
    @pytest.fixture
    def rig(self):
        yield MyRig()  # see TaskRig: an empty namespace, and a way to move its clock
"""
# ruff: noqa: S101, D102, PLR2004 - these are tests: assert is how pytest speaks, and the test's name is its claim

from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, Final, Protocol

from commonhold.kernel.errors import InputError
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.projection import fold
from commonhold.kernel.task import Result, Task, TaskRecord, TaskState
from commonhold.tasks.commands import (
    AcceptTask,
    AddTasks,
    CancelTask,
    ClaimTask,
    DeclineTask,
    FailTask,
    FinishTask,
    LandTask,
    NoTask,
    RefuseTask,
    ReopenTask,
    SettleTasks,
    StrandTask,
    TaskChanged,
    TaskClaimed,
    TaskOutcome,
    TaskRefused,
    TasksAdded,
    TasksSettled,
)
from commonhold.tasks.queue import TaskQueue
from commonhold.testing.conformance.rig import TTL, expect, whole_log

COMMIT: Final = "c" * 40
_numbers: Final = count(1)


class TaskRig(Protocol):
    """A namespace of tasks that is empty when a test begins."""

    def queue(self) -> TaskQueue:
        """Return a fresh client of the namespace, as another process would have."""
        ...

    def advance(self, seconds: float) -> None:
        """Let this time pass on the store's clock. Between two calls it may go on by itself, by a few seconds."""
        ...


class Worker:
    """A session with a client of its own. Values that do not matter to a test have defaults."""

    def __init__(self, queue: TaskQueue, name: str) -> None:
        """Send commands for the session `name`."""
        self.queue = queue
        self.name = name

    def add(self, *tasks: Task) -> tuple[TaskRecord, ...]:
        """Add tasks, and return their records."""
        return expect(TasksAdded, self.queue.execute(AddTasks(self.name, tasks))).records

    def ask(self, wanted: str | None = None, **rest: Any) -> TaskOutcome:  # noqa: ANN401 - as ClaimTask takes it
        """Ask for a task."""
        return self.queue.execute(ClaimTask(self.name, f"claim-{next(_numbers)}", TTL, wanted, **rest))

    def claim(self, wanted: str | None = None, **rest: Any) -> TaskClaimed:  # noqa: ANN401
        """Claim a task, which must be possible."""
        return expect(TaskClaimed, self.ask(wanted, **rest))

    def finish(self, claimed: TaskClaimed, commit: str = COMMIT, note: str = "") -> TaskOutcome:
        """Say that a claimed task is done."""
        result = Result(commit) if commit else Result()
        return self.queue.execute(FinishTask(self.name, claimed.record.id, result, claimed.record.fence, note))

    def land(self, record: TaskRecord, commit: str = COMMIT) -> TaskOutcome:
        """Record that a task has landed."""
        return self.queue.execute(LandTask(self.name, record.id, commit, record.attempt, "main"))

    def complete(self, claimed: TaskClaimed) -> None:
        """Finish a task, and let it land."""
        self.land(expect(TaskChanged, self.finish(claimed)).record)

    def record(self, task_id: str) -> TaskRecord:
        """Return the present record of a task."""
        with self.queue.read() as reader:
            return {each.id: each for each in reader.tasks()}[task_id]

    def states(self) -> dict[str, str]:
        """Return the state of each task, in the order in which they were added."""
        with self.queue.read() as reader:
            return {each.id: each.state.value for each in reader.tasks()}


def task(task_id: str, **rest: Any) -> Task:  # noqa: ANN401 - as Task takes it
    """Return a task."""
    return Task(task_id, f"the title of {task_id}", **rest)


class TaskConformance:
    """All that is promised of a queue of tasks. Each test takes the fixture `rig`, a TaskRig of its own."""

    def workers(self, rig: TaskRig, *names: str) -> list[Worker]:
        """Sessions that speak to one namespace, each through a client of its own."""
        return [Worker(rig.queue(), name) for name in names]

    def test_every_client_sees_an_added_task_with_all_its_parts(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        whole = Task(
            *("price", "a title", "an intent", ("file:a.py#f",), (), 3, 1e9, 120.0, 2, ("python",)),
            takers=("claude:*",),
            target="main",
            checks=("pytest",),
        )
        (record,) = one.add(whole)
        assert two.record("price") == record
        assert (record.task, record.state, record.added_by) == (whole, TaskState.OPEN, "one")

    def test_numbers_come_from_the_store(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        ids = [each.id for _ in range(10) for worker in (one, two) for each in worker.add(task(""))]
        assert len(set(ids)) == 20
        assert [*one.states()] == ids

    def test_a_refused_list_adds_nothing(self, rig: TaskRig) -> None:
        (one,) = self.workers(rig, "one")
        outcome = one.queue.execute(AddTasks("one", (task("a", needs=("b",)), task("b", needs=("a",)))))
        assert not isinstance(outcome, TasksAdded)
        assert one.states() == {}

    def test_a_task_is_claimed_by_one_session_only(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        one.add(task("a"))
        claimed = one.claim()
        assert expect(NoTask, two.ask("a")).waiting[0].why == "it is claimed by one (attempt 1)"
        assert two.record("a").fence == claimed.lease.fence

    def test_a_claim_is_a_lease_on_the_key_of_the_task(self, rig: TaskRig) -> None:
        (one,) = self.workers(rig, "one")
        one.add(task("a"))
        claimed = one.claim()
        with one.queue.read() as reader:
            assert reader.leases() == (claimed.lease,)
        assert claimed.lease.keys == ("task:a",)
        one.complete(claimed)
        with one.queue.read() as reader:
            assert reader.leases() == ()

    def test_a_proposed_task_is_claimed_only_when_it_has_been_accepted(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        one.queue.execute(AddTasks("one", (task("a"), task("b")), is_proposed=True))
        assert isinstance(two.ask(), NoTask)
        assert isinstance(one.queue.execute(AcceptTask("one", "a")), TaskRefused)
        expect(TaskChanged, two.queue.execute(AcceptTask("two", "a")))
        expect(TaskChanged, two.queue.execute(DeclineTask("two", "b", "no")))
        assert one.states() == {"a": "open", "b": "cancelled"}
        assert one.claim().record.id == "a"

    def test_a_need_counts_only_when_it_has_landed(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        one.add(task("a"), task("b", needs=("a",)))
        claimed = one.claim()
        assert claimed.record.id == "a"
        done = expect(TaskChanged, one.finish(claimed)).record
        assert isinstance(two.ask(), NoTask)
        one.land(done)
        assert two.claim().record.id == "b"

    def test_a_task_returns_when_its_claim_ends(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        one.add(task("a"))
        first = one.claim()
        rig.advance(TTL + 1)
        second = two.claim()
        assert (second.record.attempt, second.lease.fence > first.lease.fence) == (2, True)
        assert isinstance(one.finish(first), TaskRefused)
        assert [each.holder for each in second.record.attempts] == ["one", "two"]

    def test_a_task_fails_after_its_last_attempt(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        one.add(task("a", most_attempts=2))
        one.claim()
        rig.advance(TTL + 1)
        last = two.claim()
        rig.advance(TTL + 1)
        assert one.queue.execute(SettleTasks("one")) == TasksSettled(("a",))
        assert two.states() == {"a": "failed"}
        assert isinstance(two.ask(), NoTask)
        assert expect(TaskChanged, two.finish(last)).record.state is TaskState.DONE, "it had done the work"
        assert one.states() == {"a": "done"}

    def test_a_repeated_request_gets_the_first_outcome(self, rig: TaskRig) -> None:
        one, again = self.workers(rig, "one", "one")
        one.add(task("a"), task("b"))
        command, once = ClaimTask("one", "claim-x", TTL), Once("request-1", "fingerprint")
        first = one.queue.execute(command, once)
        assert again.queue.execute(replace(command, lease_id="claim-y"), once) == first
        assert [*one.states().values()] == ["claimed", "open"]

    def test_an_exception_leaves_nothing(self, rig: TaskRig) -> None:
        (one,) = self.workers(rig, "one")
        one.add(task("a"))
        one.claim()
        with one.queue.read() as reader:
            before = list(whole_log(reader))
        rig.advance(TTL + 1)
        with suppress(InputError):
            one.queue.execute(FinishTask("one", "unknown", Result(COMMIT), 1))
            raise AssertionError
        with one.queue.read() as reader:
            assert list(whole_log(reader)) == before

    def test_the_tasks_in_question_are_those_at_work_and_those_that_they_need(self, rig: TaskRig) -> None:
        (one,) = self.workers(rig, "one")
        one.add(task("old"), task("needed"), task("named"), task("new", needs=("needed",)))
        for name in ("old", "needed", "named"):
            one.complete(one.claim(name))
        with one.queue.read() as reader:
            assert [each.id for each in reader.tasks_in_question(())] == ["needed", "new"]
            assert [each.id for each in reader.tasks_in_question(("named", "never"))] == ["needed", "named", "new"]

    def test_folding_the_log_gives_the_tasks_that_the_views_show(self, rig: TaskRig) -> None:
        one, two = self.workers(rig, "one", "two")
        _tell_a_long_story(rig, one, two)
        for worker in (one, *self.workers(rig, "later")):
            with worker.queue.read() as reader:
                state = fold(whole_log(reader))
                assert tuple(state.tasks.values()) == reader.tasks()
                assert tuple(state.leases.values()) == reader.leases()
        assert [*one.states().values()] == ["open", "done", "cancelled", "open", "landed", "claimed"]


def _tell_a_long_story(rig: TaskRig, one: Worker, two: Worker) -> None:
    """Let each transition happen at least once."""
    one.add(*(task(name, most_attempts=1) for name in ("exhausted", "stranded")))
    one.add(task("cancelled"), task("refused"), task("empty"), task("held"))
    one.claim("exhausted")
    rig.advance(TTL + 1)
    two.queue.execute(SettleTasks("two"))
    two.queue.execute(ReopenTask("two", "exhausted", "try again"))
    stranded = expect(TaskChanged, two.finish(two.claim("stranded"))).record
    two.land(stranded)
    two.queue.execute(StrandTask("two", "stranded", COMMIT, 1, "main was reset"))
    one.claim("cancelled")
    two.queue.execute(CancelTask("two", "cancelled", "not needed"))
    failed = one.claim("refused")
    one.queue.execute(FailTask("one", "refused", failed.record.fence, "could not"))
    one.finish(one.claim("refused"))
    two.queue.execute(RefuseTask("two", "refused", "a check failed", 60.0))
    one.finish(one.claim("empty"), commit="", note="nothing to do")
    one.claim("held")
