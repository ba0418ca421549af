"""Answers as the stories show them: one fact a line, hashes cut to six digits, instants in seconds of the story."""

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch

import msgspec

from commonhold.kernel.answers import (
    AcquireAnswer,
    CommitAnswer,
    LeaseAnswer,
    MergedRegion,
    Next,
    PutAnswer,
    RegionText,
    RepairRegion,
    RequiredEdit,
    ReviewAnswer,
    Unmerged,
    WaiveAnswer,
)
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.events import (
    KIND_OF,
    CommitRefused,
    Committed,
    CommitUndone,
    DebtWaived,
    Event,
    LeaseBroken,
    LeaseClaimed,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    LeaseRenewed,
    LogCompacted,
    ReleaseAsked,
    StateReset,
    ValuePut,
    WaiterLeft,
    WaiterSeen,
    WorkLeft,
    WorkReviewed,
)
from commonhold.kernel.lease import Conflict, Lease, Waiter
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork, UnfinishedChange
from commonhold.kernel.pictures import Change, Who
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value

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
    yield _acquired(answer)
    yield from (f"  {region.key} {region.hash}" for region in answer.regions)
    yield from (f"  changed meanwhile: {_change(change)}" for change in answer.changed)
    yield from (f"  carries: {_value(value)}" for value in answer.values)
    yield from _notices(answer.notices)
    yield from _ending(answer.conflicts, answer.next)


def _acquired(answer: AcquireAnswer) -> str:
    if answer.lease:
        return f"granted {_lease(answer.lease)}"
    if answer.outcome == "queued":
        return f"queued as {answer.ticket}, number {answer.position}, for about {answer.estimated_wait_seconds:g} s"
    if answer.result:
        return f"done: {_value(answer.result)}"
    return "denied" if answer.code is Refusal.LOCK_CONFLICT else f"denied {answer.code}"


@_told.register
def _(answer: LeaseAnswer) -> Iterator[str]:
    if answer.lease:
        yield f"{answer.outcome} {_lease(answer.lease)}"
    else:
        yield f"refused {answer.code}: {answer.why}" if answer.code else answer.outcome
    yield from _notices(answer.notices)
    yield from _ending(answer.conflicts, answer.next)


@_told.register
def _(answer: PutAnswer) -> Iterator[str]:
    yield f"refused {answer.code}: {answer.why}" if answer.value is None else f"{answer.outcome} {_value(answer.value)}"
    yield from (f"  now {_value(value)}" for value in answer.current)
    yield from _ending(answer.conflicts, answer.next)


@_told.register
def _(answer: ReviewAnswer) -> Iterator[str]:
    yield f"refused: {answer.why}" if answer.work is None else f"{answer.outcome} {_work(answer.work)}"
    yield from _ending((), answer.next)


@_told.register
def _(answer: WaiveAnswer) -> Iterator[str]:
    yield from [f"refused: {answer.why}"] if answer.outcome == "refused" else []
    yield from (f"waived {_debt(debt)}" for debt in answer.debts)
    yield from _ending((), answer.next)


@_told.register
def _(answer: Value) -> Iterator[str]:
    yield _value(answer)


@_told.register
def _(answer: PartialWork) -> Iterator[str]:
    yield _work(answer)
    yield from (f"  {_left(left)}" for left in answer.changes)


@_told.register
def _(answer: Waiter) -> Iterator[str]:
    yield _waiter(answer) + (f' "{answer.task}"' if answer.task else "")


@_told.register
def _(answer: CommitAnswer) -> Iterator[str]:
    tail = " (dry run)" if answer.is_dry_run else ""
    at = f" at {answer.sequence}" if answer.sequence else ""
    yield (f"refused {answer.code}: {answer.why}" if answer.code else f"{answer.outcome}{at}") + tail
    yield from (f"  {region.key} {region.hash or 'gone'}" for region in answer.regions)
    yield from (line for region in answer.merged for line in _merged_region(region))
    yield from _notices(answer.notices)
    yield from (f"  required {needed.key}{_at(needed)}: {needed.why}" for needed in answer.required)
    yield from (f"  now {_value(value)}" for value in answer.current)
    yield from (line for region in answer.repair.regions for line in _repair(region))
    yield from (line for found in answer.repair.unmerged for line in _unmerged(found))
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
    yield from (f"  waits: {_waiter(waiter)}" for waiter in answer.waiters)
    yield from (f"  changed: {_change(change)}" for change in answer.changes)
    yield from (f"  owed: {_debt(debt)}" for debt in answer.debts)


@_told.register
def _(answer: Lease) -> Iterator[str]:
    yield _lease(answer) + (f' "{answer.task}"' if answer.task else "")
    if answer.wish:
        yield f'  {answer.wish.by} asks for it: "{answer.wish.why}"'


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


@singledispatch
def _event(event: object) -> str:
    raise TypeError(type(event))


@_event.register
def _(event: LeaseGranted) -> str:
    return _lease(event.lease)


@_event.register
def _(event: LeaseDenied) -> str:
    holders = ", ".join(each.holder for each in event.conflicts)
    return f"{event.holder} {event.mode} {', '.join(event.keys)} because of {holders}"


@_event.register
def _(event: LeaseRenewed | LeaseClaimed | WaiterSeen) -> str:
    return f"{event.lease_id} of {event.holder} until {event.deadline.wall:g}"


@_event.register
def _(event: LeaseReleased) -> str:
    return f"{event.lease_id} of {event.holder}"


@_event.register
def _(event: LeaseExpired) -> str:
    return f"{event.lease_id} of {event.holder} at {event.deadline.wall:g}"


@_event.register
def _(event: LeaseQueued) -> str:
    return _waiter(event.waiter)


@_event.register
def _(event: WaiterLeft) -> str:
    return f"{event.lease_id} of {event.holder}: {event.why}"


@_event.register
def _(event: LeaseBroken) -> str:
    return f'{event.lease_id} of {event.holder} by {event.by} "{event.reason}"'


@_event.register
def _(event: ReleaseAsked) -> str:
    return f'{event.lease_id} of {event.holder} by {event.wish.by} "{event.wish.why}"'


@_event.register
def _(event: LeaseHandedOver) -> str:
    return f"{event.lease_id} of {event.holder} to {event.to}"


@_event.register
def _(event: ValuePut) -> str:
    return f"{event.key} by {event.holder} {_quote(event.text)}"


@_event.register
def _(event: WorkLeft) -> str:
    return f"{event.lease_id} of {event.holder}: {', '.join(map(_left, event.changes)) or 'nothing'}"


@_event.register
def _(event: WorkReviewed) -> str:
    return f'{event.lease_id} by {event.holder} "{event.note}"'


@_event.register
def _(event: DebtWaived) -> str:
    return f'{event.key} by {event.holder} "{event.note}"'


@_event.register
def _(event: CommitRefused) -> str:
    return f'{event.code} {event.holder} "{event.intent}": {", ".join(event.keys)}'


@_event.register
def _(event: CommitUndone) -> str:
    put, kept = (", ".join(paths) or "nothing" for paths in (event.restored, event.left))
    return f'{event.holder} "{event.intent}": restored {put}, left {kept}'


@_event.register
def _(event: StateReset) -> str:
    return event.holder


@_event.register
def _(event: LogCompacted) -> str:
    return f"{event.holder}: {event.first} to {event.last}"


@_event.register(Committed)
def _committed(event: Committed) -> str:
    files = ", ".join(f"{each.path} {each.before}→{each.after}" for each in event.files)
    regions = ", ".join(f"{each.key} {each.before}→{each.after}" for each in event.regions)
    debts = f" | owes {', '.join(debt.key for debt in event.debts)}" if event.debts else ""
    settled = f" | settles {', '.join(event.settled)}" if event.settled else ""
    merged = "".join(f" | merges {each.key} {each.base}→{each.sent} with {each.found}" for each in event.merged)
    contracts = "".join(f" | {each.key}: {each.what}" for each in event.contracts)
    return f'{event.holder} "{event.intent}" | {files} | {regions}{debts}{settled}{merged}{contracts}'


def _lease(lease: Lease) -> str:
    keys = ", ".join(lease.keys)
    state = "" if lease.is_claimed else " (not taken yet)"
    until = f"until {lease.deadline.wall:g}{state}"
    share = " once" if lease.is_once else f" slot {lease.slot} of {lease.slots}" if lease.slots else ""
    return f"{lease.id} fence {lease.fence} of {lease.holder} {until}: {lease.mode} {keys}{share}"


def _waiter(waiter: Waiter) -> str:
    keys = ", ".join(waiter.keys)
    replaces = f" in place of {waiter.replaces}" if waiter.replaces else ""
    until = f"until {waiter.deadline.wall:g}"
    return f"{waiter.id} number {waiter.number} of {waiter.holder} {until}: {waiter.mode} {keys}{replaces}"


def _value(value: Value) -> str:
    by = f" by {value.holder}" if value.version else ""
    return f"{value.key} version {value.version}{by} {_quote(value.text)}"


def _quote(text: str | None) -> str:
    return "nothing" if text is None else f'"{text}"'


def _work(work: PartialWork) -> str:
    task = f' "{work.task}"' if work.task else ""
    return f"{work.lease_id} of {work.holder}{task}, found at {work.found_at:g}"


def _left(left: UnfinishedChange) -> str:
    return f"{left.key} {left.base or 'gone'}→{left.now or 'gone'}"


def _at(needed: RequiredEdit) -> str:
    return f" at {needed.where}" if needed.where else ""


def _change(change: Change) -> str:
    return f'{change.sequence} by {change.holder} "{change.intent}": {", ".join(change.keys)}'


def _debt(debt: Debt) -> str:
    return f"{debt.key} of {debt.holder}: {debt.why}"


def _repair(region: RepairRegion) -> Iterator[str]:
    by = f" changed by {region.changed_by} ({region.intent})" if region.changed_by else ""
    yield f"  now {region.key} {region.hash or 'gone'}{by}"
    yield from (f"    {line}" for line in quoted(region.text))
    yield from (f"    {line[2:]}" for line in quoted(region.diff and region.diff + "\n"))


def _notices(notices: Iterable[str]) -> Iterator[str]:
    for notice in notices:
        first, *more = notice.split("\n")
        yield f"  notice: {first}"
        yield from (f"    {line}".rstrip() for line in more)


def _merged_region(region: MergedRegion) -> Iterator[str]:
    by = f" with {region.changed_by} ({region.intent})" if region.changed_by else ""
    span = "" if region.span is None else f" span {region.span}"
    yield f"  merged {region.key}{span} {region.hash}{by}"
    yield from (f"    {line}" for line in quoted(region.text))
    yield from (f"    {line}" for line in quoted(region.diff and region.diff + "\n"))
    yield from (f"    joined: {note}" for note in region.notes)


def _unmerged(found: Unmerged) -> Iterator[str]:
    yield from (f"  not merged {found.key}: {each.reason}: {each.why}" for each in found.obstacles)
    yield from (f"    {line}" for line in quoted(found.marked))


def _ending(conflicts: Iterable[Conflict], following: Next | None) -> Iterator[str]:
    for each in conflicts:
        task = f' "{each.task}"' if each.task else ""
        who = f"{each.holder}, who waits," if each.is_waiting else each.holder
        yield f"  conflict: {each.key} with {each.mode} {each.held} of {who}{task} until {each.expires_at:g}"
    if following is not None:
        arguments = msgspec.json.encode(following.arguments, order="sorted").decode()
        yield f"  next: {following.call} {arguments}"
