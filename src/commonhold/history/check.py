"""Replay the log of a state, and compare the last state with the one that is stored."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from commonhold.history.answers import Difference, ReplayAnswer
from commonhold.history.replay import Replayed, replay
from commonhold.history.snapshot import Beginning, Progress, beginning_of
from commonhold.kernel.compacted import is_compacted, was_compacted
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.events import Recorded
from commonhold.kernel.hash_chain import broken_at, links_after
from commonhold.kernel.ports import Reader, TaskReader
from commonhold.kernel.projection import State
from commonhold.workspace.place import WorktreeState

_PAGE: Final = 5000
BROKEN: Final = "its hash does not fit: this event, or the one before it, was changed, removed or inserted"
NEWEST: Final = 2**63 - 1


def check_log(place: WorktreeState, since: int, until: int | None) -> ReplayAnswer:
    """Replay the log of `place` up to the event `until` (None: all), and check the events from `since` on.

    If all events are replayed, the last state is compared with the tables, in the same view of the store. A log whose
    oldest events were compacted begins with the snapshot in their place. Raises UsageError for a range that is the
    wrong way round, and InputError `EVENT_UNKNOWN` for one beyond the newest event, `EVENT_COMPACTED` for one whose
    events are gone.
    """
    if until is not None and since > until:
        raise UsageError(Code.USAGE, f"the range from {since} to {until} is empty", hint=f"--from {until} --to {since}")
    with place.store.read() as reader:
        _check_range(reader, since, until)
        begin = beginning_of(reader)
        log = () if begin.fault else tuple(_pages(reader, begin.after, NEWEST if until is None else until))
        found = replay(log, since, is_shared=place.is_shared, progress=Progress(begin.snapshot))
        if found.difference is None:
            found.difference = begin.fault or _chain_difference(reader, begin, NEWEST if until is None else until)
        if until is None and found.difference is None:
            found.difference = _stored_difference(reader, found.state)
    return _answer(found, begin.after, is_stored=until is None)


def _check_range(reader: Reader, since: int, until: int | None) -> None:
    newest = reader.next_sequence - 1
    for number in (since, until or 0):
        if number > newest:
            raise InputError(
                Code.EVENT_UNKNOWN,
                f"the log has no event {number}: the newest is {newest}",
                hint="`commonhold log` shows the newest events with their numbers",
                fields={"newest": newest},
            )
        if is_compacted(reader, number):
            raise was_compacted(reader, f"the event {number} cannot be replayed")


def _answer(found: Replayed, compacted: int, *, is_stored: bool) -> ReplayAnswer:
    state = found.state
    return ReplayAnswer(
        "different" if found.difference else "same",
        found.first,
        found.last,
        dict(found.events),
        {kind: count for kind, count in found.checked.items() if count},
        found.difference,
        tuple(state.leases.values()),
        tuple(state.waiters.values()),
        tuple(state.tasks.values()),
        is_stored and found.difference is None,
        compacted,
    )


def _pages(reader: Reader, after: int, until: int) -> Iterator[Recorded]:
    while page := reader.events(after=after, limit=_PAGE):
        yield from (each for each in page if each.sequence <= until)
        after = page[-1].sequence
        if after >= until:
            return


def _chain_difference(reader: TaskReader, begin: Beginning, until: int) -> Difference | None:
    """Return the first event whose hash does not cover it and the event before."""
    found = links_after(lambda after: reader.links(after=after, limit=_PAGE), begin.after)
    links = (each for each in found if each.sequence <= until)
    number = broken_at(links, begin.hash)
    return None if number is None else Difference(number, BROKEN)


def chain_fault(reader: TaskReader) -> Difference | None:
    """Return the first event whose hash does not fit, or the event whose snapshot was changed; None if all is whole."""
    begin = beginning_of(reader)
    return begin.fault or _chain_difference(reader, begin, NEWEST)


_TABLES: Final[Mapping[str, tuple[Callable[[State], object], Callable[[Reader, State], object]]]] = {
    "leases": (lambda state: state.leases, lambda reader, _: {each.id: each for each in reader.leases()}),
    "waiters": (lambda state: state.waiters, lambda reader, _: {each.id: each for each in reader.waiters()}),
    "lost leases": (lambda state: state.lost, lambda reader, _: {each.id: each for each in reader.lost()}),
    "partial work": (lambda state: state.works, lambda reader, _: {each.lease_id: each for each in reader.works()}),
    "debts": (lambda state: state.debts, lambda reader, _: {each.place: each for each in reader.debts()}),
    "tasks": (lambda state: state.tasks, lambda reader, _: {each.id: each for each in reader.tasks()}),
    "runs": (lambda state: state.runs, lambda reader, _: {each.id: each for each in reader.runs()}),
    "items of runs": (
        lambda state: state.run_items,
        lambda reader, state: {(run, each.task_id): each for run in state.runs for each in reader.run_items(run)},
    ),
    "entries": (lambda state: state.entries, lambda reader, _: {each.id: each for each in reader.entries()}),
    "values": (lambda state: state.values, lambda reader, state: {key: reader.value(key) for key in state.values}),
}


def _stored_difference(reader: Reader, state: State) -> Difference | None:
    """Return the first table whose rows are not those that the log results in."""
    for name, (folded, stored) in _TABLES.items():
        if (expected := folded(state)) != (found := stored(reader, state)):
            why = f"the stored {name} are not those that the log results in"
            return Difference(state.sequence, why, _text(found), _text(expected))
    return None


def _text(rows: object) -> str:
    return ", ".join(sorted(map(str, rows))) if isinstance(rows, dict) else str(rows)
