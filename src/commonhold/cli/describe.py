"""Answers in words, for people. Everything that an agent wrote passes through `shown`."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from commonhold.app.answers import AcquireAnswer, CommitAnswer, LeaseAnswer, Next, RegionHash, RepairRegion
from commonhold.app.queries import Change, Status, Who
from commonhold.cli.given import Given
from commonhold.cli.next_call import next_lines
from commonhold.cli.output import shown, shown_text
from commonhold.domain.events import Debt
from commonhold.domain.lease import Conflict, Lease
from commonhold.wire.shapes import instant

HASH_DIGITS: Final = 16
_UNITS: Final = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def until(wall: float) -> str:
    """An instant, and how far off it is."""
    return f"{instant(wall)} ({_distance(wall - time.time())})"


def _distance(seconds: float) -> str:
    size = abs(seconds)
    unit, length = next((each for each in _UNITS if size >= each[1]), _UNITS[-1])
    amount = f"{size / length:.0f} {unit}"
    return f"in {amount}" if seconds >= 0 else f"{amount} ago"


def quoted(text: str) -> str:
    """What an agent wrote, marked as such; empty for nothing."""
    return f': "{shown(text)}"' if text else ""


def short(content_hash: str | None) -> str:
    """A hash, as far as commands need it."""
    return content_hash[:HASH_DIGITS] if content_hash else "(gone)"


def acquired(answer: AcquireAnswer, given: Given) -> Iterator[str]:
    """The answer to acquire."""
    if answer.lease is None:
        yield "denied: others hold what you asked for; nothing was leased"
        yield from map(conflict, answer.conflicts)
        yield from next_lines(answer.next, given)
        return
    yield f"granted: {shown(answer.lease.id)}  fence {answer.lease.fence}  until {until(answer.lease.deadline.wall)}"
    yield from _keys(answer.lease, answer.regions)
    yield from notices(answer.notices)
    yield from next_lines(Next("release", {"lease_id": answer.lease.id}, "when you are done:"), given)


def _keys(lease: Lease, regions: Sequence[RegionHash]) -> Iterator[str]:
    hashes = {region.key: region.hash for region in regions}
    for key in lease.keys:
        yield f"  {shown(key)}" + (f"  hash {short(hashes[key])}" if hashes.get(key) else "")


def conflict(value: Conflict) -> str:
    """Who stands in the way of what."""
    held = "" if value.held == value.key else f" (as part of {shown(value.held)})"
    who = f"{shown(value.holder)}, {value.mode.value}, until {until(value.expires_at)}{quoted(value.task)}"
    return f"  {shown(value.key)} is held{held} by {who}"


def lease_changed(answer: LeaseAnswer, given: Given) -> Iterator[str]:
    """The answer to renew and release."""
    if answer.lease is None:
        yield f"refused [{answer.code}]: {shown(answer.why)}"
        yield from next_lines(answer.next, given)
        return
    end = f"  until {until(answer.lease.deadline.wall)}" if answer.outcome == "renewed" else ""
    yield f"{answer.outcome}: {shown(answer.lease.id)}{end}"


def lease(value: Lease) -> Iterator[str]:
    """One live lease."""
    head = f"{shown(value.id)}  fence {value.fence}  {value.mode.value}  {shown(value.holder)}"
    yield f"{head}  until {until(value.deadline.wall)}{quoted(value.task)}"
    yield from (f"  {shown(key)}" for key in value.keys)


def leases(values: Sequence[Lease]) -> Iterator[str]:
    """All of them."""
    yield from (line for value in values for line in lease(value))
    if not values:
        yield "no live leases"


def notices(texts: Iterable[str]) -> Iterator[str]:
    """What should be known though it refuses nothing."""
    return (f"notice: {shown(text)}" for text in texts)


def committed(answer: CommitAnswer, given: Given) -> Iterator[str]:
    """The answer to commit."""
    trial = " (dry run: nothing is written)" if answer.is_dry_run else ""
    if answer.outcome == "refused":
        why = "the change reaches beyond itself" if answer.required else shown(answer.why)
        yield f"refused [{answer.code}]: {why}{trial}"
        yield from _refusal(answer)
    else:
        event = f": event {answer.sequence}" if answer.sequence is not None else ""
        yield f"{answer.outcome}{event}{trial}"
        yield from (f"  {shown(region.key)}  {_state(region.hash)}" for region in answer.regions)
    yield from notices(answer.notices)
    yield from next_lines(answer.next, given)


def _refusal(answer: CommitAnswer) -> Iterator[str]:
    yield from map(conflict, answer.conflicts)
    for needed in answer.required:
        yield f"  {shown(needed.key)} at {shown(needed.where)}: {shown(needed.why)}"
    for region in answer.repair.regions:
        yield from _repair(region)


def _repair(region: RepairRegion) -> Iterator[str]:
    yield f"--- {shown(region.key)}  {_state(region.hash)}{_author(region)}"
    if region.diff:
        yield "what changed since your base:"
        yield shown_text(region.diff)
    if region.text is not None:
        yield "what is there now:"
        yield shown_text(region.text).removesuffix("\n")
    yield "---"


def _state(content_hash: str | None) -> str:
    return f"hash {short(content_hash)}" if content_hash else "is not there"


def _author(region: RepairRegion) -> str:
    if region.changed_by is None:
        return ""
    return f"  changed by {shown(region.changed_by)}{quoted(region.intent or '')}"


def change(value: Change) -> Iterator[str]:
    """One commit."""
    yield f"{value.sequence}  {instant(value.at)}  {shown(value.holder)}{quoted(value.intent)}"
    yield from (f"  {shown(key)}" for key in value.keys)


def debt(value: Debt) -> str:
    """One debt."""
    return f"{shown(value.key)}  owed by {shown(value.holder)}: {shown(value.why)}"


def picture(place: str, found: Status | Who) -> Iterator[str]:
    """Who holds, who changed, what is owed at a place."""
    yield shown(place)
    yield "leases:" if found.leases else "leases: none"
    yield from (f"  {line}" for value in found.leases for line in lease(value))
    yield "newest commits:" if found.changes else "newest commits: none"
    yield from (f"  {line}" for value in found.changes for line in change(value))
    if found.debts:
        yield "debts (to be mended):"
        yield from (f"  {debt(value)}" for value in found.debts)
