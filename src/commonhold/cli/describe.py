"""Answers in words, for people. Everything that an agent wrote passes through `shown`."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from commonhold.app.answers import AcquireAnswer, LeaseAnswer, Next, RegionHash
from commonhold.app.queries import Change, Status, Who
from commonhold.cli.given import Given
from commonhold.cli.next_call import next_lines
from commonhold.cli.output import shown
from commonhold.domain.events import Debt
from commonhold.domain.keys import FILE, canonical, contains
from commonhold.domain.lease import Conflict, Lease
from commonhold.wire.shapes import instant

HASH_DIGITS: Final = 16
MOST_NAMED: Final = 5
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
    who = f"{shown(value.holder)}, {value.mode.value}, until {until(value.expires_at)}{quoted(value.task)}"
    return f"  {_held(value)} by {who}"


def _held(value: Conflict) -> str:
    if value.held == value.key:
        return f"{shown(value.key)} is held"
    wanted, held = canonical(value.key), canonical(value.held)
    if contains(held, wanted):
        how = "which contains it,"
    elif contains(wanted, held):
        how = "inside it,"
    else:
        how = "which overlaps it,"
    return f"{shown(value.key)}: {shown(value.held)}, {how} is held"


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


def change(value: Change) -> Iterator[str]:
    """One commit."""
    yield f"{value.sequence}  {instant(value.at)}  {shown(value.holder)}{quoted(value.intent)}"
    yield from (f"  {shown(key)}" for key in innermost(value.keys))


def innermost(keys: Iterable[str]) -> list[str]:
    """The keys less the files and classes that are there only because something in them is."""
    listed = list(keys)
    found = [canonical(key) for key in listed]
    around = {holder for key in found if key.scheme == FILE and key.names for holder in list(key.upward())[1:]}
    return [text for text, key in zip(listed, found, strict=True) if key not in around]


def some(texts: Sequence[str], separator: str = ", ") -> str:
    """The first few, safe to show, and how many more there are."""
    more = len(texts) - MOST_NAMED
    named = separator.join(map(shown, texts[:MOST_NAMED]))
    return f"{named} and {more} more" if more > 0 else named


def debt(value: Debt) -> str:
    """One debt."""
    return f"{shown(value.key)}  owed by {shown(value.holder)}: {shown(value.why)}"


def picture(place: str, found: Status | Who) -> Iterator[str]:
    """Who holds, who changed (the newest first), what is owed at a place."""
    yield shown(place)
    yield "leases:" if found.leases else "leases: none"
    yield from (f"  {line}" for value in reversed(found.leases) for line in lease(value))
    yield "newest commits:" if found.changes else "newest commits: none"
    yield from (f"  {line}" for value in found.changes for line in change(value))
    if found.debts:
        yield "debts (to be mended):"
        yield from (f"  {debt(value)}" for value in found.debts)
