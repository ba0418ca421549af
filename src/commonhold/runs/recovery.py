"""The default recovery coordinator: an outcome becomes the lock plan of the next candidate, or the end of the attempt.

A refusal that names regions to lease widens the plan; one that cannot name them takes the whole file.
A collision is answered by fresh text first, by leases the second time, and by working alone from then on.
"""

from collections.abc import Mapping
from typing import Final

from commonhold.kernel.keys import canonical
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import CandidateOutcome, ItemRecord, Locking, LockPlan

MOST_REFUSALS: Final = 8
"""How many candidates of one attempt may be refused before the attempt ends."""
_WIDENED: Final[Mapping[Refusal, str]] = {
    Refusal.REQUIRE_ADDITIONAL_LOCKS: "the change reaches these regions too",
    Refusal.ESCALATION_REQUIRED: "the regions that the change reaches are not known: take the whole file",
    Refusal.LEASE_REQUIRED: "a policy of this repository asks for a lease",
}
_COLLISIONS: Final = frozenset(
    {
        *(Refusal.REGION_CHANGED, Refusal.READ_CHANGED, Refusal.CONTRACT_CHANGED, Refusal.VERSION_CHANGED),
        *(Refusal.LOCK_CONFLICT, Refusal.LEASE_LOST, Refusal.DEADLOCK),
    }
)
_LADDER: Final[Mapping[Locking, tuple[Locking, str]]] = {
    Locking.OPTIMISTIC: (Locking.LEASED, "others have changed the same code twice: lease it before reading it"),
    Locking.LEASED: (Locking.SERIAL, "others have changed the same code although it was leased: work alone"),
    Locking.SERIAL: (
        Locking.SERIAL,
        "the code was changed from outside of this run: make a candidate for its new text",
    ),
}


def next_plan(item: ItemRecord) -> LockPlan | None:
    """Return the lock plan for the next candidate of a refused item; None if its attempt should end."""
    if item.refusals >= MOST_REFUSALS:
        return None
    outcome, locks = item.outcome or CandidateOutcome(), item.locks or LockPlan()
    if outcome.code == Refusal.ESCALATION_REQUIRED:
        files = tuple(map(_file_of, outcome.keys or locks.keys))
        return _leased(locks, files, _WIDENED[Refusal.ESCALATION_REQUIRED])
    if outcome.code in _WIDENED:
        return _leased(locks, outcome.keys, _WIDENED[Refusal(outcome.code)])
    if outcome.code in _COLLISIONS:
        return _after_collision(item, outcome, locks)
    return LockPlan(locks.locking, locks.keys, "the candidate itself was refused: correct it")


def _after_collision(item: ItemRecord, outcome: CandidateOutcome, locks: LockPlan) -> LockPlan:
    if item.refusals <= 1 and locks.locking is Locking.OPTIMISTIC:
        return LockPlan(locks.locking, locks.keys, "others have changed the code: make a candidate for its new text")
    locking, why = _LADDER[locks.locking]
    return LockPlan(locking, _joined(locks.keys, outcome.keys), why)


def _leased(locks: LockPlan, keys: tuple[str, ...], why: str) -> LockPlan:
    locking = Locking.SERIAL if locks.locking is Locking.SERIAL else Locking.LEASED
    return LockPlan(locking, _joined(locks.keys, keys), why)


def _joined(keys: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Return both without duplicates, and without regions of a file that is in the list as a whole."""
    both = dict.fromkeys((*keys, *more))
    return tuple(each for each in both if _file_of(each) == each or _file_of(each) not in both)


def _file_of(key: str) -> str:
    """Return the key of the whole file that a region is in; any other key as it is."""
    path, mark, _ = key.partition("#")
    return str(canonical(path)) if mark and key.startswith("file:") else key
