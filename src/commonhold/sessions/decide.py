"""Decisions on managed sessions: `decide(table, command, now)` gives the outcome and the events that make it so.

A running session is held by a lease on `session:ID`, so a claim contains a decision on leases, in one transaction. A
lease ends by itself when the supervisor dies; the next command on any session then notes the loss, before anything
else is decided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from commonhold.kernel import commands as leases
from commonhold.kernel.clock import Now, deadline
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Event
from commonhold.kernel.keys import canonical
from commonhold.kernel.managed_session import (
    EndCause,
    ManagedSessionRecord,
    SessionMove,
    SessionMoved,
    SessionQueued,
    SessionState,
    SessionWish,
    moved_session,
    queued_session,
)
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.kernel.refusals import Refusal
from commonhold.sessions.choice import free_slot, is_ready, next_session, places_of
from commonhold.sessions.commands import (
    AttachSession,
    ChangeSession,
    ClaimSession,
    NoSession,
    ReportSession,
    SessionAction,
    SessionChanged,
    SessionClaimed,
    SessionCommand,
    SessionOutcome,
    SessionRefused,
    SessionsSettled,
    SettleSessions,
    StartSession,
)
from commonhold.sessions.quotas import why_no_room
from commonhold.sessions.task_claims import claim_task, end_claim, follow_review
from commonhold.tasks.board import Board
from commonhold.tasks.turn import TaskTurn

ENGINE: Final = "commonhold:sessions"
"""The holder under which a daemon or a worker claims sessions for supervisors."""
LONGEST_BACKOFF_SECONDS: Final = 60.0
_REPORTED: Final = frozenset({SessionMove.PAUSE, SessionMove.FINISH, SessionMove.FAIL, SessionMove.CANCEL})


@dataclass(frozen=True, slots=True)
class SessionTable:
    """The state that a decision on sessions needs.

    `sessions` contains, by id, all that are not final and those that the command names; `served` the sequence of the
    last claim by tenant. `board` has all leases, and the tasks of these sessions.
    """

    sessions: Mapping[str, ManagedSessionRecord]
    served: Mapping[str, int]
    board: Board


@dataclass(frozen=True, slots=True)
class SessionDecision:
    """An outcome, and the events that must be recorded with it in one transaction."""

    outcome: SessionOutcome
    events: tuple[Event, ...]


def session_key(session_id: str) -> str:
    """Return the text of the key on which the supervision of a session is a lease."""
    return f"session:{session_id}"


def supervisor_of(session_id: str) -> str:
    """Return the holder of that lease."""
    return f"supervisor:{session_id}"


def unknown(session_id: str) -> InputError:
    """Return the error for a session that does not exist."""
    return InputError(
        Code.SESSION_UNKNOWN,
        f"there is no session {session_id!r}",
        hint="`commonhold session list --all` shows every session",
        fields={"session": session_id},
    )


def decide(table: SessionTable, command: SessionCommand, now: Now) -> SessionDecision:
    """Answer one command. Lost supervisors are noted first, even if it is refused.

    Raises InputError `SESSION_UNKNOWN`, and `TASK_UNKNOWN` for a session of a task that does not exist.
    """
    turn = _Turn(table, now)
    lost = turn.settle()
    settled = len(turn.events)
    if isinstance(command, SettleSessions):
        outcome: SessionOutcome = SessionsSettled(lost)
    else:
        outcome = _DECISIONS[type(command)](turn, command)
    if isinstance(outcome, NoSession | SessionRefused):
        return SessionDecision(outcome, tuple(turn.events[:settled]))
    return SessionDecision(outcome, tuple(turn.events))


class _Turn:
    """A decision in progress: the sessions as changed so far, and the events that changed them."""

    def __init__(self, table: SessionTable, now: Now) -> None:
        self.now = now
        self.tasks = TaskTurn(table.board, now)
        self.sessions = dict(table.sessions)
        self.served = table.served
        self._leases = table.board.leases.leases

    @property
    def events(self) -> list[Event]:
        return self.tasks.events

    def named(self, session_id: str) -> ManagedSessionRecord:
        if session_id not in self.sessions:
            raise unknown(session_id)
        return self.sessions[session_id]

    def start(self, event: SessionQueued) -> ManagedSessionRecord:
        record = queued_session(event, self.tasks.next_sequence, self.now.wall)
        self.sessions[record.id] = record
        self.events.append(event)
        return record

    def move(self, record: ManagedSessionRecord, event: SessionMoved) -> ManagedSessionRecord:
        moved = moved_session(record, event, self.tasks.next_sequence, self.now.wall)
        self.sessions[record.id] = moved
        self.events.append(event)
        return moved

    def is_held(self, record: ManagedSessionRecord) -> bool:
        return any(each.id == record.lease_id and each.is_live(self.now) for each in self._leases)

    def settle(self) -> tuple[str, ...]:
        """Note the running sessions whose leases have ended. Return their ids."""
        lost = [
            each for each in self.sessions.values() if each.state is SessionState.RUNNING and not self.is_held(each)
        ]
        for record in lost:
            why = f"its supervisor was lost (attempt {record.tries} of {record.session.most_attempts})"
            event = SessionMoved(
                supervisor_of(record.id), record.id, SessionMove.LOSE, record.attempt, why, EndCause.LOST
            )
            if record.wish is SessionWish.CANCEL:
                event = replace(event, move=SessionMove.CANCEL, note=record.note, cause=EndCause.ASKED)
            elif record.tries >= record.session.most_attempts:
                event = replace(event, move=SessionMove.FAIL)
            else:
                pause = min(LONGEST_BACKOFF_SECONDS, 2.0 ** (record.tries - 1))
                event = replace(event, due=deadline(self.now, pause))
            end_claim(self.tasks, record, event)
            self.move(record, event)
        return tuple(each.id for each in lost)


def _start(turn: _Turn, command: StartSession) -> SessionChanged:
    session = replace(command.session, id=f"s{turn.tasks.next_sequence}")
    if session.task_id:
        turn.tasks.named(session.task_id)
    return SessionChanged(turn.start(SessionQueued(command.holder, session)))


def _claim(turn: _Turn, command: ClaimSession) -> SessionClaimed | NoSession:
    turn.tasks.settle()
    places = places_of(command.place, takes_any=command.takes_any)
    found = next_session(turn.sessions.values(), turn.served, places, command.limits, turn.now, turn.tasks.board)
    if isinstance(found, str):
        return NoSession(found)
    is_going_on = found.state is SessionState.PAUSED
    event = SessionMoved(
        command.holder,
        found.id,
        SessionMove.CLAIM,
        found.attempt if is_going_on else found.attempt + 1,
        lease_id=command.lease_id,
        place=command.place,
        base="" if is_going_on else _base(turn, found, command.tips),
    )
    claimed = _claimed(turn, found, event, command.ttl_seconds)
    return NoSession(claimed) if isinstance(claimed, str) else claimed


def _claimed(
    turn: _Turn, record: ManagedSessionRecord, event: SessionMoved, ttl_seconds: float
) -> SessionClaimed | str:
    """Claim a session, its task and the lease of its supervisor. Return why that cannot be done, as a clause."""
    lease_id = event.lease_id or ""
    if not claim_task(turn.tasks, record, lease_id, attached=event.attached):
        return f"the task {record.session.task_id} was claimed by another"
    keys = (canonical(session_key(record.id)),)
    holder, purpose = supervisor_of(record.id), f"supervises {record.id}"
    outcome = turn.tasks.lease(leases.Acquire(lease_id, lease_id, holder, purpose, keys, Mode.EXCLUSIVE, ttl_seconds))
    if not isinstance(outcome, Granted):
        return f"{session_key(record.id)} is leased by another"
    slot = free_slot(turn.sessions.values(), event.place)
    return SessionClaimed(turn.move(record, replace(event, fence=outcome.lease.fence, slot=slot)), outcome.lease)


def _attach(turn: _Turn, command: AttachSession) -> SessionClaimed | SessionRefused:
    turn.tasks.settle()
    record = turn.named(command.session_id)
    why = _why_not_attached(turn, record, command)
    if not why:
        event = SessionMoved(
            command.holder,
            record.id,
            SessionMove.CLAIM,
            record.attempt,
            lease_id=command.lease_id,
            place=command.place,
            attached=command.holder,
        )
        claimed = _claimed(turn, record, event, command.ttl_seconds)
        if isinstance(claimed, SessionClaimed):
            return claimed
        why = claimed
    return SessionRefused(Refusal.SESSION_CHANGED, why, record)


def _why_not_attached(turn: _Turn, record: ManagedSessionRecord, command: AttachSession) -> str:
    """Return why a person cannot take a session over now; empty if that is possible."""
    if record.attempt != command.attempt:
        return _moved_on(record)
    if record.attached:
        return f"{record.attached} is attached to {record.id}"
    if record.state is not SessionState.PAUSED:
        return f"{record.id} is {record.state.value.replace('_', ' ')}, and a person can attach to a paused one only"
    if is_ready(record, turn.now):
        return f"{record.id} was resumed: it goes on without a terminal as soon as there is room"
    if record.place != command.place:
        return f"the workspace of {record.id} is at {record.place}: attach there"
    return why_no_room(record.session, turn.sessions.values(), command.quotas)


def _moved_on(record: ManagedSessionRecord) -> str:
    return f"{record.id} has moved on since: it is {record.state.value}, in attempt {record.attempt}"


def _base(turn: _Turn, record: ManagedSessionRecord, tips: Mapping[str, str]) -> str:
    """Return the commit to start from where that is not its own base: that may lack the work of others.

    Its task needs theirs, or the merge queue has returned work of the session that was made without it.
    """
    session = record.session
    task = turn.tasks.tasks.get(session.task_id)
    lacks = (task is not None and task.task.needs) or (session.lands and record.attempts)
    return tips.get(session.branch, "") if lacks and not session.remote else ""


def _report(turn: _Turn, command: ReportSession) -> SessionChanged | SessionRefused:
    record, report = turn.named(command.session_id), command.report
    if (record.attempt, record.fence) != (command.attempt, command.fence) or not record.fence:
        return SessionRefused(Refusal.SESSION_TAKEN, f"{record.id} is not under the fence {command.fence}", record)
    if report.move not in _REPORTED:
        why = f"a supervisor does not {report.move.value} a session"
        return SessionRefused(Refusal.SESSION_CHANGED, why, record)
    # A person who has asked for a pause resumes it, too.
    is_to_wait = report.wait_seconds is None or record.wish is SessionWish.PAUSE
    event = SessionMoved(
        command.holder,
        record.id,
        report.move,
        record.attempt,
        report.note,
        report.cause,
        report.status,
        report.result,
        due=None if is_to_wait else deadline(turn.now, report.wait_seconds or 0.0),
        usage=report.usage,
    )
    if record.wish is SessionWish.CANCEL:
        event = replace(event, move=SessionMove.CANCEL, note=record.note, cause=EndCause.ASKED, due=None)
    turn.tasks.lease(leases.Release(record.lease_id, supervisor_of(record.id)))
    end_claim(turn.tasks, record, event)
    return SessionChanged(turn.move(record, event))


def _change(turn: _Turn, command: ChangeSession) -> SessionChanged | SessionRefused:
    record = turn.named(command.session_id)
    move = SessionMove(command.action.value)
    if command.attempt is not None and command.attempt != record.attempt:
        return SessionRefused(Refusal.SESSION_CHANGED, _moved_on(record), record)
    if not record.can(move):
        why = f"{record.id} is {record.state.value.replace('_', ' ')}, so there is nothing to {move.value}"
        return SessionRefused(Refusal.SESSION_CHANGED, why, record)
    event = SessionMoved(command.holder, record.id, move, record.attempt, command.note)
    if record.state is SessionState.RUNNING:
        wish = SessionWish(command.action.value)
        if record.wish is SessionWish.CANCEL:
            return SessionRefused(Refusal.SESSION_CHANGED, f"{record.id} is being cancelled already", record)
        return SessionChanged(turn.move(record, replace(event, move=SessionMove.ASK, wish=wish)))
    cause = EndCause.ASKED if command.action in (SessionAction.CANCEL, SessionAction.DISCARD) else None
    event = replace(event, cause=cause, task=command.task, commit=command.commit)
    if record.state is SessionState.AWAITING_REVIEW:
        follow_review(turn.tasks, record, event)
    return SessionChanged(turn.move(record, event))


_DECISIONS: Final[Mapping[type[Any], Callable[[_Turn, Any], SessionOutcome]]] = {
    StartSession: _start,
    ClaimSession: _claim,
    AttachSession: _attach,
    ReportSession: _report,
    ChangeSession: _change,
}
