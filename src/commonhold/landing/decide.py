"""Decisions on entries of the merge queue: `decide(board, command, now)` gives the outcome and its events.

A decision contains those on the tasks of the entries: an entry that lands lands its task, one that is refused returns
its task to the session that did it, each in one transaction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commonhold.kernel.clock import Now
from commonhold.kernel.entry import (
    Entry,
    EntryAdded,
    EntryMove,
    EntryMoved,
    EntryRecord,
    EntryState,
    added_entry,
    moved_entry,
)
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Event
from commonhold.kernel.keys import canonical
from commonhold.kernel.refs import short_ref
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import TaskRecord, TaskState
from commonhold.kernel.texts import short_name
from commonhold.landing.commands import (
    AddEntry,
    EntriesChanged,
    EntryCommand,
    EntryOutcome,
    EntryRefused,
    EntryStep,
    EntryUnchanged,
    PostEntries,
    RemoveEntry,
)
from commonhold.tasks.board import Board
from commonhold.tasks.commands import REFUSAL_PATIENCE_SECONDS, LandTask, RefuseTask
from commonhold.tasks.decide import reach, refuse
from commonhold.tasks.turn import TaskTurn

_POSTED: Final = frozenset({*EntryMove} - {EntryMove.UPDATE, EntryMove.REMOVE})


@dataclass(frozen=True, slots=True)
class QueueBoard:
    """The state that a decision on entries needs.

    `board` has all leases, and the tasks of the entries in question. `entries` are, by id, those that are not final,
    and those that the command names by id or by commit.
    """

    board: Board
    entries: Mapping[str, EntryRecord]


@dataclass(frozen=True, slots=True)
class EntryDecision:
    """An outcome, and the events that must be recorded with it in one transaction."""

    outcome: EntryOutcome
    events: tuple[Event, ...]


def decide(board: QueueBoard, command: EntryCommand, now: Now) -> EntryDecision:
    """Answer one command. A refused command changes nothing.

    Raises InputError `ENTRY_UNKNOWN` and `TASK_UNKNOWN` for ids that do not exist.
    """
    turn = _EntryTurn(board, now)
    outcome = _DECISIONS[type(command)](turn, command)
    return EntryDecision(outcome, () if isinstance(outcome, EntryRefused) else tuple(turn.tasks.events))


def queue_key(onto: str) -> str:
    """Return the text of the key on which running the queue of a ref is a lease."""
    return f"queue:{onto}"


def unknown(entry_id: str) -> InputError:
    """Return the error for an entry that does not exist."""
    return InputError(
        Code.ENTRY_UNKNOWN,
        f"there is no entry {entry_id!r}",
        hint="`commonhold queue list --all` shows every entry",
        fields={"entry": entry_id},
    )


class _EntryTurn:
    """A decision in progress: the entries as changed so far; its events are those of its `tasks`, in one order."""

    def __init__(self, board: QueueBoard, now: Now) -> None:
        self.now = now
        self.tasks = TaskTurn(board.board, now)
        self.entries = dict(board.entries)
        self.leases = [each for each in board.board.leases.leases if each.is_live(now)]

    def named(self, entry_id: str) -> EntryRecord:
        record = self.entries.get(entry_id)
        if record is None:
            raise unknown(entry_id)
        return record

    def add(self, holder: str, entry: Entry) -> EntryRecord:
        sequence = self.tasks.next_sequence
        event = EntryAdded(holder, replace(entry, id=f"e{sequence}"))
        record = self.entries[event.entry.id] = added_entry(event, sequence, self.now.wall)
        self.tasks.events.append(event)
        return record

    def move(self, record: EntryRecord, event: EntryMoved) -> EntryRecord:
        moved = self.entries[record.id] = moved_entry(record, event, self.tasks.next_sequence, self.now.wall)
        self.tasks.events.append(event)
        return moved


def _add(turn: _EntryTurn, command: AddEntry) -> EntryOutcome:
    entry = command.entry
    if entry.task and (refused := _not_done(turn.tasks.named(entry.task), entry)):
        return refused
    known = [each for each in turn.entries.values() if each.entry.onto == entry.onto]
    waiting = next((each for each in known if each.entry.branch == entry.branch and not each.is_final), None)
    if waiting is not None and waiting.entry.commit == entry.commit:
        return EntryUnchanged(waiting)
    returned = next((each for each in reversed(known) if each.entry.commit == entry.commit and each.is_final), None)
    if returned is not None and returned.packet is not None and not command.again:
        why = f"{entry.branch} was returned as {returned.id}, and has no new commit since: {returned.packet.why}"
        return EntryRefused(Refusal.ENTRY_RETURNED, why, returned)
    if waiting is None:
        return EntriesChanged((turn.add(command.holder, entry),))
    if not waiting.can(EntryMove.UPDATE):
        why = f"{waiting.id} is landing with an older commit of {entry.branch}; add the newer one when it has landed"
        return EntryRefused(Refusal.ENTRY_CHANGED, why, waiting)
    update = EntryMoved(command.holder, waiting.id, EntryMove.UPDATE, commit=entry.commit, title=entry.title)
    return EntriesChanged((turn.move(waiting, update),))


def _not_done(task: TaskRecord, entry: Entry) -> EntryRefused | None:
    """Refuse an entry whose task is not done with just this commit, or lands elsewhere."""
    call = f"commonhold task done {task.id} --commit {entry.branch}"
    if task.state is not TaskState.DONE:
        why = f"the task {task.id} is {task.state.value}, not done; say so first: {call} --fence N"
        return EntryRefused(Refusal.TASK_NOT_READY, why)
    if task.result is None or task.result.commit != entry.commit:
        return EntryRefused(Refusal.TASK_CHANGED, f"the task {task.id} was done with another commit; first: {call}")
    if short_ref(entry.onto) != short_ref(task.task.target):
        return EntryRefused(Refusal.TASK_CHANGED, f"the task {task.id} lands on {task.task.target}: --onto names it")
    return None


def _remove(turn: _EntryTurn, command: RemoveEntry) -> EntryOutcome:
    record = turn.named(command.entry_id)
    if not record.can(EntryMove.REMOVE):
        state = "landing: its batch has passed" if record.is_approved else record.state.value
        return EntryRefused(Refusal.ENTRY_CHANGED, f"{record.id} is {state}, so it cannot be removed", record)
    return EntriesChanged((turn.move(record, EntryMoved(command.holder, record.id, EntryMove.REMOVE, command.note)),))


def _post(turn: _EntryTurn, command: PostEntries) -> EntryOutcome:
    if refused := _not_runner(turn, command):
        return refused
    batch = f"b{turn.tasks.next_sequence}"
    moved = []
    for step in command.steps:
        record = turn.named(step.entry)
        is_own = record.entry.onto == command.onto and step.move in _POSTED
        if not is_own or record.last != step.expected or not record.can(step.move):
            why = f"{record.id} has moved on: it is {record.state.value}, so it cannot {step.move.value}"
            return EntryRefused(Refusal.ENTRY_CHANGED, why, record)
        moved.append(turn.move(record, _event(command.holder, step, batch)))
        _follow(turn, command.holder, moved[-1])
    return EntriesChanged(tuple(moved))


def _not_runner(turn: _EntryTurn, command: PostEntries) -> EntryRefused | None:
    """Refuse a runner whose lease on the queue has ended, or was taken over."""
    key = canonical(queue_key(command.onto))
    held = [each for each in turn.leases if key in map(canonical, each.keys)]
    newest = max(held, key=lambda each: each.fence, default=None)
    if newest is not None and (newest.fence, newest.holder) == (command.fence, command.holder):
        return None
    by = f", and {short_name(newest.holder)} runs it now" if newest is not None else ""
    return EntryRefused(Refusal.QUEUE_TAKEN, f"the lease on the queue of {command.onto} has ended{by}")


def _event(holder: str, step: EntryStep, batch: str) -> EntryMoved:
    return EntryMoved(
        holder,
        step.entry,
        step.move,
        step.note,
        batch=batch if step.move is EntryMove.TEST else "",
        base=step.base,
        built=step.built,
        tip=step.tip,
        suspected_in=step.suspected_in,
        held_at=step.held_at,
        packet=step.packet,
    )


def _follow(turn: _EntryTurn, holder: str, record: EntryRecord) -> None:
    """Let the task of an entry follow it, if the task is still done with the same commit."""
    task = turn.tasks.tasks.get(record.entry.task)
    commit = record.entry.commit
    if task is None or task.state is not TaskState.DONE or task.result is None or task.result.commit != commit:
        return
    if record.state is EntryState.LANDED:
        reach(turn.tasks, LandTask(holder, task.id, commit, task.attempt, f"part of {record.entry.onto}"))
    elif record.state is EntryState.RETURNED and record.packet is not None:
        reason = f"{record.packet.why} (`commonhold queue show {record.id}`)"
        refuse(turn.tasks, RefuseTask(holder, task.id, reason, REFUSAL_PATIENCE_SECONDS))


_DECISIONS: Final[Mapping[type[Any], Callable[[_EntryTurn, Any], EntryOutcome]]] = {
    AddEntry: _add,
    RemoveEntry: _remove,
    PostEntries: _post,
}
