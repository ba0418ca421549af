"""PURE: one event as a sentence."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from commonhold.history.ledger import Ledger
from commonhold.kernel.entry import EntryAdded, EntryMove, EntryMoved
from commonhold.kernel.events import (
    CommitRefused,
    Committed,
    CommitUndone,
    DebtWaived,
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    Leaving,
    LogCompacted,
    ReleaseAsked,
    StateReset,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
    holder_of,
)
from commonhold.kernel.keys import canonical, contains
from commonhold.kernel.managed_session import SessionMove, SessionMoved, SessionQueued
from commonhold.kernel.run import ItemMoved, ItemStep, RunMove, RunMoved, RunPlanned, RunStarted
from commonhold.kernel.task import Move, TaskAdded, TaskMoved
from commonhold.kernel.texts import duration, listed, quoted, short_name
from commonhold.kernel.write_slots import shown_key

_MOST_KEYS: Final = 5


def sentence(event: Event, ledger: Ledger) -> str:
    """Return an event with its actor, in words; `ledger` knows the keys of leases."""
    return f"{short_name(holder_of(event))} {_WORDS[type(event)](event, ledger)}."


def named(keys: Sequence[str]) -> str:
    """Return the innermost of some keys, the first few by name."""
    parsed = [canonical(key) for key in keys]
    inner = [str(key) for key in parsed if not any(other != key and contains(key, other) for other in parsed)]
    return listed([shown_key(key) for key in inner], _MOST_KEYS) or "nothing"


def for_(purpose: str) -> str:
    """Return a purpose as the end of a sentence; empty if none was given."""
    return f" for {quoted(purpose)}" if purpose else ""


def _granted(event: LeaseGranted, _: Ledger) -> str:
    lease = event.lease
    part = f"slot {lease.slot} of {lease.slots} of " if lease.slots else ""
    lasting = duration(lease.ttl_seconds)
    return f"got the {lease.mode} lease {lease.id} on {part}{named(lease.keys)} for {lasting}{for_(lease.task)}"


def _denied(event: LeaseDenied, _: Ledger) -> str:
    return f"asked for an {event.mode} lease on {named(event.keys)}{for_(event.task)}, and was refused"


def _queued(event: LeaseQueued, _: Ledger) -> str:
    return f"began to wait for {named(event.waiter.keys)}{for_(event.waiter.task)}"


def _lease(verb: str) -> Callable[[Any, Ledger], str]:
    def words(event: Any, ledger: Ledger) -> str:  # noqa: ANN401 - any event about a lease
        return f"{verb} the lease {event.lease_id}{_on(event, ledger)}"

    return words


def _on(event: Event, ledger: Ledger) -> str:
    keys = ledger.keys_of(event)
    return f" on {named(keys)}" if keys else ""


_LEFT: Final = {
    Leaving.CANCELLED: "gave up its place in line",
    Leaving.TIMED_OUT: "lost its place in line",
    Leaving.DEADLOCK: "had to give up its place in line, since its wait would never have ended",
    Leaving.DONE: "left the line, since the work was done",
}


def _left(event: WaiterLeft, ledger: Ledger) -> str:
    keys = ledger.keys_of(event)
    return _LEFT[event.why] + (f" for {named(keys)}" if keys else "")


def _broken(event: LeaseBroken, ledger: Ledger) -> str:
    return f"lost the lease {event.lease_id}{_on(event, ledger)}: {short_name(event.by)} ended it by force"


def _asked(event: ReleaseAsked, ledger: Ledger) -> str:
    return f"was asked by {short_name(event.wish.by)} to release the lease {event.lease_id}{_on(event, ledger)}"


def _handed_over(event: LeaseHandedOver, ledger: Ledger) -> str:
    return f"handed the lease {event.lease_id}{_on(event, ledger)} over to {short_name(event.to)}"


def _put(event: ValuePut, _: Ledger) -> str:
    return f"{'deleted' if event.text is None else 'stored'} the value of {shown_key(event.key)}"


def _work_left(event: WorkLeft, _: Ledger) -> str:
    keys = named([each.key for each in event.changes])
    return (
        f"left {keys} changed under the lost lease {event.lease_id}"
        if event.changes
        else (f"left no changes under the lost lease {event.lease_id}")
    )


def _committed(event: Committed, ledger: Ledger) -> str:
    if event.adopts:
        return (
            f"took over the changes that {short_name(event.adopts)} had not committed in {named(ledger.keys_of(event))}"
        )
    if event.undoes:
        return f"took back {_events(event.undoes)}, which changed {named(ledger.keys_of(event))}"
    return f"changed {named(ledger.keys_of(event))}{for_(event.intent)}"


def _events(numbers: Sequence[int]) -> str:
    names = listed([str(each) for each in numbers], _MOST_KEYS)
    return f"event{'s' if len(numbers) > 1 else ''} {names}"


def _refused(event: CommitRefused, _: Ledger) -> str:
    return f"tried to change {listed(event.keys, _MOST_KEYS)}{for_(event.intent)}, and was refused"


def _undone(event: CommitUndone, _: Ledger) -> str:
    return f"was interrupted in a commit{for_(event.intent)}, which was taken back in {named(event.restored)}"


_MOVED: Final = {
    Move.ACCEPT: "accepted the proposed task {task}",
    Move.DECLINE: "declined the proposed task {task}",
    Move.CLAIM: "claimed the task {task}",
    Move.HAND_OVER: "handed the task {task} over to {to}",
    Move.RETURN: "returned the task {task} to the queue",
    Move.GIVE_BACK: "gave the task {task} back, and the attempt does not count",
    Move.EXHAUST: "ended the last attempt at the task {task}, which failed",
    Move.FINISH: "finished the task {task}",
    Move.LAND: "found that the task {task} has landed",
    Move.REFUSE: "refused the task {task} at landing",
    Move.STRAND: "found that the task {task} is no longer part of its branch",
    Move.UNDO: "opened the task {task} again, since its commits were undone",
    Move.CANCEL: "cancelled the task {task}",
    Move.REOPEN: "reopened the task {task}",
}


def _moved(event: TaskMoved, _: Ledger) -> str:
    words = _MOVED[event.move].format(task=event.task_id, to=short_name(event.to) if event.to else "")
    return f"{words} (attempt {event.attempt})"


_RUN_MOVED: Final = {
    RunMove.RESUME: "resumed the run",
    RunMove.STOP: "stopped the run",
    RunMove.COMPLETE: "completed the run",
    RunMove.FAIL: "found no way on for the run",
    RunMove.CANCEL: "cancelled the run",
}
_ENTRY_MOVED: Final = {
    EntryMove.UPDATE: "replaced the commit of the entry {entry}",
    EntryMove.TEST: "began to test the entry {entry}",
    EntryMove.APPROVE: "saw the checks pass for the entry {entry}",
    EntryMove.REQUEUE: "put the entry {entry} back into the queue",
    EntryMove.LAND: "landed the entry {entry}",
    EntryMove.REFUSE: "returned the entry {entry} to its author",
    EntryMove.REMOVE: "removed the entry {entry}",
}
_ATTACHED: Final = "attached a terminal to the session {session}"
_SESSION_MOVED: Final = {
    SessionMove.CLAIM: "began to run the session {session}",
    SessionMove.ASK: "asked to {wish} the session {session}",
    SessionMove.PAUSE: "paused the session {session}",
    SessionMove.RESUME: "resumed the session {session}",
    SessionMove.FINISH: "finished the session {session}, which awaits review",
    SessionMove.LOSE: "lost the session {session}, which is queued again",
    SessionMove.FAIL: "recorded that the session {session} failed",
    SessionMove.CANCEL: "cancelled the session {session}",
    SessionMove.APPROVE: "approved the session {session}",
    SessionMove.DISCARD: "discarded the work of the session {session}",
    SessionMove.RETRY: "queued the session {session} once more",
}
_STEPPED: Final = {
    ItemStep.TAKE: "gave {task} to {session}",
    ItemStep.PROPOSE: "kept the candidate for {task}",
    ItemStep.REFUSE: "recorded that the candidate for {task} was refused",
    ItemStep.REPLAN: "made a new lock plan for {task}",
    ItemStep.WRITE: "recorded that the candidate for {task} was written",
    ItemStep.ACCEPT: "accepted the change for {task}",
    ItemStep.REJECT: "rejected the change for {task}",
    ItemStep.GIVE_BACK: "gave {task} back, and the attempt does not count",
    ItemStep.FAIL: "ended an attempt at {task}, which failed",
    ItemStep.EXHAUST: "ended the last attempt at {task}, which failed",
    ItemStep.LAND: "found that {task} has landed",
    ItemStep.CANCEL: "found that {task} was cancelled",
    ItemStep.REOPEN: "found that {task} is open again",
    ItemStep.RECOMMIT: "found that {task} is open again, with a candidate to commit",
    ItemStep.REVALIDATE: "found that {task} is open again, with a change to validate",
}


def _planned(event: RunPlanned, _: Ledger) -> str:
    count = len(event.tasks)
    items = f"{count} item{'' if count == 1 else 's'}"
    return f"added {items} to the run {event.run_id}{': ' if count else ''}{listed(event.tasks, _MOST_KEYS)}"


def _entered(event: EntryAdded, _: Ledger) -> str:
    return f"added {event.entry.branch} to the merge queue of {event.entry.onto}, as {event.entry.id}"


def _session_moved(event: SessionMoved, _: Ledger) -> str:
    wish = event.wish.value if event.wish else "end"
    words = _ATTACHED if event.attached and event.move is SessionMove.CLAIM else _SESSION_MOVED[event.move]
    return f"{words.format(session=event.session_id, wish=wish)} (attempt {event.attempt})"


def _stepped(event: ItemMoved, _: Ledger) -> str:
    words = _STEPPED[event.step].format(task=event.task_id, session=short_name(event.session) if event.session else "")
    return f"{words} (run {event.run_id}, round {event.round})"


_WORDS: Final[Mapping[type[Event], Callable[[Any, Ledger], str]]] = {
    LeaseGranted: _granted,
    LeaseDenied: _denied,
    LeaseQueued: _queued,
    LeaseRenewed: _lease("extended"),
    LeaseReleased: _lease("released"),
    LeaseExpired: _lease("lost"),
    LeaseClaimed: _lease("took"),
    WaiterSeen: lambda event, ledger: f"kept its place in line{_on(event, ledger)}",
    WaiterLeft: _left,
    LeaseBroken: _broken,
    ReleaseAsked: _asked,
    LeaseHandedOver: _handed_over,
    ValuePut: _put,
    WorkLeft: _work_left,
    WorkReviewed: lambda event, _: f"reviewed the work left under the lease {event.lease_id}",
    DebtWaived: lambda event, _: f"closed the debt at {shown_key(event.key)}",
    Committed: _committed,
    CommitRefused: _refused,
    CommitUndone: _undone,
    StateReset: lambda *_: "took a state that had lost events into use again, by force",
    LogCompacted: lambda event, _: (
        f"compacted the log: a snapshot of the state is in place of the events up to {event.last}"
    ),
    TaskAdded: lambda event, _: (
        f"{'proposed' if event.is_proposed else 'added'} the task {event.task.id}: {quoted(event.task.title)}"
    ),
    TaskMoved: _moved,
    RunStarted: lambda event, _: f"began the run {event.run.id}{for_(event.run.goal)}",
    RunPlanned: _planned,
    RunMoved: lambda event, _: f"{_RUN_MOVED[event.move]} {event.run_id}",
    ItemMoved: _stepped,
    EntryAdded: _entered,
    EntryMoved: lambda event, _: _ENTRY_MOVED[event.move].format(entry=event.entry_id),
    SessionQueued: lambda event, _: f"started the session {event.session.id}: {quoted(event.session.title)}",
    SessionMoved: _session_moved,
}
