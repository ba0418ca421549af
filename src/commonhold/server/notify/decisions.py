"""Which events need a decision of a person."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from commonhold.kernel.entry import EntryMove, EntryMoved
from commonhold.kernel.events import Recorded, WorkLeft
from commonhold.kernel.managed_session import SessionMove, SessionMoved
from commonhold.kernel.run import RunMove, RunMoved
from commonhold.kernel.task import Move, TaskAdded, TaskMoved
from commonhold.machine.secrets import masked

_MOST_KEYS: Final = 5


class Kind(StrEnum):
    """The kinds of decisions."""

    PARTIAL_WORK = "partial_work"
    TASK_PROPOSED = "task_proposed"
    TASK_FAILED = "task_failed"
    RUN_FAILED = "run_failed"
    ENTRY_RETURNED = "entry_returned"
    LANDING_HELD = "landing_held"
    SESSION_REVIEW = "session_review"
    SESSION_FAILED = "session_failed"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that waits for a person: since which event, of whose work, why, and the command to begin with."""

    kind: Kind
    sequence: int
    at: float
    holder: str
    subject: str
    why: str
    next: str


def decision_of(recorded: Recorded) -> Decision | None:
    """Return the decision that an event asks of a person; None for most events. Secrets are masked by their form."""
    match recorded.event:
        case WorkLeft(holder, subject, changes) if changes:
            more = f" and {len(changes) - _MOST_KEYS} more" if len(changes) > _MOST_KEYS else ""
            keys = ", ".join(each.key for each in changes[:_MOST_KEYS])
            kind, call = Kind.PARTIAL_WORK, f"commonhold review show {subject}"
            why = f"its lease ended with unfinished changes: {keys}{more}"
        case TaskAdded(holder, task, is_proposed=True):
            subject = task.id
            kind, call = Kind.TASK_PROPOSED, f"commonhold task accept {subject}"
            why = f"it waits to be accepted: {task.title}"
        case TaskMoved(holder, subject, Move.EXHAUST, attempt, note):
            kind, call = Kind.TASK_FAILED, f"commonhold task show {subject}"
            why = f"attempt {attempt} was the last: {note or 'no reason was given'}"
        case RunMoved(holder, subject, RunMove.FAIL, note):
            kind, call = Kind.RUN_FAILED, f"commonhold run show {subject}"
            why = note or "some of its items cannot go on"
        case EntryMoved(holder, subject, EntryMove.REFUSE, why):
            kind, call = Kind.ENTRY_RETURNED, f"commonhold queue show {subject}"
        case EntryMoved(holder, subject, EntryMove.APPROVE, why) if why:
            kind, call = Kind.LANDING_HELD, "commonhold queue list"
        case EntryMoved(holder, subject, EntryMove.REQUEUE, why, held_at=head) if head:
            kind, call = Kind.LANDING_HELD, "commonhold queue list"
        case SessionMoved(holder, subject, SessionMove.FINISH, attempt, note):
            kind, call = Kind.SESSION_REVIEW, f"commonhold session review {subject}"
            why = f"its work waits for your approval, in attempt {attempt}{f': {note}' if note else ''}"
        case SessionMoved(holder, subject, SessionMove.FAIL, attempt, note):
            kind, call = Kind.SESSION_FAILED, f"commonhold session logs {subject}"
            why = f"attempt {attempt} has failed: {note or 'no reason was given'}"
        case _:
            return None
    return Decision(kind, recorded.sequence, recorded.at, masked(holder), subject, masked(why), call)
