"""The JSON form of answers about tasks."""

from commonhold.api.wire import shapes
from commonhold.api.wire.instants import instant
from commonhold.api.wire.text import Json
from commonhold.kernel.task import Attempt, Result
from commonhold.tasks.agents import Agent
from commonhold.tasks.answers import TaskAnswer, TaskView
from commonhold.tasks.board import Collision, Waiting


def answer(found: TaskAnswer) -> Json:
    """Return the answer to any call about tasks; fields that do not apply are left out."""
    parts: Json = {
        "outcome": found.outcome,
        "code": found.code.value if found.code else None,
        "why": found.why or None,
        "tasks": [view(each) for each in found.tasks],
        "lease": shapes.lease(found.lease) if found.lease else None,
        "collisions": [collision(each) for each in found.collisions],
        "waiting": [waiting(each) for each in found.waiting],
        "instead": found.instead or None,
        "others": list(found.others),
        "unchanged": list(found.unchanged),
        "circle": list(found.circle),
        "partial_work": [shapes.work(each) for each in found.works],
        "changes": [shapes.change(each) for each in found.changes],
        "agents": [agent(each) for each in found.agents],
        "next": shapes.next_call(found.next) if found.next else None,
    }
    return {name: part for name, part in parts.items() if name in ("outcome", "tasks") or part}


def view(found: TaskView) -> Json:
    """Return a task. `condition` is its state with ready, blocked, reserved and stranded told apart."""
    record = found.record
    task = record.task
    return {
        "id": task.id,
        "title": task.title,
        "intent": task.intent,
        "condition": found.condition.value,
        "state": record.state.value,
        "why": found.why,
        "late": found.is_late,
        "age_seconds": round(found.age_seconds, 3),
        "keys": list(task.keys),
        "predicted_keys": list(task.predicted_keys),
        "needs": list(task.needs),
        "priority": task.priority,
        "deadline": None if task.deadline_at is None else instant(task.deadline_at),
        "estimate_seconds": task.estimate_seconds,
        "labels": list(task.labels),
        "for": list(task.takers),
        "requires": list(task.requires),
        "target": task.target,
        "checks": list(task.checks),
        "attempt": record.attempt,
        "tries": record.tries,
        "most_attempts": task.most_attempts,
        "holder": record.holder or None,
        "lease_id": record.lease_id or None,
        "fence": record.fence or None,
        "result": _result(record.result) if record.result else None,
        "note": record.note,
        "added_by": record.added_by,
        "added_at": instant(record.added_at),
        "attempts": [_attempt(each) for each in record.attempts],
    }


def agent(found: Agent) -> Json:
    """Return a session; `best` is the task that it would get by a claim, null if all collide with others' work."""
    return {
        "holder": found.holder,
        "state": found.state.value,
        "tasks": list(found.tasks),
        "can_take": found.can_take,
        "best": found.best or None,
        "can": list(found.can),
        "barred": [waiting(each) for each in found.barred],
    }


def waiting(found: Waiting) -> Json:
    """Return a task that cannot be claimed, with the reason."""
    return {"id": found.task_id, "title": found.title, "why": found.why}


def collision(found: Collision) -> Json:
    """Return a use of a task's key by another session; `task` is null for a plain lease."""
    return {
        "key": found.key,
        "with": found.other_key,
        "holder": found.holder,
        "task": found.task_id or None,
        "doing": found.doing,
        "expires_at": instant(found.expires_at),
    }


def _result(found: Result) -> Json:
    return {"commit": found.commit or None, "admitted": list(found.admitted)}


def _attempt(found: Attempt) -> Json:
    return {
        "number": found.number,
        "holder": found.holder,
        "began_at": instant(found.began_at),
        "ended_at": None if found.ended_at is None else instant(found.ended_at),
        "end": found.end.value if found.end else None,
        "note": found.note,
    }
