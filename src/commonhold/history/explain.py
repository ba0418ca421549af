"""Explain from the log alone why something was refused, waited or changed."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from commonhold.history.answers import Account, Step, Subject
from commonhold.history.ledger import Ledger, changes, touches
from commonhold.history.reasons import code_of, reasons
from commonhold.history.wording import sentence
from commonhold.kernel.answers import Next
from commonhold.kernel.compacted import is_compacted, told_compacted, was_compacted
from commonhold.kernel.entry import EntryAdded
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import (
    KIND_OF,
    CommitRefused,
    Committed,
    LeaseClaimed,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    WaiterSeen,
    run_id_of,
)
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease_ports import LeaseView
from commonhold.kernel.managed_session import SessionQueued
from commonhold.kernel.run import ItemMoved
from commonhold.kernel.task import Move, TaskAdded, TaskMoved
from commonhold.kernel.values import MAX_NUMBER
from commonhold.reads.reading import RegionReader
from commonhold.workspace.place import WorktreeState

MOST_EXAMINED: Final = 20_000
"""How many events before the newest, or before the one in question, are examined."""
MOST_STEPS: Final = 50
TASK: Final = "task:"
_LEASE: Final = re.compile(r"lease-[0-9A-Za-z-]+")
_SIGNS: Final = (LeaseRenewed, WaiterSeen)
_STARTS: Final = (Move.CLAIM, Move.HAND_OVER)


class Explain:
    """Gives accounts of the log of one working tree's state, and of the leases that machines share with it."""

    def __init__(self, place: WorktreeState, reading: RegionReader) -> None:
        """Read the logs of `place`; `reading` finds the keys of files."""
        self._place = place
        self._reading = reading

    def explain(self, what: str) -> Account:
        """Return the account of an event (its number), a lease (its id), a key, or what a prefix names.

        Those are `task:ID`, `run:ID`, `entry:ID` for an entry of the merge queue, and `session:ID` for a managed
        session. Raises InputError `EVENT_UNKNOWN` if no event has that number or is about that lease, `TASK_UNKNOWN`,
        and those of keys.
        """
        if what.isascii() and what.isdigit():
            return self._of_event(min(int(what[:20]), MAX_NUMBER - 1))
        if _LEASE.fullmatch(what):
            return self._of_lease(what)
        ledger = self._newest()
        task_id = what.removeprefix(TASK)
        if any(isinstance(e.event, TaskAdded | TaskMoved) and _task_of(e) == task_id for e in ledger.events):
            return _account("task", task_id, list(_about_task(ledger, task_id)), ledger)
        if what.startswith(TASK):
            raise InputError(
                Code.TASK_UNKNOWN, f"no event is about the task {task_id!r}", hint="see `commonhold task list --all`"
            )
        for subject, id_of in _IDS.items():
            name = what.removeprefix(f"{subject}:")
            if name != what and (found := [each for each in ledger.events if id_of(each) == name]):
                return _account(subject, name, found, ledger)
        key = self._reading.locate(what)
        return _account("region", str(key), list(_about_key(ledger, key)), ledger)

    def _of_event(self, number: int) -> Account:
        for ledger in self._around(number):
            found = [each for each in ledger.events if each.sequence == number]
            if found:
                return _account("event", str(number), found, ledger)
        for view in self._views():
            if is_compacted(view, number):
                raise was_compacted(view, f"the event {number} cannot be explained")
        raise _no_event(f"the log has no event {number}")

    def _of_lease(self, lease_id: str) -> Account:
        with self._place.registry.read() as view:
            events = view.events(after=0, limit=MOST_EXAMINED, lease_id=lease_id)
            gone = told_compacted(view)
        if not events:
            raise _no_event(f"no event is about the lease {lease_id}{f' any more: {gone}' if gone else ''}")
        ledger = next((each for each in self._around(events[0].sequence) if each.of_lease(lease_id)), Ledger(events))
        known = {each.sequence: each for each in ledger.of_lease(lease_id)}
        steps = [known.get(each.sequence, each) for each in events if not isinstance(each.event, _SIGNS)]
        return _account("lease", lease_id, steps, ledger)

    def _around(self, number: int) -> Iterator[Ledger]:
        """Yield the part of each log around a number: the state's own first, then that of shared leases."""
        for view in self._views():
            yield Ledger(view.events(after=max(0, number - MOST_EXAMINED), limit=2 * MOST_EXAMINED))

    def _newest(self) -> Ledger:
        """Return the newest events of all logs, in the order of time."""
        parts = [view.latest(MOST_EXAMINED) for view in self._views()]
        if len(parts) == 1:
            return Ledger(parts[0])
        return Ledger(sorted((each for part in parts for each in part), key=lambda each: each.at))

    def _views(self) -> Iterator[LeaseView]:
        with self._place.store.read() as reader:
            yield reader
        if self._place.is_shared:
            with self._place.registry.read() as view:
                yield view


def _account(subject: Subject, name: str, found: Sequence[Recorded], ledger: Ledger) -> Account:
    shown = found[-MOST_STEPS:]
    steps = tuple(
        Step(
            each.sequence,
            each.at,
            KIND_OF[type(each.event)],
            sentence(each.event, ledger),
            reasons(each, ledger),
            code_of(each.event),
        )
        for each in shown
    )
    since = ledger.events[0].sequence if ledger.events else 0
    step = None
    if subject != "event" and (refused := [each for each in steps if each.code]):
        step = Next("explain", {"what": refused[-1].code}, "the meaning of the newest refusal, and the remedy:")
    return Account(subject, name, steps, since, len(found) - len(shown), step)


def _about_task(ledger: Ledger, task_id: str) -> Iterator[Recorded]:
    """Yield the transitions of a task, the commits of the session that held it, and the trouble with its lease."""
    key = canonical(f"{TASK}{task_id}")
    holder = ""
    for each in ledger.events:
        event = each.event
        if isinstance(event, TaskAdded | TaskMoved):
            if _task_of(each) == task_id:
                holder = event.to if isinstance(event, TaskMoved) and event.move in _STARTS else ""
                yield each
        elif isinstance(event, Committed | CommitRefused):
            if holder and (event.holder == holder or event.holder.startswith(f"{holder}/")):
                yield each
        elif isinstance(event, ItemMoved):
            if event.task_id == task_id:
                yield each
        elif not isinstance(event, (*_SIGNS, LeaseGranted, LeaseClaimed, LeaseReleased)) and touches(
            ledger.keys_of(event), (key,)
        ):
            yield each


def _about_key(ledger: Ledger, key: Key) -> Iterator[Recorded]:
    for each in ledger.events:
        is_about = changes if isinstance(each.event, Committed) else touches
        if not isinstance(each.event, _SIGNS) and is_about(ledger.keys_of(each.event), (key,)):
            yield each


def _task_of(recorded: Recorded) -> str:
    event = recorded.event
    return event.task.id if isinstance(event, TaskAdded) else getattr(event, "task_id", "")


def _entry_of(recorded: Recorded) -> str:
    event = recorded.event
    return event.entry.id if isinstance(event, EntryAdded) else getattr(event, "entry_id", "")


def _session_of(recorded: Recorded) -> str:
    event = recorded.event
    return event.session.id if isinstance(event, SessionQueued) else getattr(event, "session_id", "")


_IDS: Final[Mapping[Subject, Callable[[Recorded], str | None]]] = {
    "run": lambda recorded: run_id_of(recorded.event),
    "entry": _entry_of,
    "session": _session_of,
}
"""The id of an event's subject, by the prefix of the key."""


def _no_event(why: str) -> InputError:
    return InputError(Code.EVENT_UNKNOWN, why, hint="`commonhold log` shows the newest events with their numbers")
