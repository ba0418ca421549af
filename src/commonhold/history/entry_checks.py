"""PURE: decide again on the commands behind the events about entries of the merge queue, and compare the results.

A post records the steps of several entries together with the transitions of their tasks, so all of them are decided
again together. The number of steps of a post is not recorded: of the steps at one instant, as many as fit are one post.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from commonhold.history.lease_checks import table_of
from commonhold.kernel.clock import Now
from commonhold.kernel.entry import EntryAdded, EntryMove, EntryMoved
from commonhold.kernel.events import Event, Recorded
from commonhold.kernel.keys import canonical
from commonhold.kernel.projection import State
from commonhold.kernel.task import TaskMoved
from commonhold.landing.commands import AddEntry, EntryCommand, EntryStep, PostEntries, RemoveEntry
from commonhold.landing.decide import QueueBoard, decide, queue_key
from commonhold.tasks.board import Board
from commonhold.tasks.commands import REFUSAL_PATIENCE_SECONDS

_NOT_NAMED: Final = "replay"


def decided_again(state: State, events: Sequence[Recorded]) -> tuple[Event, ...] | None:
    """Return the events that the decision behind the first of `events` has again; None if it is not about an entry.

    `events` are those recorded from there on, at least those of its transaction. Raises KeyError if an entry is
    unknown.
    """
    first = events[0].event
    match first:
        case EntryAdded(holder=holder, entry=entry):
            return _again(state, events, AddEntry(holder, replace(entry, id=""), again=True))
        case EntryMoved(holder=holder, move=EntryMove.UPDATE):
            # The task that was named with the newer commit is not recorded.
            entry = replace(state.entries[first.entry_id].entry, commit=first.commit, title=first.title, task="")
            return _again(state, events, AddEntry(holder, entry, again=True))
        case EntryMoved(holder=holder, move=EntryMove.REMOVE):
            return _again(state, events, RemoveEntry(holder, first.entry_id, first.note))
        case EntryMoved():
            return _posted_again(state, events, first)
        case _:
            return None


def _posted_again(state: State, events: Sequence[Recorded], first: EntryMoved) -> tuple[Event, ...]:
    """Return the events of the longest post that comes out as recorded; of the shortest if none does."""
    steps = _steps(state, events, first)
    again: tuple[Event, ...] = ()
    onto = state.entries[first.entry_id].entry.onto
    for count in range(len(steps), 0, -1):
        post = PostEntries(first.holder, onto, _fence(state, onto), steps[:count])
        again = _again(state, events, post)
        if again and again == tuple(each.event for each in events[: len(again)]):
            break
    return again


def _steps(state: State, events: Sequence[Recorded], first: EntryMoved) -> tuple[EntryStep, ...]:
    """Return the steps of entries that were recorded at the same instant by the same runner, each entry once."""
    found: dict[str, EntryStep] = {}
    for each in events:
        event = each.event
        if each.at != events[0].at or not isinstance(event, EntryMoved | TaskMoved):
            break
        if isinstance(event, EntryMoved):
            if event.holder != first.holder or event.entry_id in found:
                break
            found[event.entry_id] = _step(state, event)
    return tuple(found.values())


def _step(state: State, event: EntryMoved) -> EntryStep:
    return EntryStep(
        event.entry_id,
        event.move,
        state.entries[event.entry_id].last,
        event.note,
        event.base,
        event.built,
        event.tip,
        event.suspected_in,
        event.held_at,
        event.packet,
    )


def _fence(state: State, onto: str) -> int:
    """Return the fence of the newest lease on the queue of a ref; 0 if there is none."""
    key = canonical(queue_key(onto))
    return max((each.fence for each in state.leases.values() if key in map(canonical, each.keys)), default=0)


def _again(state: State, events: Sequence[Recorded], command: EntryCommand) -> tuple[Event, ...]:
    now = _instant(events)
    board = Board(state.tasks, table_of(state, now.epoch, events[0].sequence))
    return decide(QueueBoard(board, state.entries), command, now).events


def _instant(events: Sequence[Recorded]) -> Now:
    """Return the instant of the decision: exactly if it reserved a task for a while."""
    at = events[0].at
    for each in events:
        if each.at != at:
            break
        if isinstance(each.event, TaskMoved) and (until := each.event.reserved_until) is not None:
            return Now(until.epoch, until.ticks - REFUSAL_PATIENCE_SECONDS, at)
    return Now(_NOT_NAMED, 0.0, at)
