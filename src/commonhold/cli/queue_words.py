"""Answers about the merge queue, in words."""

import shlex
import time
from collections.abc import Iterator
from typing import Final

from commonhold.cli.common_options import Given
from commonhold.cli.describe import quoted, when, who
from commonhold.cli.next_call import command_line, next_lines
from commonhold.cli.output import shown, shown_text, some
from commonhold.kernel.answers import Next
from commonhold.kernel.entry import EntryAdded, EntryMove, EntryMoved, EntryRecord, EntryState, Fault, RepairPacket
from commonhold.kernel.refs import short_ref
from commonhold.kernel.texts import duration
from commonhold.landing.answers import EntryAnswer, EntryView, QueueView
from commonhold.landing.order import Prediction

_SHOWN_KEYS: Final = 5
_PAST: Final = {
    EntryMove.UPDATE: "has a newer commit",
    EntryMove.TEST: "is tested",
    EntryMove.APPROVE: "has passed",
    EntryMove.REQUEUE: "waits again",
    EntryMove.LAND: "landed",
    EntryMove.REFUSE: "was returned",
    EntryMove.REMOVE: "was removed",
}


def listed(found: EntryAnswer, *, is_whole: bool = False) -> Iterator[str]:
    """Yield the entries, a line each, and the state of each queue. `is_whole`: every entry was asked for."""
    if not found.entries:
        more = "" if is_whole else ", `commonhold queue list --all` shows all"
        yield f"the queue is empty: `commonhold queue add BRANCH` adds a branch{more}"
    if found.has_older:
        yield f"older ones: commonhold queue list --before {shown(found.entries[0].record.id)}"
    yield from map(line, found.entries)
    yield from map(_queue, found.queues)


def line(view: EntryView) -> str:
    """Return an entry in one line, with the time since its last step."""
    return _line(view, f"for {duration(max(0.0, time.time() - view.record.since))}")


def step(record: EntryRecord) -> str:
    """Return the state of an entry after a step, in one line."""
    return _line(EntryView(record))


def _line(view: EntryView, *facts: str) -> str:
    record = view.record
    state = "landing" if record.is_approved and record.state is EntryState.TESTING else record.state.value
    more = [*facts, *_facts(view)]
    details = f"  ({shown('; '.join(more))})" if more else ""
    return f"  {shown(record.id):6} {state:9} {shown(record.entry.branch)}{quoted(record.entry.title)}{details}"


def _facts(view: EntryView) -> Iterator[str]:
    record = view.record
    if record.state is EntryState.TESTING:
        yield f"in batch {record.batch}"
    elif record.suspected_in and not record.is_final and not view.why:
        yield f"suspected since batch {record.suspected_in}"
    if record.state is EntryState.LANDED:
        yield f"as {record.built[:12]}"
    if view.is_missing:
        yield "no longer part of the branch, which was reset"
    elif why := view.why or record.note:
        yield why


def _queue(found: QueueView) -> str:
    name = shown(short_ref(found.onto))
    runner = f"{who(found.runner)} runs it" if found.runner else "no process runs it: commonhold queue run"
    last = f"last landing {when(found.last_landed_at)}" if found.last_landed_at is not None else "nothing has landed"
    return f"{name}: {found.queued} queued, {found.testing} testing, {found.landed} landed; {last}; {runner}"


def answer(found: EntryAnswer, given: Given) -> Iterator[str]:
    """Yield the answer to a call that adds or removes an entry."""
    if found.code is not None:
        yield f"refused [{found.code}]: {shown(found.why)}"
    elif found.outcome == "unchanged":
        yield "nothing to do: it is in the queue with this commit"
    yield from map(line, found.entries)
    packets = [(each.record, each.record.packet) for each in found.entries if found.code is not None]
    if any(packet is not None for _, packet in packets):
        # Each packet has a next step of its own.
        yield from (text for record, packet in packets if packet is not None for text in _packet(record, packet))
        return
    yield from next_lines(found.next, given)
    if any(not each.record.is_final for each in found.entries):
        yield f"next: {command_line(Next('queue list', {}), given)}"


def details(found: EntryAnswer) -> Iterator[str]:
    """Yield entries with all that is known about them."""
    for view in found.entries:
        record, entry = view.record, view.record.entry
        yield line(view)
        yield f"    commit {entry.commit[:12]}, onto {shown(entry.onto)}, added by {who(record.added_by)}"
        named = {"task": entry.task, "session": entry.session, "checks": some(entry.checks)}
        yield from (f"    {name}: {shown(value)}" for name, value in named.items() if value)
        if record.tests:
            yield f"    tested in {record.tests} {'batch' if record.tests == 1 else 'batches'}"
        if record.packet is not None:
            yield from _packet(record, record.packet)


def _packet(record: EntryRecord, packet: RepairPacket) -> Iterator[str]:
    yield f"  [{packet.fault.value}] {shown(packet.why)}"
    for each in packet.conflicts:
        place = f"{each.path}#{each.region}" if each.region else each.path
        yield f"  {shown(place)}: {shown(each.why)}"
        yield from (f"    changed by {shown(change)}" for change in each.changed_by)
        yield from (f"    | {shown(text)}" for text in each.text.splitlines())
    if packet.check:
        yield f"  the check: {shown(packet.check)}"
    yield from (f"    | {shown(text)}" for text in packet.output.splitlines())
    if packet.beside:
        yield f"  landed since it left the branch: {some(packet.beside)}"
    branch, onto = shlex.quote(record.entry.branch), shlex.quote(short_ref(record.entry.onto))
    call = f"git switch {branch} && commonhold merge {onto} --keep-conflicts"
    if packet.fault is Fault.COMMIT_GONE:
        call = f"git switch {branch} && git rebase {onto}"
    elif not packet.conflicts:
        call = f"git switch {branch} && git merge {onto}"
    yield f"next: {shown_text(call)}"
    yield f"  then repair, commit, and: commonhold queue add {shown_text(branch)}"


def predictions(found: tuple[Prediction, ...]) -> Iterator[str]:
    """Yield predicted conflicts, a line each."""
    if not found:
        yield "no two of these branches touch the same regions"
    for each in found:
        more = f" and {len(each.keys) - _SHOWN_KEYS} more" if len(each.keys) > _SHOWN_KEYS else ""
        yield f"  {shown(each.one)} and {shown(each.other)}: {some(each.keys[:_SHOWN_KEYS])}{more}"


def added(event: EntryAdded) -> str:
    """Describe that an entry was added."""
    entry = event.entry
    return f"{shown(entry.id)} {shown(entry.branch)} onto {shown(entry.onto)}{quoted(entry.title)}"


def moved(event: EntryMoved) -> str:
    """Describe a transition of an entry."""
    of_batch = f" in {event.batch}" if event.batch else ""
    commit = f" as {event.built[:12]}" if event.move is EntryMove.LAND and event.built else ""
    return f"{shown(event.entry_id)} {_PAST[event.move]}{of_batch}{commit}{quoted(event.note)}"
