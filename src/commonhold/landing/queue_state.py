"""PURE: the state of each queue, and why an entry waits, in words."""

from collections.abc import Iterable, Sequence

from commonhold.kernel.clock import Now
from commonhold.kernel.entry import EntryRecord, EntryState, Landings
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease
from commonhold.landing.answers import QueueView
from commonhold.landing.decide import queue_key


def queue_states(
    landings: Iterable[Landings], live: Sequence[EntryRecord], leases: Iterable[Lease], now: Now
) -> tuple[QueueView, ...]:
    """Return the state of the queue of each ref in `landings`; `live` are the entries that have not ended."""
    held = [each for each in leases if each.is_live(now)]
    found = []
    for each in landings:
        key = canonical(queue_key(each.onto))
        own = [entry for entry in live if entry.entry.onto == each.onto]
        found.append(
            QueueView(
                each.onto,
                next((lease.holder for lease in held if lease.covering(key)), ""),
                sum(entry.state is EntryState.QUEUED for entry in own),
                sum(entry.state is EntryState.TESTING for entry in own),
                each.count,
                each.last_at,
                min((entry.added_at for entry in own), default=None),
            )
        )
    return tuple(found)


def why_waiting(record: EntryRecord, live: Sequence[EntryRecord], queue: QueueView) -> str:
    """Return why an entry of a queue has not landed yet, as a clause; empty for one that has ended."""
    if record.is_final or record.held_at:
        return "" if record.is_final else record.note
    if not queue.runner:
        return "; ".join(filter(None, (record.note, "no process runs the queue; begin one: commonhold queue run")))
    own = [each for each in live if each.entry.onto == queue.onto]
    return _in_batch(record, own) if record.state is EntryState.TESTING else _in_line(record, own)


def _in_batch(record: EntryRecord, own: Sequence[EntryRecord]) -> str:
    batch = [each for each in own if each.state is EntryState.TESTING and each.batch == record.batch]
    beside = f" together with {len(batch) - 1} more" if len(batch) > 1 else ""
    if record.is_approved:
        held = next((each.note for each in batch if each.note), "")
        return held or f"its checks have passed{beside}; the branch is being moved"
    return f"its checks run{beside}"


def _in_line(record: EntryRecord, own: Sequence[EntryRecord]) -> str:
    rank = (-record.entry.priority, record.number)
    ahead = sum((-each.entry.priority, each.number) < rank for each in own if each.state is EntryState.QUEUED)
    testing = sum(each.state is EntryState.TESTING for each in own)
    parts = (
        f"its batch {record.suspected_in} failed, and the culprit is looked for" if record.suspected_in else "",
        f"{ahead} ahead of it" if ahead else "it is next",
        f"{testing} being tested" if testing else "",
        "" if record.suspected_in else record.note,
    )
    return "; ".join(filter(None, parts))
