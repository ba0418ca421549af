"""The way of a session's work through the merge queue, where it `lands` without a review. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto

from commonhold.kernel.entry import EntryRecord, EntryState
from commonhold.kernel.managed_session import ManagedSessionRecord


class LandingMove(Enum):
    """The next step: ENQUEUE its work, WAIT for the queue, APPROVE landed work, RETRY returned work.

    STOP: a person must decide.
    """

    ENQUEUE = auto()
    WAIT = auto()
    APPROVE = auto()
    RETRY = auto()
    STOP = auto()


@dataclass(frozen=True, slots=True)
class LandingStep:
    """The next step of a session that has finished, the reason, and the entry of its present work if it has one."""

    move: LandingMove
    why: str
    entry: EntryRecord | None = None


def landing_step(record: ManagedSessionRecord, entries: Collection[EntryRecord]) -> LandingStep:
    """Return the next step of a session that `is_landing`; `entries` has all that were added for it."""
    own = sorted((each for each in entries if each.entry.session == record.id), key=lambda each: each.number)
    tip = record.result.tip if record.result else ""
    if tip == record.session.base:
        return LandingStep(LandingMove.APPROVE, "it has changed nothing")
    entry = next((each for each in reversed(own) if each.entry.commit == tip), None)
    if entry is None:
        return LandingStep(LandingMove.ENQUEUE, "it enters the merge queue")
    if entry.state is EntryState.LANDED:
        return LandingStep(LandingMove.APPROVE, f"it has landed as {entry.id}", entry)
    if entry.state is not EntryState.RETURNED:
        return LandingStep(LandingMove.WAIT, f"it waits in the merge queue as {entry.id}", entry)
    times = sum(each.packet is not None for each in own)
    if entry.packet is not None and times < record.session.most_attempts:
        return LandingStep(LandingMove.RETRY, f"the merge queue returned it as {entry.id}", entry)
    why = f"the merge queue returned it {times} times, the last time as {entry.id}"
    return LandingStep(
        LandingMove.STOP, why if entry.packet else f"its entry {entry.id} was removed from the merge queue", entry
    )
