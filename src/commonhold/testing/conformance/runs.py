"""The requirements for every store of runs, as tests that pytest collects from a class of yours.

class TestMyStore(RunConformance):
    @pytest.fixture
    def rig(self):
        yield MyRig()  # see RunRig: an empty namespace, and a way to move its clock
"""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from itertools import count
from typing import Any, Final, Protocol

from commonhold.kernel.lease_ports import Once
from commonhold.kernel.projection import fold
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import (
    CandidateOutcome,
    EditCandidate,
    ItemRecord,
    ItemState,
    ItemStep,
    LockPlan,
    Role,
    RoleMessage,
    RunMove,
    RunRecord,
    RunState,
    TokenUsage,
)
from commonhold.kernel.task import Result, Task, TaskState
from commonhold.runs.commands import (
    EndRun,
    ItemChanged,
    ItemTaken,
    NoItem,
    PlanRun,
    Post,
    PostStep,
    ResumeRun,
    RunChanged,
    RunRefused,
    StartRun,
    TakeItem,
)
from commonhold.runs.queue import RunQueue
from commonhold.testing.conformance.rig import TTL, expect, whole_log

_numbers: Final = count(1)


class RunRig(Protocol):
    """A namespace of runs that is empty when a test begins."""

    def runs(self) -> RunQueue:
        """Return a fresh client of the namespace, as another process would have."""
        ...

    def advance(self, seconds: float) -> None:
        """Let this time pass on the store's clock. Between two calls it may go on by itself, by a few seconds."""
        ...


class Boss:
    """A coordinator with a client of its own."""

    def __init__(self, queue: RunQueue, name: str, run: str = "") -> None:
        """Send commands for the session `name`, about a run."""
        self.queue = queue
        self.name = name
        self.run = run

    def start(self, *ids: str, **rest: Any) -> RunRecord:  # noqa: ANN401 - as Task takes it
        """Begin a run of tasks with these ids."""
        tasks = tuple(Task(each, f"the title of {each}", **rest) for each in ids)
        started = self.queue.execute(StartRun(self.name, f"run-{next(_numbers)}", TTL, "a goal", tasks, ("make test",)))
        found = expect(RunChanged, started).run
        self.run = found.id
        return found

    @property
    def record(self) -> RunRecord:
        """The run."""
        with self.queue.read() as reader:
            return expect(RunRecord, reader.run(self.run))

    def items(self) -> tuple[ItemRecord, ...]:
        """Return its items."""
        with self.queue.read() as reader:
            return reader.run_items(self.run)

    def take(self) -> ItemRecord:
        """Take an item, which must be possible."""
        return expect(ItemTaken, self.ask()).item

    def ask(self) -> object:
        """Ask for an item."""
        return self.queue.execute(TakeItem(self.name, self.run, self.record.fence, f"item-{next(_numbers)}", TTL))

    def send(self, item: ItemRecord, step: ItemStep, **rest: Any) -> object:  # noqa: ANN401 - as Post takes it
        """Post a step."""
        post = Post(item.task_id, step, item.last, Role.EDITOR, **rest)
        return self.queue.execute(PostStep(self.name, self.run, self.record.fence, post))

    def post(self, item: ItemRecord, step: ItemStep, **rest: Any) -> ItemRecord:  # noqa: ANN401
        """Post a step, which must be possible."""
        return expect(ItemChanged, self.send(item, step, **rest)).item

    def write(self, item: ItemRecord, *admitted: int) -> ItemRecord:
        """Propose and write a candidate."""
        proposed = self.post(item, ItemStep.PROPOSE, candidate=EditCandidate(item.round, '{"edits": ["ä"]}'))
        return self.post(proposed, ItemStep.WRITE, outcome=CandidateOutcome(admitted=admitted))

    def end(self, move: RunMove) -> RunRecord:
        """End the coordination."""
        return expect(RunChanged, self.queue.execute(EndRun(self.name, self.run, self.record.fence, move))).run


class RunConformance:
    """All that is promised of a store of runs. Each test takes the fixture `rig`, a RunRig of its own."""

    def bosses(self, rig: RunRig, *names: str) -> list[Boss]:
        """Coordinators that speak to one namespace, each through a client of its own."""
        return [Boss(rig.runs(), name) for name in names]

    def test_every_client_sees_a_run_and_its_items_in_the_order_of_the_plan(self, rig: RunRig) -> None:
        one, two = self.bosses(rig, "one", "two")
        run = one.start("b", "a", "c")
        two.run = run.id
        assert two.record == run
        assert (run.state, run.holder, run.run.checks) == (RunState.RUNNING, "one", ("make test",))
        assert [each.task_id for each in two.items()] == ["b", "a", "c"]
        with two.queue.read() as reader:
            assert reader.runs() == (run,)
            assert reader.run("r0") is None

    def test_a_planner_adds_items_after_the_start(self, rig: RunRig) -> None:
        (one,) = self.bosses(rig, "one")
        run = one.start()
        for name in ("z", "a"):
            planned = PlanRun("one", run.id, run.fence, (Task(name, name),), TokenUsage(5, 1, 0.25))
            expect(RunChanged, one.queue.execute(planned))
        assert [each.task_id for each in one.items()] == ["z", "a"]
        assert one.record.usage == TokenUsage(10, 2, 0.5)

    def test_an_item_is_kept_with_all_its_parts_until_its_task_has_landed(self, rig: RunRig) -> None:
        one, two = self.bosses(rig, "one", "two")
        two.run = one.start("a", keys=("file:a.py#f",)).id
        message = RoleMessage(Role.VALIDATOR, "mind the cents", Role.EDITOR)
        proposed = one.post(
            one.take(),
            ItemStep.PROPOSE,
            candidate=EditCandidate(1, "{}"),
            usage=TokenUsage(1, 2, 3.5),
            messages=(message,),
        )
        refusal = CandidateOutcome("REGION_CHANGED", "it was changed", ("file:a.py#f",), repair='{"a": 1}')
        refused = one.post(proposed, ItemStep.REFUSE, outcome=refusal)
        locks = LockPlan(keys=("file:a.py#f", "file:a.py#g"), why="again")
        written = one.write(one.post(refused, ItemStep.REPLAN, locks=locks), 5, 6)
        assert two.items() == (written,)
        assert (written.locks, written.admitted, written.messages) == (locks, (5, 6), (message,))
        accepted = one.post(written, ItemStep.ACCEPT)
        with two.queue.read() as reader:
            (record,) = reader.tasks()
        assert (accepted.state, record.state, record.result) == (
            ItemState.ACCEPTED,
            TaskState.LANDED,
            Result(admitted=(5, 6)),
        )
        assert one.end(RunMove.COMPLETE).state is RunState.COMPLETED
        with two.queue.read() as reader:
            assert reader.leases() == ()

    def test_a_refused_command_leaves_no_trace(self, rig: RunRig) -> None:
        (one,) = self.bosses(rig, "one")
        one.start("a")
        item = one.take()
        with one.queue.read() as reader:
            before = reader.next_sequence
        expect(RunRefused, one.send(item, ItemStep.ACCEPT))
        busy = StartRun("one", f"run-{next(_numbers)}", TTL, "again", (Task("a", "the title of a"),))
        assert expect(RunRefused, one.queue.execute(busy)).code is Refusal.TASK_TAKEN
        with one.queue.read() as reader:
            assert reader.next_sequence == before

    def test_a_repeated_request_gets_the_first_outcome(self, rig: RunRig) -> None:
        one, again = self.bosses(rig, "one", "one")
        run = one.start("a", "b")
        take = TakeItem("one", run.id, run.fence, "item-once", TTL)
        once = Once("request-1", "take")
        first = expect(ItemTaken, one.queue.execute(take, once))
        assert again.queue.execute(take, once) == first
        again.run = run.id
        assert [each.state.value for each in again.items()].count("editing") == 1

    def test_only_one_coordinator_works_and_the_next_goes_on(self, rig: RunRig) -> None:
        one, two = self.bosses(rig, "one", "two")
        two.run = one.start("a").id
        item = one.write(one.take(), 3)
        resume = ResumeRun("two", two.run, f"run-{next(_numbers)}", TTL)
        assert expect(RunRefused, two.queue.execute(resume)).code is Refusal.RUN_TAKEN
        rig.advance(TTL + 10)
        expect(RunChanged, two.queue.execute(resume))
        assert expect(RunRefused, one.send(item, ItemStep.ACCEPT)).code is Refusal.RUN_TAKEN
        again = two.take()
        assert (again.state, again.admitted) == (ItemState.WRITTEN, (3,))
        two.post(again, ItemStep.ACCEPT)
        assert expect(NoItem, two.ask()).waiting == ()

    def test_the_log_explains_the_runs(self, rig: RunRig) -> None:
        (one,) = self.bosses(rig, "one")
        one.start("a", "b")
        one.post(one.write(one.take(), 1), ItemStep.REJECT, note="1 failed")
        one.take()
        one.end(RunMove.STOP)
        with one.queue.read() as reader:
            state = fold(whole_log(reader))
            assert tuple(state.runs.values()) == reader.runs()
            assert tuple(state.run_items.values()) == reader.run_items(one.run)
            assert tuple(state.tasks.values()) == reader.tasks()
            assert (state.leases, reader.leases()) == ({}, ())
