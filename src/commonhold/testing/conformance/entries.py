"""The requirements for every store of the merge queue, as tests that pytest collects from a class of yours.

class TestMyStore(EntryConformance):
    @pytest.fixture
    def rig(self):
        yield MyRig()  # see EntryRig: an empty namespace, and a way to move its clock
"""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from dataclasses import replace
from itertools import count
from typing import Any, Final, Protocol

from commonhold.kernel.commands import Acquire, Release
from commonhold.kernel.entry import (
    Entry,
    EntryMove,
    EntryRecord,
    EntryState,
    Fault,
    Landings,
    RepairConflict,
    RepairPacket,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.kernel.projection import fold
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Result, Task, TaskState
from commonhold.landing.commands import (
    AddEntry,
    EntriesChanged,
    EntryRefused,
    EntryStep,
    EntryUnchanged,
    PostEntries,
    RemoveEntry,
)
from commonhold.landing.decide import queue_key
from commonhold.landing.queue import EntryQueue
from commonhold.leases.registry import TableRegistry
from commonhold.tasks.commands import AddTasks, ClaimTask, FinishTask, TaskClaimed, TasksAdded
from commonhold.tasks.queue import TaskQueue
from commonhold.testing.conformance.rig import TTL, expect, whole_log

MAIN: Final = "refs/heads/main"
_PACKET: Final = RepairPacket(
    Fault.MERGE_CONFLICT, "it conflicts", "h1", (RepairConflict("ä.py", "both changed it", "f", "x = 1\n", ("c1",)),)
)
_numbers: Final = count(1)


class EntryRig(Protocol):
    """A namespace of entries that is empty when a test begins."""

    def registry(self) -> TableRegistry:
        """Return a fresh client of its leases."""
        ...

    def queue(self) -> TaskQueue:
        """Return a fresh client of its tasks."""
        ...

    def entries(self) -> EntryQueue:
        """Return a fresh client of its merge queue, as another process would have."""
        ...

    def advance(self, seconds: float) -> None:
        """Let this time pass on the store's clock. Between two calls it may go on by itself, by a few seconds."""
        ...


class Runner:
    """A runner of the queue, with clients of its own."""

    def __init__(self, rig: EntryRig, name: str) -> None:
        """Lease the queue, which must be free."""
        self.queue = rig.entries()
        self.name = name
        self.registry = rig.registry()
        self.lease = f"{name}-{next(_numbers)}"
        keys = (canonical(queue_key(MAIN)),)
        wish = Acquire(self.lease, self.lease, name, "runs the queue", keys, Mode.EXCLUSIVE, TTL)
        self.fence = expect(Granted, self.registry.execute(wish)).lease.fence

    def send(self, *steps: EntryStep) -> object:
        """Post steps."""
        return self.queue.execute(PostEntries(self.name, MAIN, self.fence, steps))

    def post(self, *steps: EntryStep) -> tuple[EntryRecord, ...]:
        """Post steps, which must be possible."""
        return expect(EntriesChanged, self.send(*steps)).records

    def end(self) -> None:
        """Release the queue."""
        self.registry.execute(Release(self.lease, self.name))


def step(record: EntryRecord, move: EntryMove, **rest: Any) -> EntryStep:  # noqa: ANN401 - as EntryStep takes it
    """Return a step of an entry from its present state."""
    return EntryStep(record.id, move, record.last, **rest)


def begun(record: EntryRecord) -> EntryStep:
    """Return the step by which an entry is tested alone."""
    return step(record, EntryMove.TEST, base="h1", built="m1", tip="m1")


class EntryConformance:
    """All that is promised of a store of the merge queue. Each test takes the fixture `rig`, an EntryRig of its own."""

    def add(self, rig: EntryRig, branch: str, commit: str = "", **rest: Any) -> EntryRecord:  # noqa: ANN401
        """Add an entry, which must be possible."""
        entry = Entry("", branch, commit or f"{branch}-1", MAIN, "a title: ä", **rest)
        return expect(EntriesChanged, rig.entries().execute(AddEntry("agent", entry))).records[0]

    def test_every_client_sees_the_entries_in_their_order(self, rig: EntryRig) -> None:
        added = [self.add(rig, name, checks=("make test",), session="s1") for name in ("b", "a", "c")]
        with rig.entries().read() as reader:
            assert reader.entries() == reader.entries_in_question(()) == tuple(added)
        assert len({each.id for each in added}) == len(added)
        assert {each.state for each in added} == {EntryState.QUEUED}

    def test_an_entry_is_kept_with_all_its_parts_until_it_has_landed(self, rig: EntryRig) -> None:
        record, runner = self.add(rig, "a"), Runner(rig, "runner")
        (tested,) = runner.post(begun(record))
        assert (tested.state, tested.base, tested.built, tested.tip, tested.tests) == (
            *(EntryState.TESTING, "h1", "m1", "m1", 1),
        )
        assert tested.batch
        (passed,) = runner.post(step(tested, EntryMove.APPROVE))
        refused = rig.entries().execute(RemoveEntry("person", record.id))
        assert expect(EntryRefused, refused).code is Refusal.ENTRY_CHANGED
        (landed,) = runner.post(step(passed, EntryMove.LAND, built="m1"))
        with rig.entries().read() as reader:
            assert reader.entries_in_question(()) == ()
            assert reader.entries_in_question((record.id,)) == (landed,)
            assert reader.entries_in_question(("a-1",)) == (landed,)
        assert (landed.state, landed.built) == (EntryState.LANDED, "m1")

    def test_a_page_of_the_history_and_the_landings_are_those_of_one_branch(self, rig: EntryRig) -> None:
        runner = Runner(rig, "runner")
        added = [self.add(rig, name) for name in "abcd"]
        elsewhere = expect(
            EntriesChanged, rig.entries().execute(AddEntry("agent", Entry("", "e", "e-1", "refs/heads/release")))
        ).records[0]
        landed = runner.post(*(step(each, EntryMove.LAND, built="m1") for each in added[:2]))
        with rig.entries().read() as reader:
            assert reader.entries() == (*landed, *added[2:], elsewhere)
            assert reader.entries(MAIN, limit=2) == tuple(added[2:])
            assert reader.entries(MAIN, before=added[2].number, limit=1) == (landed[1],)
            assert reader.entries(before=added[0].number) == ()
            assert reader.landings() == (Landings(MAIN, 2, landed[1].since), Landings("refs/heads/release", 0, None))
            assert reader.landings(MAIN) == reader.landings()[:1]
            assert reader.landings("refs/heads/nowhere") == ()

    def test_a_newer_commit_takes_the_entry_out_of_its_batch(self, rig: EntryRig) -> None:
        record, runner = self.add(rig, "a"), Runner(rig, "runner")
        (tested,) = runner.post(begun(record))
        updated = self.add(rig, "a", "a-2")
        assert (updated.id, updated.state, updated.entry.commit, updated.built) == (
            *(record.id, EntryState.QUEUED, "a-2", ""),
        )
        assert expect(EntryRefused, runner.send(step(tested, EntryMove.APPROVE))).code is Refusal.ENTRY_CHANGED
        same = rig.entries().execute(AddEntry("agent", updated.entry))
        assert expect(EntryUnchanged, same).record == updated

    def test_a_commit_that_was_returned_is_returned_again_with_its_packet(self, rig: EntryRig) -> None:
        record, runner = self.add(rig, "a"), Runner(rig, "runner")
        (returned,) = runner.post(step(record, EntryMove.REFUSE, packet=_PACKET, note=_PACKET.why))
        again = expect(EntryRefused, rig.entries().execute(AddEntry("agent", record.entry)))
        assert (again.code, again.record) == (Refusal.ENTRY_RETURNED, returned)
        assert returned.packet == _PACKET
        assert self.add(rig, "a", "a-2").id != record.id

    def test_a_post_takes_effect_as_a_whole_or_not_at_all(self, rig: EntryRig) -> None:
        one, two = self.add(rig, "a"), self.add(rig, "b")
        runner = Runner(rig, "runner")
        stale = replace(begun(two), expected=two.last - 1)
        with rig.entries().read() as reader:
            before = reader.next_sequence
        assert expect(EntryRefused, runner.send(begun(one), stale)).code is Refusal.ENTRY_CHANGED
        with rig.entries().read() as reader:
            assert reader.next_sequence == before

    def test_a_repeated_request_gets_the_first_outcome(self, rig: EntryRig) -> None:
        add = AddEntry("agent", Entry("", "a", "a-1", MAIN))
        once = Once("request-1", "add")
        first = expect(EntriesChanged, rig.entries().execute(add, once))
        rig.entries().execute(RemoveEntry("person", first.records[0].id))
        assert rig.entries().execute(add, once) == first

    def test_only_the_newest_runner_can_post(self, rig: EntryRig) -> None:
        record, one = self.add(rig, "a"), Runner(rig, "one")
        rig.advance(TTL + 10)
        two = Runner(rig, "two")
        assert expect(EntryRefused, one.send(begun(record))).code is Refusal.QUEUE_TAKEN
        two.post(begun(record))
        two.end()
        assert expect(EntryRefused, two.send(begun(record))).code is Refusal.QUEUE_TAKEN

    def test_a_task_follows_its_entry(self, rig: EntryRig) -> None:
        tasks, runner = rig.queue(), Runner(rig, "runner")
        expect(TasksAdded, tasks.execute(AddTasks("author", tuple(Task(each, each, target="main") for each in "tu"))))
        for name in "tu":
            claimed = expect(TaskClaimed, tasks.execute(ClaimTask("agent", f"claim-{name}", TTL, name)))
            tasks.execute(FinishTask("agent", name, Result(f"{name}-1"), claimed.lease.fence))
        landing, refused = self.add(rig, "t", task="t"), self.add(rig, "u", task="u")
        runner.post(step(landing, EntryMove.LAND, built="m1"), step(refused, EntryMove.REFUSE, packet=_PACKET))
        with rig.entries().read() as reader:
            known = {each.id: each for each in reader.tasks()}
        assert (known["t"].state, known["u"].state) == (TaskState.LANDED, TaskState.OPEN)
        assert known["u"].reserved_for == "agent"
        assert refused.id in known["u"].note

    def test_the_log_explains_the_entries(self, rig: EntryRig) -> None:
        one, two = self.add(rig, "a"), self.add(rig, "b")
        runner = Runner(rig, "runner")
        tested = runner.post(*map(begun, (one, two)))
        assert len({each.batch for each in tested}) == 1
        runner.post(*(step(each, EntryMove.REQUEUE, suspected_in=each.batch) for each in tested))
        rig.entries().execute(RemoveEntry("person", two.id, "not needed"))
        with rig.entries().read() as reader:
            state = fold(whole_log(reader))
            assert tuple(state.entries.values()) == reader.entries()
            assert [each.suspected_in for each in reader.entries()] == [each.batch for each in tested]
