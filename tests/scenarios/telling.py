"""Answers as the stories show them: one fact a line, hashes cut to six digits, instants in seconds of the story."""

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch

import msgspec

from commonhold.app.answers import AcquireAnswer, CommitAnswer, LeaseAnswer, Next, RepairRegion
from commonhold.app.queries import Change, Who
from commonhold.app.reading import RegionText
from commonhold.domain.errors import CommonholdError
from commonhold.domain.events import (
    KIND_OF,
    CommitRefused,
    Committed,
    CommitUndone,
    Debt,
    Event,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
)
from commonhold.domain.lease import Conflict, Lease

_HASH = re.compile(r"\b([0-9a-f]{6})[0-9a-f]{58}\b")


def short(text: str) -> str:
    return _HASH.sub(r"\1", text)


def quoted(text: str | None) -> Iterator[str]:
    """Text below a `|`, so that blank lines do not end a block; odd characters are shown, not printed."""
    if not text:
        return
    for line in text.split("\n")[: -1 if text.endswith("\n") else None]:
        shown = line.encode("unicode_escape").decode() if not line.isprintable() else line
        yield f"| {shown}".rstrip(" ")
    if not text.endswith("\n"):
        yield "(no final newline)"


def tell(answer: object) -> list[str]:
    return [short(line) for line in _told(answer)]


@singledispatch
def _told(answer: object) -> Iterator[str]:
    raise TypeError(type(answer))


@_told.register
def _(answer: AcquireAnswer) -> Iterator[str]:
    yield f"granted {_lease(answer.lease)}" if answer.lease else answer.outcome
    yield from (f"  {region.key} {region.hash}" for region in answer.regions)
    yield from (f"  notice: {notice}" for notice in answer.notices)
    yield from _ending(answer.conflicts, answer.next)


@_told.register
def _(answer: LeaseAnswer) -> Iterator[str]:
    yield f"{answer.outcome} {_lease(answer.lease)}" if answer.lease else f"refused {answer.code}: {answer.why}"
    yield from _ending((), answer.next)


@_told.register
def _(answer: CommitAnswer) -> Iterator[str]:
    tail = " (dry run)" if answer.is_dry_run else ""
    at = f" at {answer.sequence}" if answer.sequence else ""
    yield (f"refused {answer.code}: {answer.why}" if answer.code else f"{answer.outcome}{at}") + tail
    yield from (f"  {region.key} {region.hash or 'gone'}" for region in answer.regions)
    yield from (f"  notice: {notice}" for notice in answer.notices)
    yield from (f"  required {needed.key} at {needed.where}: {needed.why}" for needed in answer.required)
    yield from (line for region in answer.repair.regions for line in _repair(region))
    yield from _ending(answer.conflicts, answer.next)


@_told.register
def _(answer: RegionText) -> Iterator[str]:
    yield f"{answer.key} {answer.kind} {answer.hash}"
    if answer.data is not None:
        yield f"  data {answer.data}"
    yield from (f"  {line}" for line in quoted(answer.text))


@_told.register
def _(answer: Who) -> Iterator[str]:
    yield answer.key
    yield from (f"  held: {_lease(lease)}" for lease in answer.leases)
    yield from (f"  changed: {_change(change)}" for change in answer.changes)
    yield from (f"  owed: {_debt(debt)}" for debt in answer.debts)


@_told.register
def _(answer: Lease) -> Iterator[str]:
    yield _lease(answer) + (f' "{answer.task}"' if answer.task else "")


@_told.register
def _(answer: Debt) -> Iterator[str]:
    yield _debt(answer)


@_told.register
def _(fault: CommonholdError) -> Iterator[str]:
    yield f"error {fault.code}: {fault.message}"
    yield f"  hint: {fault.hint}"


@_told.register
def _(event: Event) -> Iterator[str]:
    yield f"{KIND_OF[type(event)]} {_event(event)}"


def _event(event: Event) -> str:  # noqa: PLR0911 - one line a kind of event
    match event:
        case LeaseGranted(lease):
            return _lease(lease)
        case LeaseDenied(holder, _, keys, mode, conflicts):
            return f"{holder} {mode} {', '.join(keys)} because of {', '.join(each.holder for each in conflicts)}"
        case LeaseRenewed(holder, lease_id, deadline):
            return f"{lease_id} of {holder} until {deadline.wall:g}"
        case LeaseReleased(holder, lease_id):
            return f"{lease_id} of {holder}"
        case LeaseExpired(holder, lease_id, deadline):
            return f"{lease_id} of {holder} at {deadline.wall:g}"
        case Committed():
            return _committed(event)
        case CommitRefused(holder, intent, code, keys, _):
            return f'{code} {holder} "{intent}": {", ".join(keys)}'
        case CommitUndone(holder, intent, restored, left):
            put, kept = (", ".join(paths) or "nothing" for paths in (restored, left))
            return f'{holder} "{intent}": restored {put}, left {kept}'


def _committed(event: Committed) -> str:
    files = ", ".join(f"{each.path} {each.before}→{each.after}" for each in event.files)
    regions = ", ".join(f"{each.key} {each.before}→{each.after}" for each in event.regions)
    debts = f" | owes {', '.join(debt.key for debt in event.debts)}" if event.debts else ""
    settled = f" | settles {', '.join(event.settled)}" if event.settled else ""
    return f'{event.holder} "{event.intent}" | {files} | {regions}{debts}{settled}'


def _lease(lease: Lease) -> str:
    keys = ", ".join(lease.keys)
    return f"{lease.id} fence {lease.fence} of {lease.holder} until {lease.deadline.wall:g}: {lease.mode} {keys}"


def _change(change: Change) -> str:
    return f'{change.sequence} by {change.holder} "{change.intent}": {", ".join(change.keys)}'


def _debt(debt: Debt) -> str:
    return f"{debt.key} of {debt.holder}: {debt.why}"


def _repair(region: RepairRegion) -> Iterator[str]:
    by = f" changed by {region.changed_by} ({region.intent})" if region.changed_by else ""
    yield f"  now {region.key} {region.hash or 'gone'}{by}"
    yield from (f"    {line}" for line in quoted(region.text))
    yield from (f"    {line[2:]}" for line in quoted(region.diff and region.diff + "\n"))


def _ending(conflicts: Iterable[Conflict], following: Next | None) -> Iterator[str]:
    for each in conflicts:
        task = f' "{each.task}"' if each.task else ""
        yield f"  conflict: {each.key} with {each.mode} {each.held} of {each.holder}{task} until {each.expires_at:g}"
    if following is not None:
        arguments = msgspec.json.encode(following.arguments, order="sorted").decode()
        yield f"  next: {following.call} {arguments}"
