"""The JSON form of every answer, the same from the SDK, the command line and MCP. More fields may follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from commonhold.api.wire.instants import instant
from commonhold.kernel.write_slots import is_for_slots, path_of_slot, shown_key

if TYPE_CHECKING:
    from commonhold.api.wire.text import Json
    from commonhold.code.regions.region import Region, RegionMap
    from commonhold.commits.external.lost_files import LostFile
    from commonhold.kernel.answers import (
        AcquireAnswer,
        AdoptAnswer,
        CommitAnswer,
        LeaseAnswer,
        MergedRegion,
        Next,
        NoteQuote,
        PutAnswer,
        RegionHash,
        RegionText,
        Repair,
        RequiredEdit,
        ReviewAnswer,
        WaiveAnswer,
    )
    from commonhold.kernel.lease import Conflict, Lease, Waiter
    from commonhold.kernel.partial_work import PartialWork
    from commonhold.kernel.pictures import Change, Status, Who
    from commonhold.kernel.presence import Presence
    from commonhold.kernel.values import Value


def lease(value: Lease) -> Json:
    """One lease. `claimed` is false until the waiter has taken it; `wish` is the last request for it, with its reason.

    `writing`: it is a write slot, held only while a file is being written. `slot` is its number among the `slots` of
    the key; both are null for a lease on all of it. `once`: it is for work that is done once for all.
    """
    return {
        "id": value.id,
        "fence": value.fence,
        "holder": value.holder,
        "task": value.task,
        "keys": [shown_key(key) for key in value.keys],
        "writing": is_for_slots(value.keys),
        "mode": value.mode.value,
        "acquisition_id": value.acquisition_id,
        "granted_at": instant(value.granted_at),
        "expires_at": instant(value.deadline.wall),
        "ttl_seconds": value.ttl_seconds,
        "slots": value.slots or None,
        "slot": value.slot or None,
        "once": value.is_once,
        "claimed": value.is_claimed,
        "wish": _plain(value.wish) if value.wish else None,
    }


def waiter(value: Waiter) -> Json:
    """One place in line. `replaces` is the lease that ends with the grant."""
    return {
        "ticket": value.id,
        "holder": value.holder,
        "task": value.task,
        "keys": [shown_key(key) for key in value.keys],
        "writing": is_for_slots(value.keys),
        "mode": value.mode.value,
        "queued_at": instant(value.queued_at),
        "expires_at": instant(value.deadline.wall),
        "replaces": value.replaces,
    }


def conflict(value: Conflict) -> Json:
    """Why a key cannot be had: `with` is the key that is held, or waited for by somebody who stands before in line."""
    return {
        "key": shown_key(value.key),
        "with": shown_key(value.held),
        "writing": path_of_slot(value.held) is not None,
        "holder": value.holder,
        "task": value.task,
        "intent": value.task,
        "mode": value.mode.value,
        "expires_at": instant(value.expires_at),
        "waiting": value.is_waiting,
    }


def next_call(value: Next | None) -> Json | None:
    """The one call to make now."""
    return None if value is None else {"call": value.call, "arguments": dict(value.arguments), "why": value.why}


def acquire(answer: AcquireAnswer) -> Json:
    """The answer to acquire. Who waits has a ticket and a position; who waited learns what changed meanwhile."""
    return {
        "outcome": answer.outcome,
        "code": answer.code,
        "lease": lease(answer.lease) if answer.lease else None,
        "ticket": answer.ticket,
        "position": answer.position,
        "estimated_wait_seconds": answer.estimated_wait_seconds,
        "conflicts": [conflict(each) for each in answer.conflicts],
        **seen(answer.regions),
        "changed": [change(each) for each in answer.changed],
        "values": [value(each) for each in answer.values],
        "result": value(answer.result) if answer.result else None,
        "context": [note_quote(each) for each in answer.context],
        "notices": list(answer.notices),
        "next": next_call(answer.next),
    }


def note_quote(quote: NoteQuote) -> Json:
    """A section of the project's notes; `cut` if the text is only its beginning."""
    return {
        "section": quote.section,
        "title": quote.title,
        "why": quote.why,
        "text": quote.text,
        "cut": quote.is_cut,
    }


def seen(regions: Sequence[RegionHash]) -> Json:
    """Regions with their hashes alone."""
    return {"regions": [{"key": each.key, "hash": each.hash} for each in regions]}


def lease_change(answer: LeaseAnswer) -> Json:
    """The answer to whatever is done to one lease: renew, release, ask, hand-over, break."""
    return {
        "outcome": answer.outcome,
        "code": answer.code,
        "why": answer.why,
        "lease": lease(answer.lease) if answer.lease else None,
        "conflicts": [conflict(each) for each in answer.conflicts],
        "notices": list(answer.notices),
        "next": next_call(answer.next),
    }


def value(carried: Value) -> Json:
    """The value of a key; `text` is null if there is none, `version` 0 if there never was one."""
    at = instant(carried.at) if carried.version else None
    return {"key": carried.key, "version": carried.version, "text": carried.text, "holder": carried.holder, "at": at}


def values(carried: Sequence[Value]) -> Json:
    """The values of several keys."""
    return {"values": [value(each) for each in carried]}


def put(answer: PutAnswer) -> Json:
    """The answer to put. `current` has the present values of the keys that have changed."""
    return {
        "outcome": answer.outcome,
        "code": answer.code,
        "why": answer.why,
        "value": value(answer.value) if answer.value else None,
        "current": [value(each) for each in answer.current],
        "conflicts": [conflict(each) for each in answer.conflicts],
        "next": next_call(answer.next),
    }


def work(left: PartialWork) -> Json:
    """Partial work of a lost lease: for each key its hash at the grant and its hash when found."""
    return {
        "lease_id": left.lease_id,
        "holder": left.holder,
        "task": left.task,
        "worktree": left.worktree,
        "found_at": instant(left.found_at),
        "changes": [{"key": each.key, "base": each.base, "now": each.now} for each in left.changes],
    }


def works(left: Sequence[PartialWork]) -> Json:
    """All partial work that waits for review."""
    return {"works": [work(each) for each in left]}


def review(answer: ReviewAnswer) -> Json:
    """The answer to closing a partial work."""
    return {
        "outcome": answer.outcome,
        "why": answer.why,
        "work": work(answer.work) if answer.work else None,
        "next": next_call(answer.next),
    }


def to_review(found: Status, lost: Sequence[LostFile]) -> Json:
    """Everything that needs a review: partial work, debts, and files that were deleted without their authors."""
    return {
        **works(found.works),
        "debts": [_plain(each) for each in found.debts],
        "lost": [_plain(each) | {"lost_at": instant(each.lost_at)} for each in lost],
    }


def waived(answer: WaiveAnswer) -> Json:
    """The answer to closing debts."""
    return {
        "outcome": answer.outcome,
        "why": answer.why,
        "debts": [_plain(each) for each in answer.debts],
        "next": next_call(answer.next),
    }


def adopted(answer: AdoptAnswer) -> Json:
    """The answer to adopting another's work."""
    return {
        "outcome": answer.outcome,
        "why": answer.why,
        "paths": list(answer.paths),
        "owner": answer.owner,
        "next": next_call(answer.next),
    }


def _needed(needed: RequiredEdit) -> Json:
    found = {"key": needed.key, "why": needed.why, "where": needed.where}
    return {**found, "evidence": needed.evidence} if needed.evidence else found


def commit(answer: CommitAnswer) -> Json:
    """The answer to commit."""
    return {
        "outcome": answer.outcome,
        "code": answer.code,
        "why": answer.why,
        **seen(answer.regions),
        "notices": list(answer.notices),
        "required": [_needed(each) for each in answer.required],
        "conflicts": [conflict(each) for each in answer.conflicts],
        "merged": [merged(each) for each in answer.merged],
        "repair": repair(answer.repair),
        "current": [value(each) for each in answer.current],
        "context": [note_quote(each) for each in answer.context],
        "next": next_call(answer.next),
        "sequence": answer.sequence,
        "dry_run": answer.is_dry_run,
    }


def merged(value: MergedRegion) -> Json:
    """A region whose edit was merged; `with` is whose change with."""
    return {
        "key": value.key,
        "hash": value.hash,
        "span": value.span,
        "text": value.text,
        "diff": value.diff,
        "with": {"changed_by": value.changed_by, "intent": value.intent},
        "notes": list(value.notes),
    }


def repair(packet: Repair) -> Json:
    """The repair packet of a refusal; `unmerged` says why edits could not be merged."""
    return {
        "regions": [_plain(each) for each in packet.regions],
        "unmerged": [_plain(each) for each in packet.unmerged],
    }


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


def who(found: Who) -> Json:
    """The holder, the waiters and the last change of a key."""
    return {"key": found.key, **_picture(found)}


def status(found: Status) -> Json:
    """The whole picture."""
    return {
        "root": found.root,
        "sessions": [_session(each) for each in found.sessions],
        **_picture(found),
        **works(found.works),
    }


def _session(presence: Presence) -> Json:
    """An agent at work."""
    return {
        "holder": presence.holder,
        "intent": presence.intent,
        "began_at": instant(presence.began_at),
        "seen_at": instant(presence.seen_at),
        "at_rest": presence.is_at_rest,
    }


def leases(held: Sequence[Lease], waiting: Sequence[Waiter]) -> Json:
    """Leases, and waiters with the first in line first."""
    return {"leases": [lease(each) for each in held], "waiters": [waiter(each) for each in waiting]}


def _picture(found: Who | Status) -> Json:
    return {
        **leases(found.leases, found.waiters),
        "changes": [change(each) for each in found.changes],
        "debts": [_plain(each) for each in found.debts],
    }


def change(made: Change) -> Json:
    """One commit."""
    return {**_plain(made), "at": instant(made.at)}


def _plain(value: object) -> Json:
    shape: Json = msgspec.to_builtins(value)
    return shape


_OPTIONAL: Final = frozenset({"data", "pieces"})
