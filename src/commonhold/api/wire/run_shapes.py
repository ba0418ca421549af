"""The JSON form of answers about runs."""

from commonhold.api.wire import shapes
from commonhold.api.wire.instants import instant
from commonhold.api.wire.text import Json
from commonhold.kernel.run import LockPlan, TokenUsage
from commonhold.runs.answers import ItemView, RunAnswer, RunView


def answer(found: RunAnswer) -> Json:
    """Return the answer to any call about runs; fields that do not apply are left out."""
    parts: Json = {
        "outcome": found.outcome,
        "code": found.code.value if found.code else None,
        "why": found.why or None,
        "runs": [view(each) for each in found.runs],
        "item": item(found.item) if found.item else None,
        "over": found.is_over,
        "waiting": [{"id": each.task_id, "title": each.title, "why": each.why} for each in found.waiting],
        "tasks": list(found.tasks),
        "retry_after_seconds": found.retry_after_seconds,
        "next": shapes.next_call(found.next) if found.next else None,
    }
    return {name: part for name, part in parts.items() if name in ("outcome", "runs") or part}


def view(found: RunView) -> Json:
    """Return a run with its items; `coordinated` is true while a process holds the lease on it."""
    record = found.run
    return {
        "id": record.id,
        "goal": record.run.goal,
        "state": record.state.value,
        "note": record.note,
        "checks": list(record.run.checks),
        "isolated": record.run.isolated,
        "coordinator": record.holder,
        "coordinated": found.is_coordinated,
        "fence": record.fence or None,
        "started_by": record.started_by,
        "started_at": instant(record.started_at),
        "since": instant(record.since),
        "usage": usage(total_usage(found)),
        "items": [item(each) for each in found.items],
    }


def total_usage(found: RunView) -> TokenUsage:
    """Return the usage of the planner and of all calls about the items."""
    return sum((each.item.usage for each in found.items), found.run.usage)


def item(found: ItemView) -> Json:
    """Return a work item. The texts of its candidate and of the answer to it are in `commonhold log --json`."""
    record, task = found.item, found.task
    outcome = record.outcome
    return {
        "task": record.task_id,
        "title": task.task.title,
        "state": record.state.value,
        "why": found.why or None,
        "note": record.note,
        "round": record.round,
        "refusals": record.refusals,
        "failure": record.failure or None,
        "session": record.session or None,
        "attempt": task.attempt,
        "tries": task.tries,
        "locks": _locks(record.locks) if record.locks else None,
        "outcome": {"code": outcome.code or None, "why": outcome.why, "keys": list(outcome.keys)} if outcome else None,
        "admitted": list(record.admitted),
        "usage": usage(record.usage),
        "repair_usage": usage(record.repair_usage),
        "messages": [{"to": each.to.value, "by": each.by.value, "text": each.text} for each in record.messages],
        "since": instant(record.since),
    }


def usage(found: TokenUsage) -> Json:
    """Return tokens and cost; tokens from a cache only where there are some."""
    shape: Json = {"tokens_in": found.tokens_in, "tokens_out": found.tokens_out, "cost": round(found.cost, 6)}
    return {**shape, "tokens_cached": found.tokens_cached} if found.tokens_cached else shape


def _locks(found: LockPlan) -> Json:
    return {"locking": found.locking.value, "keys": list(found.keys), "why": found.why}
