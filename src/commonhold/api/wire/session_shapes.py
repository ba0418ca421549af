"""The JSON form of answers about managed sessions."""

from commonhold.api.wire import shapes
from commonhold.api.wire.instants import instant
from commonhold.api.wire.run_shapes import usage
from commonhold.api.wire.text import Json
from commonhold.kernel.managed_session import SessionAttempt, SessionResult
from commonhold.kernel.run import NOTHING_USED, TokenUsage
from commonhold.sessions.answers import ManagedSessionAnswer, ManagedSessionView


def answer(found: ManagedSessionAnswer) -> Json:
    """Return the answer to any call about managed sessions; fields that do not apply are left out."""
    parts: Json = {
        "outcome": found.outcome,
        "code": found.code.value if found.code else None,
        "why": found.why or None,
        "sessions": [view(each) for each in found.sessions],
        "next": shapes.next_call(found.next) if found.next else None,
    }
    return {name: part for name, part in parts.items() if name in ("outcome", "sessions") or part}


def listed(found: ManagedSessionAnswer) -> Json:
    """Return a list of managed sessions, and whether there are older ones."""
    return {**answer(found), "has_older": found.has_older}


def view(found: ManagedSessionView) -> Json:
    """Return a session; `supervised` is true while the lease of its supervisor is live."""
    record = found.record
    session = record.session
    return {
        "id": record.id,
        "state": record.state.value,
        "wish": record.wish.value if record.wish else None,
        "note": record.note,
        "cause": record.cause.value if record.cause else None,
        "status": record.status,
        "waits": found.why or None,
        "needs_person": found.needs_person,
        "task": session.task,
        "task_id": session.task_id or None,
        "agent": session.agent,
        "base": session.base,
        "branch": session.branch or None,
        "setup": session.setup or None,
        "teardown": session.teardown or None,
        "checks": list(session.checks),
        "priority": session.priority,
        "tenant": session.tenant or None,
        "sandbox": session.sandbox.value,
        "network": session.network,
        "exposed": list(session.exposed),
        "memory_bytes": session.memory_bytes or None,
        "cpus": session.cpus or None,
        "remote": session.remote or None,
        "lands": session.lands,
        "place": record.place or None,
        "timeout_seconds": session.timeout_seconds,
        "silence_seconds": session.silence_seconds,
        "attempt": record.attempt,
        "tries": record.tries,
        "most_attempts": session.most_attempts,
        "fence": record.fence or None,
        "attached": record.attached or None,
        "supervised": found.is_supervised,
        "lease_seconds": round(found.lease_seconds, 1),
        "started_by": record.started_by,
        "started_at": instant(record.started_at),
        "since": instant(record.since),
        "age_seconds": round(found.age_seconds, 1),
        "result": _result(record.result),
        "commit": record.commit or None,
        "entry": found.entry.id if found.entry else None,
        "usage": _usage(record.usage),
        "attempts": [_attempt(each) for each in record.attempts],
    }


def _attempt(found: SessionAttempt) -> Json:
    return {
        "number": found.number,
        "turns": found.turns,
        "began_at": instant(found.began_at),
        "ended_at": None if found.ended_at is None else instant(found.ended_at),
        "end": found.end.value if found.end else None,
        "cause": found.cause.value if found.cause else None,
        "status": found.status,
        "note": found.note,
        "place": found.place or None,
        "result": _result(found.result),
        "usage": _usage(found.usage),
    }


def _usage(found: TokenUsage) -> Json | None:
    return None if found == NOTHING_USED else usage(found)


def _result(found: SessionResult | None) -> Json | None:
    return None if found is None else {"tip": found.tip, "snapshot": found.snapshot}
