"""The JSON forms of claims of tasks through git."""

from collections.abc import Sequence

from commonhold.api.wire.text import Json, sound
from commonhold.tasks.claim_files import Lock, lock_path
from commonhold.tasks.claiming import Changed, Claimed, Lost, NothingToClaim
from commonhold.tasks.claims import Standing


def claimed(found: Claimed | NothingToClaim) -> Json:
    """The answer to a claim; `tasks` say why none could be claimed."""
    if isinstance(found, NothingToClaim):
        return {"outcome": "denied", "tasks": [standing(each) for each in found.standings]}
    return {
        "outcome": "granted",
        "new": found.is_new,
        "task": found.lock.task,
        "title": sound(found.standing.task.title),
        "taken_over_from": sound(found.was) or None,
        "lock": lock(found.lock),
    }


def changed(found: Changed | Lost) -> Json:
    """The answer to a heartbeat, a release or a completion; of a lost claim the lock that is there now."""
    if isinstance(found, Lost):
        return {"outcome": "lost", "code": "LEASE_LOST", "task": found.task, "lock": found.now and lock(found.now)}
    return {"outcome": found.action, "task": found.lock.task, "lock": lock(found.lock)}


def standings(found: Sequence[Standing]) -> Json:
    """All tasks."""
    return {"tasks": [standing(each) for each in found]}


def standing(found: Standing) -> Json:
    """A task with its state; `unchanged_seconds` is how long this clone has seen its lock as it is."""
    return {
        "task": found.task.name,
        "title": sound(found.task.title),
        "state": found.state.value,
        "why": sound(found.why),
        "needs": list(found.task.needs),
        "priority": found.task.priority,
        "lock": lock(found.lock) if found.lock else None,
        "unchanged_seconds": round(found.unchanged_seconds, 3),
    }


def lock(held: Lock) -> Json:
    """A lock; `claim` is empty and `fence` 0 if a script wrote it."""
    return {
        "path": lock_path(held.task),
        "agent": sound(held.agent),
        "claimed": sound(held.claimed),
        "claim": sound(held.claim),
        "fence": held.fence,
        "ttl_seconds": held.ttl_seconds,
        "heartbeat": held.heartbeat,
    }
