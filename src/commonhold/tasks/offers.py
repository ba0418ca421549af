"""The choice of the best task for an agent.

The order is lexicographic, and each rule decides only among tasks that are equal by those before it:

1. a task of this session that was refused at landing, and is reserved for it;
2. tasks whose keys are free, before tasks that would collide with running work (those are the last resort);
3. tasks at which this session has not failed before;
4. tasks that must begin now to meet their deadline, or a deadline of a task that needs them;
5. the higher priority, which grows by one for each `AGEING_SECONDS` of waiting, so that no task starves;
6. the longer chain of work that begins with it, then the larger task: both shorten the whole plan, and they
   balance the load, since the small tasks are left to fill the gaps at the end;
7. the older task.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.clock import Now
from commonhold.kernel.task import Move, TaskRecord, TaskState
from commonhold.tasks.board import Board, Collision, Running, is_reserved, unmet
from commonhold.tasks.needs import chains, estimate, latest_starts

AGEING_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Offer:
    """A task that a session can claim now, and the uses of its keys that it would collide with."""

    record: TaskRecord
    collisions: tuple[Collision, ...]


class Offers:
    """The offers of one board at one time. The part that is the same for all sessions is computed once."""

    def __init__(self, board: Board, now: Now) -> None:
        """Prepare the offers from `board` at `now`."""
        self._board = board
        self._now = now
        self._running = Running(board, now)
        self._longest, self._latest = chains(board.tasks), latest_starts(board.tasks)

    def to(self, holder: str, *, labels: Iterable[str] = ()) -> list[Offer]:
        """Return the tasks that a session can claim, the best first. With `labels`, only tasks that have all."""
        wanted = frozenset(labels)
        found = [
            Offer(record, self._running.collisions(record, holder))
            for record in self._board.tasks.values()
            if wanted <= set(record.task.labels)
            and can_claim(record, self._board, holder, self._now)
            and not self._running.is_leased(record, holder)
        ]
        return sorted(found, key=lambda offer: self._rank(offer, holder))

    def _rank(self, offer: Offer, holder: str) -> tuple[object, ...]:
        record, now = offer.record, self._now
        # Deadlines and ages are times of people, so the wall clock counts; no guarantee depends on them.
        waited = max(0.0, now.wall - record.added_at)
        return (
            not is_reserved(record, now),
            bool(offer.collisions),
            any(not collision.task_id for collision in offer.collisions),
            _has_failed_here(record, holder),
            self._latest[record.id] > now.wall,
            -(record.task.priority + int(waited / AGEING_SECONDS)),
            -self._longest[record.id],
            -estimate(record),
            record.number,
        )


def offers(board: Board, holder: str, now: Now, *, labels: Iterable[str] = ()) -> list[Offer]:
    """Return the tasks that one session can claim at `now`, as `Offers.to`."""
    return Offers(board, now).to(holder, labels=labels)


def _has_failed_here(record: TaskRecord, holder: str) -> bool:
    return any(each.holder == holder and each.end in (Move.RETURN, Move.EXHAUST) for each in record.attempts)


def can_claim(record: TaskRecord, board: Board, holder: str, now: Now) -> bool:
    """Whether a task is open, its needs have landed, and this session may take it."""
    return (
        record.state is TaskState.OPEN
        and not board.capabilities.why_barred(record.task, holder)
        and not (is_reserved(record, now) and record.reserved_for != holder)
        and not unmet(record, board.tasks)
    )
