"""The JSON form of every answer, the same from the SDK, the command line and MCP. More fields may follow."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from commonhold.app.answers import AcquireAnswer, CommitAnswer, LeaseAnswer, Next, Repair
from commonhold.app.queries import Change, Status, Who
from commonhold.app.reading import RegionText
from commonhold.domain.events import KIND_OF, Debt, Recorded
from commonhold.domain.lease import Conflict, Lease
from commonhold.regions.region import Region, RegionMap
from commonhold.wire.text import Json


def instant(wall: float) -> str:
    """ISO 8601 in UTC with milliseconds, from Unix time."""
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lease(value: Lease) -> Json:
    """One lease."""
    return {
        "id": value.id,
        "fence": value.fence,
        "holder": value.holder,
        "task": value.task,
        "keys": list(value.keys),
        "mode": value.mode.value,
        "acquisition_id": value.acquisition_id,
        "granted_at": instant(value.granted_at),
        "expires_at": instant(value.deadline.wall),
    }


def conflict(value: Conflict) -> Json:
    """Why a key cannot be had: `with` is the key that is held."""
    return {
        "key": value.key,
        "with": value.held,
        "holder": value.holder,
        "task": value.task,
        "intent": value.task,
        "mode": value.mode.value,
        "expires_at": instant(value.expires_at),
    }


def next_call(value: Next | None) -> Json | None:
    """The one call to make now."""
    return None if value is None else {"call": value.call, "arguments": dict(value.arguments), "why": value.why}


def acquire(answer: AcquireAnswer) -> Json:
    """The answer to acquire. `position` is the place in a queue, for answers that queue."""
    return {
        "outcome": answer.outcome,
        "lease": lease(answer.lease) if answer.lease else None,
        "position": None,
        "conflicts": [conflict(each) for each in answer.conflicts],
        "regions": [{"key": each.key, "hash": each.hash} for each in answer.regions],
        "notices": list(answer.notices),
        "next": next_call(answer.next),
    }


def lease_change(answer: LeaseAnswer) -> Json:
    """The answer to renew and release."""
    return {
        "outcome": answer.outcome,
        "code": answer.code,
        "why": answer.why,
        "lease": lease(answer.lease) if answer.lease else None,
        "next": next_call(answer.next),
    }


def commit(answer: CommitAnswer) -> Json:
    """The answer to commit."""
    return {
        "outcome": answer.outcome,
        "code": answer.code,
        "why": answer.why,
        "regions": [{"key": each.key, "hash": each.hash} for each in answer.regions],
        "notices": list(answer.notices),
        "required": [{"key": each.key, "why": each.why, "where": each.where} for each in answer.required],
        "conflicts": [conflict(each) for each in answer.conflicts],
        "repair": repair(answer.repair),
        "next": next_call(answer.next),
        "sequence": answer.sequence,
        "dry_run": answer.is_dry_run,
    }


def repair(packet: Repair) -> Json:
    """The repair packet of a refusal."""
    return {"regions": [_plain(each) for each in packet.regions]}


def regions(found: RegionMap) -> Json:
    """The regions of one file. Spans are half-open byte ranges."""
    return {
        "path": found.path,
        "language": found.language,
        "regions": [region(each) for each in found.regions],
        "problems": [{"code": each.code, "message": each.message, "span": list(each.span)} for each in found.problems],
    }


def region(value: Region) -> Json:
    """One region, without its text."""
    return {
        "key": str(value.key),
        "id": value.id,
        "kind": value.kind.value,
        "parent": str(value.parent) if value.parent else None,
        "spans": [list(span) for span in value.spans],
        "hash": value.hash,
    }


def region_text(value: RegionText) -> Json:
    """One region with its text."""
    shape = _plain(value)
    return {name: each for name, each in shape.items() if name not in _OPTIONAL or each}


def who(value: Who) -> Json:
    """Who holds and who changed what is at a key."""
    return {"key": value.key, **_picture(value.leases, value.changes, value.debts)}


def status(value: Status) -> Json:
    """The whole picture."""
    return {"root": value.root, **_picture(value.leases, value.changes, value.debts)}


def leases(values: Sequence[Lease]) -> Json:
    """A list of leases."""
    return {"leases": [lease(each) for each in values]}


def _picture(held: Sequence[Lease], changes: Sequence[Change], debts: Sequence[Debt]) -> Json:
    return {
        "leases": [lease(each) for each in held],
        "changes": [{**_plain(each), "at": instant(each.at)} for each in changes],
        "debts": [_plain(each) for each in debts],
    }


def log(events: Sequence[Recorded]) -> Json:
    """Events in order; `event` has the fields of its kind."""
    return {
        "events": [
            {
                "sequence": each.sequence,
                "at": instant(each.at),
                "kind": KIND_OF[type(each.event)],
                "event": _plain(each.event),
            }
            for each in events
        ]
    }


def _plain(value: object) -> Json:
    shape: Json = msgspec.to_builtins(value)
    return shape


_OPTIONAL: Final = frozenset({"data", "pieces"})
