"""The sessions that work on tasks, and what each is doing: derived from the board and from who is present."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from commonhold.kernel.clock import Now
from commonhold.kernel.presence import Presence
from commonhold.kernel.task import Move, TaskState
from commonhold.tasks.board import Board, Condition, Waiting, condition
from commonhold.tasks.offers import Offers


class AgentState(StrEnum):
    """The state of a session: BUSY holds a claim, IDLE is present without one, GONE lost its claim and is not there."""

    IDLE = "idle"
    BUSY = "busy"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Agent:
    """A session, by its full name. `tasks` are the ids of its claims, or, if it is gone, of those that it lost.

    For an idle session, `can_take` counts the tasks that it could claim now, and `best` is the one that it would get;
    empty if all of them would collide with others' work. Without one, `barred` are the ready tasks that are not for
    it, with the reasons. `can` are its capabilities.
    """

    holder: str
    state: AgentState
    tasks: tuple[str, ...] = ()
    can_take: int = 0
    best: str = ""
    can: tuple[str, ...] = ()
    barred: tuple[Waiting, ...] = ()


def agents_of(board: Board, presences: Iterable[Presence], now: Now) -> tuple[Agent, ...]:
    """Return the sessions that are present, hold a claim or a lease, or lost a claim on an open task; by name."""
    claims: dict[str, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for record in board.tasks.values():
        last = record.attempts[-1] if record.attempts else None
        if record.state is TaskState.CLAIMED:
            claims.setdefault(record.holder, []).append(record.id)
        elif record.state is TaskState.OPEN and last and last.end is Move.RETURN and last.holder:
            lost.setdefault(last.holder, []).append(record.id)
    present = {each.holder for each in presences} | {
        lease.holder for lease in board.leases.leases if lease.is_live(now)
    }
    open_tasks = Offers(board, now)
    ready = [each for each in board.tasks.values() if condition(each, board.tasks, now) is Condition.READY]
    found = []
    for holder in sorted({*claims, *lost, *present}):
        can = tuple(sorted(board.capabilities.of(holder)))
        if holder in claims:
            found.append(Agent(holder, AgentState.BUSY, tuple(claims[holder]), can=can))
        elif holder not in present:
            found.append(Agent(holder, AgentState.GONE, tuple(lost[holder]), can=can))
        else:
            offered = open_tasks.to(holder)
            best = next((offer.record.id for offer in offered if not offer.collisions), "")
            reasons = ((each, board.capabilities.why_barred(each.task, holder)) for each in ready)
            barred = tuple(Waiting(each.id, each.task.title, why) for each, why in reasons if why and not best)
            found.append(Agent(holder, AgentState.IDLE, (), len(offered), best, can, barred))
    return tuple(found)
