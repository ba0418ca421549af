"""Decisions on entries of the merge queue: what may be added, and which task an entry may complete."""

import pytest
from tests.unit.tasks.table import COMMIT, Table, kind, task

from commonhold.kernel.entry import (
    ENTRY_TRANSITIONS,
    Entry,
    EntryMove,
    EntryMoved,
    EntryRecord,
    EntryState,
    Fault,
    RepairPacket,
    moved_entry,
)
from commonhold.kernel.errors import InputError
from commonhold.kernel.keys import canonical
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import TaskState
from commonhold.landing.commands import (
    AddEntry,
    EntriesChanged,
    EntryCommand,
    EntryOutcome,
    EntryRefused,
    EntryStep,
    PostEntries,
    RemoveEntry,
)
from commonhold.landing.decide import QueueBoard, decide, queue_key
from commonhold.tasks.commands import CancelTask

MAIN = "refs/heads/main"
PACKET = RepairPacket(Fault.CHECK_FAILED, "the check failed", "head")


class Queue(Table):
    """A board with entries; the state is the fold of the events, and nothing else."""

    def send(self, command: EntryCommand) -> EntryOutcome:
        decision = decide(QueueBoard(self.board, self.state.entries), command, self.now)
        self._record(decision.events)
        return decision.outcome

    def offer(
        self, branch: str, commit: str = COMMIT, onto: str = MAIN, task: str = "", *, again: bool = False
    ) -> EntryOutcome:
        return self.send(AddEntry("agent", Entry("", branch, commit, onto, task=task), again))

    def enter(self, branch: str, commit: str = COMMIT, onto: str = MAIN, task: str = "") -> EntryRecord:
        return kind(EntriesChanged, self.offer(branch, commit, onto, task)).records[0]

    def post(self, fence: int, *steps: EntryStep, holder: str = "runner") -> EntryOutcome:
        return self.send(PostEntries(holder, MAIN, fence, steps))

    def run_queue(self, holder: str = "runner") -> int:
        self.lease(holder, queue_key(MAIN))
        return max(each.fence for each in self.state.leases.values() if each.holder == holder)


def done_task(queue: Queue, name: str = "t") -> None:
    queue.add(task(name, target="main"))
    queue.finish(queue.claim("agent", name))


def test_an_entry_is_queued_under_an_id_of_the_store() -> None:
    queue = Queue()
    assert (queue.enter("a").id, queue.enter("b", "d" * 40).id) == ("e1", "e2")


def test_a_task_must_be_done_with_just_this_commit_and_land_there() -> None:
    queue = Queue()
    queue.add(task("open", target="main"))
    done_task(queue)
    refused = kind(EntryRefused, queue.offer("a", task="open"))
    assert refused.code is Refusal.TASK_NOT_READY
    assert "commonhold task done open --commit a" in refused.why
    assert kind(EntryRefused, queue.offer("a", "d" * 40, task="t")).code is Refusal.TASK_CHANGED
    assert "--onto" in kind(EntryRefused, queue.offer("a", onto="refs/heads/other", task="t")).why
    assert queue.enter("a", task="t").entry.task == "t"
    with pytest.raises(InputError, match="there is no task 'nowhere'"):
        queue.offer("a", task="nowhere")


def test_an_entry_that_lands_or_is_refused_takes_its_task_along_once() -> None:
    queue, fence = Queue(), 0
    done_task(queue)
    record, fence = queue.enter("a", task="t"), queue.run_queue()
    queue.post(fence, EntryStep(record.id, EntryMove.REFUSE, record.last, packet=PACKET))
    assert queue.state.tasks["t"].state is TaskState.OPEN
    assert f"commonhold queue show {record.id}" in queue.state.tasks["t"].note
    assert queue.state.tasks["t"].reserved_for == "agent"


def test_a_task_that_was_ended_elsewhere_stays_as_it_is() -> None:
    queue = Queue()
    done_task(queue)
    record, fence = queue.enter("a", task="t"), queue.run_queue()
    queue.run(CancelTask("person", "t", "not needed"))
    queue.post(fence, EntryStep(record.id, EntryMove.LAND, record.last, built="m"))
    assert queue.state.tasks["t"].state is TaskState.CANCELLED
    assert queue.state.entries[record.id].state is EntryState.LANDED


def test_a_removal_leaves_the_task_done() -> None:
    queue = Queue()
    done_task(queue)
    record = queue.enter("a", task="t")
    queue.send(RemoveEntry("person", record.id, "later"))
    assert (queue.state.tasks["t"].state, queue.state.entries[record.id].note) == (TaskState.DONE, "later")
    assert queue.enter("a", task="t").id != record.id


def test_what_was_removed_can_be_added_again_and_what_was_refused_only_on_demand() -> None:
    queue = Queue()
    record, fence = queue.enter("a"), queue.run_queue()
    queue.send(RemoveEntry("person", record.id))
    second = queue.enter("a")
    queue.post(fence, EntryStep(second.id, EntryMove.REFUSE, second.last, packet=PACKET))
    assert kind(EntryRefused, queue.offer("a")).code is Refusal.ENTRY_RETURNED
    assert kind(EntryRefused, queue.offer("another-name")).record == queue.state.entries[second.id]
    assert kind(EntriesChanged, queue.offer("a", again=True)).records[0].state is EntryState.QUEUED


def test_a_runner_may_not_post_the_steps_of_others_nor_for_another_branch() -> None:
    queue = Queue()
    record, fence = queue.enter("a"), queue.run_queue()
    elsewhere = queue.enter("b", onto="refs/heads/other")
    for step in (
        EntryStep(record.id, EntryMove.REMOVE, record.last),
        EntryStep(record.id, EntryMove.APPROVE, record.last),
        EntryStep(elsewhere.id, EntryMove.REFUSE, elsewhere.last),
    ):
        assert kind(EntryRefused, queue.post(fence, step)).code is Refusal.ENTRY_CHANGED
    step = EntryStep(record.id, EntryMove.TEST, record.last)
    assert kind(EntryRefused, queue.post(fence + 1, step)).code is Refusal.QUEUE_TAKEN
    assert kind(EntryRefused, queue.post(fence, step, holder="other")).code is Refusal.QUEUE_TAKEN


def test_of_two_runners_of_one_name_only_the_newer_posts() -> None:
    queue = Queue()
    record, old = queue.enter("a"), queue.run_queue()
    new = queue.run_queue()
    assert new > old
    step = EntryStep(record.id, EntryMove.TEST, record.last)
    assert kind(EntryRefused, queue.post(old, step)).code is Refusal.QUEUE_TAKEN
    kind(EntriesChanged, queue.post(new, step))


def test_an_entry_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(InputError, match="there is no entry 'e9'"):
        Queue().send(RemoveEntry("person", "e9"))


@pytest.mark.parametrize("state", EntryState)
@pytest.mark.parametrize("move", EntryMove)
def test_only_the_transitions_of_the_table_are_possible(state: EntryState, move: EntryMove) -> None:
    record = EntryRecord(Entry("e1", "a", COMMIT, MAIN), 1, 1, "agent", 0.0, 0.0, state)
    event = EntryMoved("x", "e1", move, commit="d" * 40, built="m")
    assert record.can(move) == ((state, move) in ENTRY_TRANSITIONS)
    if record.can(move):
        assert moved_entry(record, event, 2, 1.0).state is ENTRY_TRANSITIONS[state, move]
    else:
        with pytest.raises(KeyError):
            moved_entry(record, event, 2, 1.0)


def test_the_key_of_a_queue_can_be_leased() -> None:
    assert str(canonical(queue_key(MAIN))) == "queue:refs/heads/main"
