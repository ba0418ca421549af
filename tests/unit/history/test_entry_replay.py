"""Replay of a merge queue: its decisions come out the same, with those on its tasks, and a changed event is found."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.rigs import MemoryRig

from commonhold.history.replay import replay
from commonhold.kernel.entry import Entry, EntryAdded, EntryMove, EntryMoved, Fault, RepairPacket
from commonhold.kernel.events import Recorded
from commonhold.kernel.task import Move, Result, Task, TaskMoved
from commonhold.landing.commands import AddEntry, EntriesChanged, RemoveEntry
from commonhold.tasks.commands import AddTasks, ClaimTask, FinishTask, TaskClaimed
from commonhold.testing.conformance.entries import MAIN, Runner, begun, step
from commonhold.testing.conformance.rig import TTL, expect, whole_log

PACKET = RepairPacket(Fault.CHECK_FAILED, "the check `x` failed", "h1", check="x")


def history() -> Sequence[Recorded]:
    """Entries, two of them with tasks, are tested, updated, removed, landed and refused by two runners."""
    with closing(MemoryRig()) as rig:
        tasks, entries = rig.queue(), rig.entries()
        tasks.execute(AddTasks("author", tuple(Task(each, each, target="main") for each in "tu")))
        for name in "tu":
            claimed = expect(TaskClaimed, tasks.execute(ClaimTask("agent", f"claim-{name}", 60.0, name)))
            tasks.execute(FinishTask("agent", name, Result(f"{name}-1"), claimed.lease.fence))
        added = [
            expect(EntriesChanged, entries.execute(AddEntry("agent", Entry("", name, f"{name}-1", MAIN, task=task))))
            for name, task in (("t", "t"), ("u", "u"), ("v", ""), ("w", ""))
        ]
        one, two, three, four = (each.records[0] for each in added)
        first = Runner(rig, "first")
        first.post(begun(one), begun(two))
        rig.advance(TTL + 10)
        second = Runner(rig, "second")
        with entries.read() as reader:
            one, two, _, _ = reader.entries()
        second.post(*(step(each, EntryMove.REQUEUE, note="its batch was not finished") for each in (one, two)))
        entries.execute(AddEntry("agent", Entry("", "v", "v-2", MAIN, "newer")))
        entries.execute(RemoveEntry("person", four.id, "not needed"))
        with entries.read() as reader:
            one, two, three, _ = reader.entries()
        tested = second.post(begun(one), begun(two), begun(three))
        passed = second.post(*(step(each, EntryMove.APPROVE) for each in (tested[0], tested[2])))
        steps = [step(passed[0], EntryMove.LAND, built="m1"), step(tested[1], EntryMove.REFUSE, packet=PACKET)]
        second.post(*steps, step(passed[1], EntryMove.LAND, built="m1"))
        with entries.read() as reader:
            return tuple(whole_log(reader))


def test_all_decisions_come_out_the_same_with_those_on_their_tasks() -> None:
    log = history()
    done = replay(log)
    assert done.difference is None, done.difference
    for kind in ("entry_added", "entry_moved", "task_moved"):
        assert done.checked[kind] == done.events[kind] > 0
    moves = {each.event.move for each in log if isinstance(each.event, EntryMoved)}
    assert moves == set(EntryMove)


def place(log: Sequence[Recorded], kind: type, **fields: Any) -> int:
    return next(
        at
        for at, each in enumerate(log)
        if isinstance(each.event, kind) and all(getattr(each.event, name) == value for name, value in fields.items())
    )


@pytest.mark.parametrize(
    ("kind", "fields", "change"),
    [
        (EntryAdded, {}, {"holder": ""}),
        (EntryMoved, {"move": EntryMove.TEST}, {"batch": "b1"}),
        (EntryMoved, {"move": EntryMove.TEST}, {"holder": "second"}),
        (EntryMoved, {"move": EntryMove.REQUEUE}, {"holder": "first"}),
        (EntryMoved, {"move": EntryMove.LAND}, {"move": EntryMove.TEST}),
        (TaskMoved, {"move": Move.LAND}, {"note": "part of another branch"}),
        (TaskMoved, {"move": Move.REFUSE}, {"reserved_for": "other"}),
    ],
)
def test_a_changed_event_is_found(kind: type, fields: dict[str, Any], change: dict[str, Any]) -> None:
    log = list(history())
    at = place(log, kind, **fields)
    if change == {"holder": ""}:
        log[at] = replace(log[at], event=EntryAdded("agent", replace(log[at].event.entry, id="e999")))  # type: ignore[union-attr]
    else:
        log[at] = replace(log[at], event=replace(log[at].event, **change))
    found = replay(log).difference
    assert found is not None
    assert found.sequence in (log[at].sequence, log[at].sequence - 1), found
