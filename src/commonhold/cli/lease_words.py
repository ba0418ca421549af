"""The outcomes of lease operations, in words."""

from collections.abc import Iterator, Sequence
from typing import Final

from commonhold.cli.common_options import Given
from commonhold.cli.describe import change, conflict, note_quotes, notices, quoted, short, slot, value, when, who
from commonhold.cli.next_call import next_lines
from commonhold.cli.output import shown
from commonhold.kernel.answers import AcquireAnswer, LeaseAnswer, Next, RegionHash
from commonhold.kernel.lease import Lease
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import duration


def acquired(answer: AcquireAnswer, given: Given) -> Iterator[str]:
    """The answer to acquire."""
    if answer.result is not None:
        yield f"done already by {who(answer.result.holder)}, {when(answer.result.at)}; the result:"
        yield from map(shown, (answer.result.text or "").splitlines())
        return
    yield _outcome(answer)
    if answer.lease is None:
        yield from map(conflict, answer.conflicts)
        yield from note_quotes(answer.context)
        yield from notices(answer.notices)
        yield from next_lines(answer.next, given)
        return
    yield from _keys(answer.lease, answer.regions)
    if answer.changed:
        yield "changed while you waited (read it again):"
        yield from (f"  {line}" for each in answer.changed for line in change(each))
    yield from (f"  {line}" for each in answer.values for line in value(each))
    yield from notices(answer.notices)
    yield from next_lines(Next("release", {"lease_id": answer.lease.id}, "when you are done:"), given)


def _outcome(answer: AcquireAnswer) -> str:
    if answer.lease is not None:
        end = when(answer.lease.deadline.wall)
        return f"granted: {shown(answer.lease.id)}  fence {answer.lease.fence}{slot(answer.lease)}  ends {end}"
    if answer.ticket is not None:
        wait = duration(answer.estimated_wait_seconds or 0.0)
        return f"queued: number {answer.position} in line, for about {wait}  ticket {shown(answer.ticket)}"
    return f"denied{_DENIALS.get(answer.code, f' [{answer.code}]: nothing was leased')}"


_DENIALS: Final[dict[Refusal | None, str]] = {
    Refusal.LOCK_CONFLICT: ": others hold what you asked for; nothing was leased",
    Refusal.SLOTS_DIFFER: " [SLOTS_DIFFER]: others share the key in another number of slots; nothing was leased",
    Refusal.DEADLOCK: " [DEADLOCK]: to wait would never end, since those before you wait for you; nothing was leased",
}


def _keys(lease: Lease, regions: Sequence[RegionHash]) -> Iterator[str]:
    hashes = {region.key: region.hash for region in regions}
    for key in lease.keys:
        yield f"  {shown(key)}" + (f"  hash {short(hashes[key])}" if hashes.get(key) else "")


def lease_changed(answer: LeaseAnswer, given: Given) -> Iterator[str]:
    """The answer to an operation on one lease."""
    if answer.code is not None:
        yield f"refused [{answer.code}]: {shown(answer.why)}"
        yield from map(conflict, answer.conflicts)
    elif answer.lease is None:
        yield "cancelled: the place in line was given up"
    else:
        done = _DONE.get(answer.outcome, answer.outcome)
        yield f"{done}: {shown(answer.lease.id)}{_since(answer.outcome, answer.lease)}"
    yield from notices(answer.notices)
    yield from next_lines(answer.next, given)


_DONE: Final = {"handed_over": "handed over", "broken": "ended by force"}


def _since(outcome: str, lease: Lease) -> str:
    """The change of a lease."""
    match outcome:
        case "renewed":
            return f"  ends {when(lease.deadline.wall)}"
        case "asked":
            return f"  {who(lease.holder)} gets the request with its next answer"
        case "handed_over":
            return f"  fence {lease.fence} of {who(lease.holder)}"
        case "broken":
            return f"  of {who(lease.holder)}{quoted(lease.task)}"
        case _:
            return ""
