"""PURE: reconstruct every state from the log, and check that the recorded decisions come out the same.

Three things are checked. The log is whole: its numbers follow each other, and each event fits the state before it.
Decisions on leases, values, tasks, runs and entries of the merge queue are made again, wherever their commands can be
derived from the events. Of commits, whose content the log does not have, the authorisation is checked: named leases
were held by the author, and no other session held a changed region.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec

from commonhold.history import entry_checks, lease_checks, run_checks, task_checks
from commonhold.history.answers import Difference
from commonhold.history.snapshot import REMEMBERED_SECONDS, Ended, Progress
from commonhold.kernel.changeset import LeaseLost, LeaseRef, authorise
from commonhold.kernel.clock import Now
from commonhold.kernel.errors import InputError
from commonhold.kernel.events import KIND_OF, Committed, DebtWaived, Event, Recorded, StateReset
from commonhold.kernel.keys import Key, canonical, contains
from commonhold.kernel.obligations import place_of_debt
from commonhold.kernel.projection import State
from commonhold.kernel.task import TaskAdded
from commonhold.kernel.texts import NOBODY
from commonhold.tasks.definition import MOST_TASKS

_TOLERANCE: Final = 1e-3
_MOST_AT_ONCE: Final = 1000
"""More events than one decision on leases records."""


@dataclass(slots=True)
class Replayed:
    """The result of a replay: the last `state`, the events of each kind, and how many of them were decided again.

    `first` and `last` are the numbers of the first and the last event that were checked; 0 without events.
    """

    state: State = field(default_factory=State)
    first: int = 0
    last: int = 0
    events: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    difference: Difference | None = None


def replay(
    log: Sequence[Recorded], since: int = 0, *, is_shared: bool = False, progress: Progress | None = None
) -> Replayed:
    """Fold the log, and check the events from the number `since` on, up to the first difference.

    `is_shared`: leases are in another log, so that the authorisation of commits cannot be checked here. `progress` is
    the state that the log begins with, if its first events were compacted.
    """
    progress = progress or Progress()
    done = Replayed(progress.state)
    covered, begin = 0, _begin(log, since)
    for index, recorded in enumerate(log):
        if gap := _gap(done.state, log, index):
            done.difference = gap
            return done
        try:
            if index >= begin and not covered:
                covered, done.difference = _checked(
                    done.state, _ahead(log, index), None if is_shared else progress.ended
                )
            if done.difference is not None:
                return done
            if index >= begin:
                _count(done, recorded, is_checked=covered > 0)
                covered = max(0, covered - 1)
            progress.apply(recorded)
            done.state = progress.state
        except KeyError as fault:
            why = f"the event does not fit the state before it: {_missing(fault)}"
            done.difference = Difference(recorded.sequence, why, _json(recorded.event))
            return done
    return done


def _begin(log: Sequence[Recorded], since: int) -> int:
    """Return the place of the first event from `since` on, or of the first one that its decision recorded.

    The events of one decision are checked together.
    """
    place = next((index for index, each in enumerate(log) if each.sequence >= since), len(log))
    while 0 < place < len(log) and log[place - 1].at == log[place].at:
        place -= 1
    return place


def _missing(fault: KeyError) -> str:
    match fault.args[0]:
        case (StrEnum() as before, StrEnum() as move):
            return f"there is no transition {move.value!r} from the state {before.value!r}"
        case name:
            return f"{name!r} is not there"


def _count(done: Replayed, recorded: Recorded, *, is_checked: bool) -> None:
    kind = KIND_OF[type(recorded.event)]
    done.first = done.first or recorded.sequence
    done.last = recorded.sequence
    done.events[kind] += 1
    done.checked[kind] += is_checked


def _ahead(log: Sequence[Recorded], index: int) -> Sequence[Recorded]:
    """Return the events from there on, at least those that one decision recorded."""
    most = MOST_TASKS if isinstance(log[index].event, TaskAdded) else _MOST_AT_ONCE
    return log[index : index + most]


def _gap(state: State, log: Sequence[Recorded], index: int) -> Difference | None:
    """Return the difference if events are missing before this one; after a reset their number is not known."""
    recorded = log[index]
    if recorded.sequence == state.sequence + 1:
        return None
    beside = (each.event for each in log[index:] if each.at == recorded.at)
    if recorded.sequence > state.sequence and any(isinstance(each, StateReset) for each in beside):
        return None
    why = f"events {state.sequence + 1} to {recorded.sequence - 1} are missing"
    return Difference(recorded.sequence, why if recorded.sequence > state.sequence else "the numbers do not grow")


def _checked(state: State, log: Sequence[Recorded], ended: Mapping[str, Ended] | None) -> tuple[int, Difference | None]:
    """Return how many events were decided again from here on, and the first difference."""
    recorded = log[0]
    event = recorded.event
    if isinstance(event, Committed):
        return (0, None) if ended is None else _commit(state, recorded, event, ended)
    if isinstance(event, DebtWaived):
        is_open = place_of_debt(event.worktree, event.key) in state.debts
        return 1, None if is_open else Difference(recorded.sequence, "there is no such debt", _json(event))
    is_due = lease_checks.end_is_due(state, log)
    if is_due is not None:
        why = "it ended before its deadline, or its deadline is another"
        return 1, None if is_due else Difference(recorded.sequence, why, _json(event))
    try:
        return _again(state, log)
    except InputError as fault:
        return 0, Difference(recorded.sequence, f"the decision cannot be made again: {fault.message}", _json(event))


def _again(state: State, log: Sequence[Recorded]) -> tuple[int, Difference | None]:
    """Make the decision again that recorded the first event, as far as it can be derived, and compare its events."""
    again, is_of_run = run_checks.decided_again(state, log), run_checks.is_of_run(log[0].event)
    if again is not None or is_of_run:
        found = _compared(log, again or ())
        if found[1] is None or is_of_run:
            return found
    again = entry_checks.decided_again(state, log)
    if again is None:
        again = task_checks.decided_again(state, log)
    if again is None:
        again = lease_checks.decided_again(state, log[0])
    return (0, None) if again is None else _compared(log, again)


def _compared(log: Sequence[Recorded], again: Sequence[Event]) -> tuple[int, Difference | None]:
    """Compare the events that were decided again with the recorded ones; none at all is a difference, too."""
    if not again or len(again) > len(log):
        return 0, Difference(log[0].sequence, "the decision comes out otherwise", _json(log[0].event), "no event")
    for recorded, event in zip(log, again, strict=False):
        is_same_kind = type(recorded.event) is type(event)
        if not is_same_kind or not _alike(msgspec.to_builtins(recorded.event), msgspec.to_builtins(event)):
            why = "the decision comes out otherwise"
            return 0, Difference(recorded.sequence, why, _json(recorded.event), _json(event))
    return len(again), None


def _commit(
    state: State, recorded: Recorded, event: Committed, ended: Mapping[str, Ended]
) -> tuple[int, Difference | None]:
    """Check that the author of a commit held its leases, and that no other session held a changed region.

    A commit is decided before its files are written and recorded after that: its leases may end in between.
    """
    if event.unadmitted or event.holder == NOBODY or event.adopts:
        return 0, None
    # A lease whose deadline has passed stands against no one.
    live = {
        each.id: each for each in state.leases.values() if each.deadline.wall > recorded.at or each.id in event.leases
    }
    just = {
        each: lease
        for each, (at, lease) in ended.items()
        if each in event.leases and at >= recorded.at - REMEMBERED_SECONDS
    }
    live |= just
    named = [LeaseRef(each, live[each].fence if each in live else 0) for each in event.leases]
    lasting = lease_checks.table_of(State(leases=live), "", 0).leases
    found = authorise(_leaves(event), named, event.holder, lasting, Now("", 0.0, recorded.at))
    if found is None:
        return 1, None
    why = found.why if isinstance(found, LeaseLost) else f"{found.conflicts[0].holder} held {found.conflicts[0].held}"
    return 1, Difference(recorded.sequence, why, _json(event))


def _leaves(event: Committed) -> Iterator[Key]:
    """Yield the innermost changed regions, without headers: those may grow beside others' leases."""
    keys = [canonical(each.key) for each in event.regions]
    for key in keys:
        if key.is_region and not key.is_header and not any(other != key and contains(key, other) for other in keys):
            yield key


def _alike(left: object, right: object) -> bool:
    """Compare two events as plain values. Numbers of the clock may differ in the last digits."""
    match left, right:
        case dict(), dict():
            return left.keys() == right.keys() and all(_alike(left[name], right[name]) for name in left)
        case (list() | tuple(), list() | tuple()):
            return len(left) == len(right) and all(map(_alike, left, right))
        case float(), float() | int():
            return abs(left - right) <= _TOLERANCE
        case _:
            return left == right


def _json(event: Event) -> str:
    return msgspec.json.encode(event, order="deterministic").decode()
