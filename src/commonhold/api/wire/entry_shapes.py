"""The JSON form of answers about the merge queue."""

from commonhold.api.wire import shapes
from commonhold.api.wire.instants import instant
from commonhold.api.wire.text import Json
from commonhold.kernel.entry import EntryRecord, RepairConflict, RepairPacket
from commonhold.landing.answers import EntryAnswer, EntryView, QueueView
from commonhold.landing.order import Prediction


def answer(found: EntryAnswer) -> Json:
    """Return the answer to any call about entries; fields that do not apply are left out."""
    parts: Json = {
        "outcome": found.outcome,
        "code": found.code.value if found.code else None,
        "why": found.why or None,
        "entries": [view(each) for each in found.entries],
        "queues": [queue(each) for each in found.queues],
        "next": shapes.next_call(found.next) if found.next else None,
        "has_older": found.has_older,
    }
    return {name: part for name, part in parts.items() if name in ("outcome", "entries") or part}


def view(found: EntryView) -> Json:
    """Return an entry; `missing` is true if it has landed and the branch was reset since, `waits` says why it waits."""
    return {**entry(found.record), "missing": found.is_missing, "waits": found.why or None}


def entry(record: EntryRecord) -> Json:
    """Return the record of an entry."""
    given = record.entry
    return {
        "id": record.id,
        "branch": given.branch,
        "commit": given.commit,
        "onto": given.onto,
        "title": given.title,
        "state": record.state.value,
        "approved": record.is_approved,
        "note": record.note,
        "task": given.task or None,
        "session": given.session or None,
        "author": given.author,
        "checks": list(given.checks),
        "priority": given.priority,
        "added_at": instant(record.added_at),
        "since": instant(record.since),
        "tests": record.tests,
        "batch": record.batch or None,
        "base": record.base or None,
        "built": record.built or None,
        "tip": record.tip or None,
        "suspected_in": record.suspected_in or None,
        "packet": packet(record.packet) if record.packet else None,
    }


def packet(found: RepairPacket) -> Json:
    """Return the repair packet of a refused entry."""
    return {
        "fault": found.fault.value,
        "why": found.why,
        "head": found.head,
        "conflicts": [_conflict(each) for each in found.conflicts],
        "check": found.check or None,
        "output": found.output or None,
        "beside": list(found.beside),
    }


def _conflict(found: RepairConflict) -> Json:
    return {
        "path": found.path,
        "region": found.region or None,
        "why": found.why,
        "text": found.text,
        "changed_by": list(found.changed_by),
    }


def queue(found: QueueView) -> Json:
    """Return the state of the queue of one branch."""
    return {
        "onto": found.onto,
        "runner": found.runner or None,
        "queued": found.queued,
        "testing": found.testing,
        "landed": found.landed,
        "last_landed_at": instant(found.last_landed_at) if found.last_landed_at is not None else None,
        "waiting_since": instant(found.waiting_since) if found.waiting_since is not None else None,
    }


def predictions(found: tuple[Prediction, ...]) -> Json:
    """Return predicted conflicts."""
    return {"conflicts": [{"one": each.one, "other": each.other, "keys": list(each.keys)} for each in found]}
