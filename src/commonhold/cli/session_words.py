"""Answers about managed sessions, in words."""

from collections.abc import Iterator, Sequence
from typing import Final

from commonhold.cli.describe import quoted, used, when
from commonhold.cli.output import shown
from commonhold.kernel.entry import EntryRecord, EntryState
from commonhold.kernel.managed_session import (
    EndCause,
    ManagedSessionRecord,
    Sandbox,
    SessionAttempt,
    SessionMove,
    SessionMoved,
    SessionQueued,
    SessionState,
    SessionWish,
)
from commonhold.kernel.run import NOTHING_USED
from commonhold.kernel.texts import duration
from commonhold.sessions.answers import ManagedSessionAnswer, ManagedSessionView

_PAST: Final = {
    SessionMove.CLAIM: "began to run",
    SessionMove.ASK: "was asked to end",
    SessionMove.PAUSE: "paused",
    SessionMove.RESUME: "was resumed",
    SessionMove.FINISH: "ended, for review",
    SessionMove.LOSE: "lost its supervisor, and is queued again",
    SessionMove.FAIL: "failed",
    SessionMove.CANCEL: "was cancelled",
    SessionMove.APPROVE: "was approved",
    SessionMove.DISCARD: "was discarded",
    SessionMove.RETRY: "is queued once more",
}
_DOES: Final = {SessionWish.PAUSE: "is being paused", SessionWish.CANCEL: "is being cancelled"}
_IN_QUEUE: Final = {
    EntryState.QUEUED: "it waits in the merge queue as {id}",
    EntryState.TESTING: "the merge queue tests it as {id}",
    EntryState.LANDED: "the merge queue landed it as {id}",
    EntryState.RETURNED: "the merge queue returned it as {id}",
}
_NEXT: Final = {
    SessionState.QUEUED: "session list",
    SessionState.RUNNING: "session logs -f {id}",
    SessionState.PAUSED: "session resume {id}",
    SessionState.AWAITING_REVIEW: "session review {id}",
    SessionState.FAILED: "session logs {id}",
    SessionState.CANCELLED: "session retry {id}",
}


NONE_AT_ALL: Final = "there is no session: `commonhold session start` begins one"
NONE_OPEN: Final = (
    "no session is open: `commonhold session start` begins one, `commonhold session list --all` shows all"
)
NONE_SUCH: Final = "there is no such session: `commonhold session list --all` shows all"


def listed(found: ManagedSessionAnswer, none: str = NONE_OPEN) -> Iterator[str]:
    """Yield the sessions, a line each; if there are none, the sentence `none`."""
    if not found.sessions:
        yield none
    yield from map(_line, found.sessions)
    if found.has_older:
        yield f"there are older ones: add --before {shown(found.sessions[0].record.id)}"


def to_review(found: Sequence[ManagedSessionView]) -> Iterator[str]:
    """Yield the sessions that await review, a line each."""
    if not found:
        yield "no session awaits review"
    yield from map(_line, found)
    if found:
        yield f"next: commonhold session review {shown(found[0].record.id)}"


def _line(view: ManagedSessionView) -> str:
    record = view.record
    why = f" ({shown(record.note)})" if record.state is SessionState.FAILED else ""
    goes_on = record.state is SessionState.QUEUED or (record.state is SessionState.PAUSED and record.is_due)
    why += f" ({shown(view.why)})" if view.why and goes_on else ""
    why += f" (on {_machine(record)})" if record.session.remote and record.place else ""
    title = shown(record.session.title)
    return f"  {shown(record.id):6} {_state(view):18} {duration(view.age_seconds):>10}  {title}{why}"


def _state(view: ManagedSessionView) -> str:
    record = view.record
    if record.state is SessionState.RUNNING:
        if not view.is_supervised:
            return "lost"
        return _DOES[record.wish] if record.wish else "attached" if record.attached else "running"
    if _is_resuming(record):
        return "resuming"
    if record.state is SessionState.AWAITING_REVIEW and not view.needs_person:
        return "landing"
    return record.state.value.replace("_", " ")


def _is_resuming(record: ManagedSessionRecord) -> bool:
    """Whether it was paused, and goes on with the next free place."""
    return record.state is SessionState.PAUSED and record.is_due and record.due is None


def answered(found: ManagedSessionAnswer) -> Iterator[str]:
    """Yield the answer to a call that starts, shows or changes sessions, with the next step."""
    if found.code is not None:
        yield f"refused [{found.code}]: {shown(found.why)}"
    for each in found.sessions:
        yield from details(each)
        if step := _step(each):
            yield f"next: commonhold {step}"


def _step(view: ManagedSessionView) -> str:
    """Return the words of the next command; empty if there is none."""
    record = view.record
    if view.entry is not None:
        return f"queue show {shown(view.entry.id)}" if view.entry.state is EntryState.RETURNED else "queue list"
    if _is_resuming(record):
        return f"session logs -f {shown(record.id)}"
    if record.cause is EndCause.NOT_STARTED:
        return f"session retry {shown(record.id)}"
    if record.state is SessionState.PAUSED and record.due is not None:
        return "session list"  # it goes on by itself
    return _NEXT.get(record.state, "").format(id=shown(record.id))


def details(view: ManagedSessionView) -> Iterator[str]:
    """Yield a session: its state and where that is known from, its work, and its attempts."""
    record, session = view.record, view.record.session
    why = f" ({shown(record.note)})" if record.note else ""
    age = duration(view.age_seconds)
    # The age is that of the state: a wish does not change it.
    since = f"{age} ago" if record.is_final else f"running for {age}" if record.wish else f"for {age}"
    yield f"{shown(record.id)}: {_state(view)}{';' if record.wish else ''} {since}{why}{quoted(session.title)}"
    if record.state is SessionState.RUNNING:
        yield from _supervision(view)
    if view.why:
        yield f"  {shown(view.why)}"
    if session.remote:
        where = f"runs on {_machine(record)}" if record.place else "any worker may run it: commonhold doctor lists them"
        yield f"  {where}; its work travels through the git remote {shown(session.remote)}"
    branch = f" on {shown(session.branch)}" if session.branch else ""
    yield f"  agent {shown(session.agent)}, from {session.base[:12]}{branch}"
    if session.sandbox is not Sandbox.NONE:
        yield f"  in the sandbox {session.sandbox.value}, {'with' if session.network else 'without'} network"
    if session.task_id:
        yield f"  task {shown(session.task_id)}"
    if record.result is not None:
        is_open = record.result.has_uncommitted and record.state is not SessionState.COMPLETED
        more = ", with uncommitted changes" if is_open else ""
        yield f"  its work: {record.result.snapshot[:12]}{more}" if _has_work(record) else "  it has changed nothing"
    if view.entry is not None:
        yield f"  {_in_queue(view.entry)}"
    elif record.commit and _has_work(record):
        yield f"  its work is part of {shown(session.branch) or 'its repository'}: {shown(record.commit[:12])}"
    yield from _attempts(record)


def _attempts(record: ManagedSessionRecord) -> Iterator[str]:
    """Yield the usage of all attempts, and the attempts."""
    if record.usage != NOTHING_USED:
        yield f"  used: {used(record.usage)}"
    for each in record.attempts:
        yield f"  attempt {each.number}: {_attempt(each)}"


def _supervision(view: ManagedSessionView) -> Iterator[str]:
    if view.record.attached:
        yield f"  {shown(view.record.attached)} works on it at a terminal"
    yield (
        f"  its supervisor renewed its lease, which ends in {duration(view.lease_seconds)}"
        if view.is_supervised
        else "  the lease of its supervisor has ended: it is queued again, or ends, with the next command"
    )


def _has_work(record: ManagedSessionRecord) -> bool:
    return record.result is None or record.result.snapshot != record.session.base


def _in_queue(entry: EntryRecord) -> str:
    """Return the state of the entry of an approved session."""
    commit = f", commit {shown(entry.built[:12])}" if entry.built and entry.state is EntryState.LANDED else ""
    why = f": {shown(entry.note)}" if entry.note and entry.state is EntryState.RETURNED else ""
    return f"{_IN_QUEUE[entry.state].format(id=shown(entry.id))}{commit}{why}"


def _machine(record: ManagedSessionRecord) -> str:
    return shown(record.place.partition(":")[0])


def _attempt(found: SessionAttempt) -> str:
    turns = f"{found.turns} turns, " if found.turns > 1 else ""
    if found.ended_at is None or found.end is None:
        return f"{turns}began {when(found.began_at)}"
    cause = f" [{found.cause.value}]" if found.cause else ""
    return f"{turns}{_PAST[found.end]} {when(found.ended_at)}{cause}{quoted(found.note)}"


def queued(event: SessionQueued) -> str:
    """Tell of a new session."""
    return f"{shown(event.session.id)} for {shown(event.session.agent)}{quoted(event.session.title)}"


def moved(event: SessionMoved) -> str:
    """Tell of a transition of a session."""
    word = f"was asked to {event.wish.value}" if event.wish else _PAST[event.move]
    word = f"goes on at the terminal of {shown(event.attached)}" if event.attached else word
    cause = f" [{event.cause.value}]" if event.cause else ""
    return f"{shown(event.session_id)} {word} (attempt {event.attempt}){cause}{quoted(event.note)}"
