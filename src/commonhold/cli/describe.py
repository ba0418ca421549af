"""Answers in words, for people. Everything that an agent wrote passes through `shown`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from commonhold.cli.output import shown, shown_text
from commonhold.kernel.texts import duration, short_name
from commonhold.kernel.write_slot_names import path_of_slot

if TYPE_CHECKING:
    from commonhold.kernel.answers import NoteQuote
    from commonhold.kernel.lease import Conflict, Lease, Waiter
    from commonhold.kernel.obligations import Debt
    from commonhold.kernel.partial_work import PartialWork
    from commonhold.kernel.pictures import Change, Status, Who
    from commonhold.kernel.run import TokenUsage
    from commonhold.kernel.values import Value

HASH_DIGITS: Final = 16
_FILE: Final = "file:"
# The answer names a field of its own; here it is printed.
ABOVE: Final = (" (in current)", " (above)")
_NEAR_SECONDS: Final = 90.0


def when(wall: float) -> str:
    """Return an instant for people: the time from now, then the time of this machine's clock."""
    seconds = wall - time.time()
    away = f"in {duration(seconds)}" if seconds >= 0 else f"{duration(-seconds)} ago"
    return f"{away}, {_on_the_clock(wall, is_near=abs(seconds) < _NEAR_SECONDS)}"


def used(found: TokenUsage) -> str:
    """Return the usage of an agent, in words."""
    cached = f" ({found.tokens_cached:,} cached)" if found.tokens_cached else ""
    cost = f", ${found.cost:.4f}" if found.cost else ""
    return f"{found.tokens_in:,} tokens in{cached}, {found.tokens_out:,} out{cost}"


def _on_the_clock(wall: float, *, is_near: bool) -> str:
    local = time.localtime(wall)
    clock = time.strftime("%H:%M:%S" if is_near else "%H:%M", local)
    day = "" if local[:3] == time.localtime(time.time())[:3] else f"on {time.strftime('%Y-%m-%d', local)} "
    return f"{day}at {clock}"


def stamp(wall: float) -> str:
    """Return an instant for a column of them: the day and the time of this machine's clock."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(wall))


def who(holder: str) -> str:
    """The short name of a holder."""
    return shown(short_name(holder))


def key_of(text: str) -> str:
    """A key, or the meaning of a write slot."""
    path = path_of_slot(text)
    return shown(text) if path is None else f"{shown(path)} is being written"


def quoted(text: str) -> str:
    """A text by an agent, quoted; empty for an empty text."""
    return f': "{shown(text)}"' if text else ""


def short(content_hash: str | None) -> str:
    """Return a hash, shortened to the length that commands need."""
    return content_hash[:HASH_DIGITS] if content_hash else "(gone)"


def conflict(value: Conflict) -> str:
    """Return which holder conflicts with which key."""
    if (path := path_of_slot(value.held)) is not None:
        return f"  {shown(path)} is being written by {who(value.holder)}"
    end = ", before you in line" if value.is_waiting else f", ends {when(value.expires_at)}"
    by = f"{who(value.holder)}, {value.mode}{end}{quoted(value.task)}"
    return f"  {_held(value)} is {'wanted' if value.is_waiting else 'held'} by {by}"


def _held(value: Conflict) -> str:
    if value.held == value.key:
        return shown(value.key)
    # Loaded here: showing leases does not need the module of keys.
    from commonhold.kernel.keys import canonical, contains  # noqa: PLC0415

    wanted, held = canonical(value.key), canonical(value.held)
    if contains(held, wanted):
        how = "which contains it,"
    elif contains(wanted, held):
        how = "inside it,"
    else:
        how = "which overlaps it,"
    return f"{shown(value.key)}: {shown(value.held)}, {how}"


def lease(value: Lease) -> Iterator[str]:
    """One live lease."""
    head = f"{shown(value.id)}  fence {value.fence}  {value.mode}{slot(value)}  {who(value.holder)}"
    state = "" if value.is_claimed else "  (granted from the line, not yet taken)"
    yield f"{head}  ends {when(value.deadline.wall)}{state}{quoted(value.task)}"
    yield from (f"  {key_of(key)}" for key in value.keys)
    if value.wish is not None:
        yield f"  {who(value.wish.by)} asks for its release{quoted(value.wish.why)}"


def note_quotes(quotes: Sequence[NoteQuote]) -> Iterator[str]:
    """The project's notes that bear on a refusal: quotations, marked as such."""
    if quotes:
        yield "notes of the project that bear on this (quoted from its files):"
    for each in quotes:
        yield f"  {shown(each.section)}  {shown(each.title)}  ({shown(each.why)})"
        yield from (f"  > {shown(line, keep=chr(9))}".rstrip() for line in each.text.split("\n"))
        if each.is_cut:
            yield f"  … the rest: commonhold archive show {shown(each.section)}"


def slot(value: Lease) -> str:
    """The slot of a lease, with a space before it; nothing for a lease on all of its key."""
    if value.is_once:
        return "  once"
    return f"  slot {value.slot} of {value.slots}" if value.slots else ""


def waiter(value: Waiter) -> Iterator[str]:
    """One place in line."""
    head = f"{shown(value.id)}  {value.mode}  {who(value.holder)}"
    yield f"{head}  queued {when(value.queued_at)}{quoted(value.task)}"
    yield from (f"  {key_of(key)}" for key in value.keys)


def of_holder(found: Status, wanted: str | None) -> tuple[list[Lease], list[Waiter]]:
    """Return the leases and waiters, or only those of the holder with this full or short name."""

    def is_wanted(holder: str) -> bool:
        return wanted in (None, holder, short_name(holder))

    held = [each for each in found.leases if is_wanted(each.holder)]
    return held, [each for each in found.waiters if is_wanted(each.holder)]


def leases(held: Sequence[Lease], waiting: Sequence[Waiter]) -> Iterator[str]:
    """Yield all leases, and the line."""
    yield from (line for value in held for line in lease(value))
    if not held:
        yield "no live leases"
    yield from line_of(waiting)


def line_of(waiting: Sequence[Waiter]) -> Iterator[str]:
    """Yield the waiters, if any."""
    if waiting:
        yield "waiting, the first in line first:"
        yield from (f"  {line}" for value in waiting for line in waiter(value))


def value(carried: Value) -> Iterator[str]:
    """Yield the value of a key: its version and author in one line, the text below it."""
    if not carried.version:
        yield f"{shown(carried.key)}  version 0: nothing was ever put here"
        return
    by = f"by {who(carried.holder)}  {when(carried.at)}"
    yield f"{shown(carried.key)}  version {carried.version}  {by}{': nothing' if carried.text is None else ''}"
    yield from (f"  {line}" for line in shown_text(carried.text or "").splitlines())


def there_now(carried: Sequence[Value]) -> Iterator[str]:
    """Yield the present values of changed keys, for a caller that was refused because of them."""
    if carried:
        yield "current values:"
        yield from (f"  {line}" for each in carried for line in value(each))


def work(left: PartialWork) -> Iterator[str]:
    """Yield one partial work: its holder, and the keys that changed."""
    yield f"{shown(left.lease_id)}  {who(left.holder)}  found {when(left.found_at)}{quoted(left.task)}"
    for each in left.changes:
        yield f"  {shown(each.key)}  {short(each.base)} -> {short(each.now)}"


def notices(texts: Iterable[str]) -> Iterator[str]:
    """Yield notices, which refuse nothing."""
    return (f"notice: {shown_text(text)}" for text in texts)


def change(value: Change) -> Iterator[str]:
    """One commit."""
    yield f"{value.sequence}  {when(value.at)}  {who(value.holder)}{quoted(value.intent)}"
    yield from (f"  {shown(key)}" for key in innermost(value.keys))


def innermost(keys: Iterable[str]) -> list[str]:
    """Return the keys less the files and classes that are there only because something in them is."""
    listed = list(keys)
    around = {holder for key in listed if key.startswith(_FILE) for holder in _around(key)}
    return [key for key in listed if key not in around]


def _around(key: str) -> Iterator[str]:
    """Yield the file and the containers of a region. In a canonical key no other `#` or dot is left unescaped."""
    path, mark, qualname = key.partition("#")
    if mark:
        yield path
        names = qualname.split(".")
        yield from (f"{path}#{'.'.join(names[:size])}" for size in range(1, len(names)))


def debt(value: Debt, here: str) -> str:
    """Return one debt, with its place if that is not `here`."""
    elsewhere = "" if value.worktree == here else f" (in {shown(value.worktree)})"
    return f"{shown(value.key)}  owed by {who(value.holder)}: {shown(value.why)}{elsewhere}"


def picture(place: str, found: Status | Who) -> Iterator[str]:
    """Yield the holders, the waiters and the changes of a place, newest first."""
    yield shown(place)
    yield "leases:" if found.leases else "leases: none"
    yield from (f"  {line}" for value in reversed(found.leases) for line in lease(value))
    yield from line_of(found.waiters)
    yield "newest commits:" if found.changes else "newest commits: none"
    yield from (f"  {line}" for value in found.changes for line in change(value))


def at(found: Who, here: str) -> Iterator[str]:
    """The same for a key, with its debts."""
    yield from picture(found.key, found)
    yield from owed(found.debts, here)


def owed(debts: Sequence[Debt], here: str) -> Iterator[str]:
    """The debts, if any."""
    if debts:
        yield "debts (to fix):"
        yield from (f"  {debt(value, here)}" for value in debts)
