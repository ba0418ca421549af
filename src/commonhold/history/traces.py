"""PURE: the log as OpenTelemetry traces, in the JSON form of the OpenTelemetry protocol (OTLP/JSON).

A span is a run, an item of a run, an attempt at a task, an entry of a merge queue, a managed session, a lease, a wait
for one, or a commit; refusals are spans without length. A commit under a lease is a child of that lease, and a lease
that is a claim is one of the task's attempt; a wait stands beside its lease in the same trace. An item is a child of
its run, and an attempt by its session is one of the item. Ids are hashes of the numbers and ids in the log, so that the
same log gives the same spans.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from commonhold.history.ledger import ENDS, Ledger
from commonhold.history.wording import named, sentence
from commonhold.kernel.entry import ENTRY_TRANSITIONS, FINAL, EntryAdded, EntryMove, EntryMoved
from commonhold.kernel.events import (
    KIND_OF,
    CommitRefused,
    Committed,
    Event,
    LeaseBroken,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseQueued,
    Recorded,
    WaiterLeft,
    lease_id_of,
)
from commonhold.kernel.managed_session import FINAL as FINAL_SESSION
from commonhold.kernel.managed_session import SESSION_TRANSITIONS, SessionMove, SessionMoved, SessionQueued
from commonhold.kernel.run import (
    ITEM_TRANSITIONS,
    ItemMoved,
    ItemState,
    ItemStep,
    RunMove,
    RunMoved,
    RunPlanned,
    RunStarted,
)
from commonhold.kernel.task import TRANSITIONS, Move, TaskMoved, TaskState

_NANOSECONDS: Final = 1_000_000_000
_INTERNAL: Final = 1
_OK, _ERROR = 1, 2
_CLAIMED: Final = TaskState.CLAIMED
_ATTEMPT_ENDS: Final = frozenset(
    move for (before, move), after in TRANSITIONS.items() if before is _CLAIMED and after is not _CLAIMED
)
_ITEM_ENDS: Final = frozenset(
    step
    for (_, step), after in ITEM_TRANSITIONS.items()
    if after in (ItemState.ACCEPTED, ItemState.FAILED, ItemState.CANCELLED)
)
_ENTRY_ENDS: Final = frozenset(move for (_, move), after in ENTRY_TRANSITIONS.items() if after in FINAL)
_SESSION_ENDS: Final = frozenset(move for (_, move), after in SESSION_TRANSITIONS.items() if after in FINAL_SESSION)
_FAILED: Final = (LeaseExpired, LeaseBroken, LeaseDenied, CommitRefused, WaiterLeft)


def traces(events: Sequence[Recorded], version: str) -> Mapping[str, Any]:
    """Return all spans of `events`; those that have not ended last until the newest event, and are marked `open`."""
    spans = _Spans(events)
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes({"service.name": "commonhold", "service.version": version})},
                "scopeSpans": [{"scope": {"name": "commonhold.log"}, "spans": list(spans.all())}],
            }
        ]
    }


class _Spans:
    def __init__(self, events: Sequence[Recorded]) -> None:
        self._events = events
        self._ledger = Ledger(events)
        self._claims = {
            each.event.lease_id: each.event
            for each in events
            if isinstance(each.event, TaskMoved) and each.event.move is Move.CLAIM and each.event.lease_id
        }
        self._steps: dict[tuple[str, str], list[Recorded]] = {}
        self._run_moves: dict[str, list[Recorded]] = {}
        self._run_of: dict[tuple[str, str], str] = {}
        """The run for which a session attempts a task, by task and session."""
        self._moves: dict[str, list[Recorded]] = {}
        """The moves of entries and managed sessions, by the name of their span."""
        for each in events:
            match each.event:
                case EntryAdded() | SessionQueued():
                    self._moves[_moving(each.event)] = []
                case EntryMoved() | SessionMoved() if _moving(each.event) in self._moves:
                    self._moves[_moving(each.event)].append(each)
                case ItemMoved() as step:
                    self._steps.setdefault((step.run_id, step.task_id), []).append(each)
                    if step.session:
                        self._run_of[step.task_id, step.session] = step.run_id
                case RunStarted(run=run):
                    self._run_moves[run.id] = []
                case RunPlanned(run_id=run_id) | RunMoved(run_id=run_id) if run_id in self._run_moves:
                    self._run_moves[run_id].append(each)
                case _:
                    pass

    def all(self) -> Iterator[Mapping[str, Any]]:
        """Yield a span for each event that begins something, in the order of the log."""
        for each in self._events:
            event = each.event
            match event:
                case LeaseGranted(lease=lease):
                    root, own = self._root(lease.id), f"lease:{lease.id}"
                    end = self._end(each, lease.id, ENDS)
                    claim = self._claims.get(lease.id)
                    parent = self._attempt(claim)[0] if claim else ""
                    yield self._span(each, end, f"lease {named(lease.keys)}", own, root, parent=parent)
                case LeaseQueued(waiter=waiter):
                    end = self._end(each, waiter.id, (LeaseGranted, WaiterLeft))
                    own = f"wait:{waiter.id}"
                    yield self._span(each, end, f"wait {named(waiter.keys)}", own, self._root(waiter.id))
                case TaskMoved(move=Move.CLAIM):
                    own, root, parent = self._attempt(event)
                    end = self._attempt_end(each, event)
                    yield self._span(each, end, f"task {event.task_id}", own, root, parent=parent)
                case RunStarted(run=run):
                    moves = self._run_moves[run.id]
                    yield self._span(
                        each, _run_end(moves), f"run {run.id}", f"run:{run.id}", f"run:{run.id}", moments=moves
                    )
                case EntryAdded() | SessionQueued():
                    own = _moving(event)
                    moves = self._moves[own]
                    end = moves[-1] if moves and _is_last_move(moves[-1].event) else None
                    yield self._span(each, end, own.replace(":", " "), own, own, moments=moves)
                case ItemMoved() if (steps := self._steps[event.run_id, event.task_id])[0] is each:
                    root, own = f"run:{event.run_id}", f"item:{event.run_id}:{event.task_id}"
                    parent = root if event.run_id in self._run_moves else ""
                    end = steps[-1] if _is_item_end(steps[-1]) else None
                    yield self._span(each, end, f"item {event.task_id}", own, root, parent=parent, moments=steps[1:])
                case Committed():
                    leases = (lease_id for lease_id in event.leases if self._ledger.lease_of(lease_id))
                    own, under = f"event:{each.sequence}", next(leases, None)
                    parent = f"lease:{under}" if under else own
                    yield self._span(each, each, "commit", own, self._root(under) if under else own, parent=parent)
                case LeaseDenied() | CommitRefused():
                    own = f"event:{each.sequence}"
                    yield self._span(each, each, KIND_OF[type(event)].replace("_", " "), own, own)
                case _:
                    pass

    def _root(self, lease_id: str) -> str:
        """Return the name of the span at the root of a lease's trace."""
        claim = self._claims.get(lease_id)
        return self._attempt(claim)[1] if claim else f"lease:{lease_id}"

    def _attempt(self, claim: TaskMoved) -> tuple[str, str, str]:
        """Return the names of the span of an attempt, of the root of its trace, and of its parent (empty: none)."""
        own = f"attempt:{claim.task_id}:{claim.attempt}"
        run_id = self._run_of.get((claim.task_id, claim.to))
        return (own, f"run:{run_id}", f"item:{run_id}:{claim.task_id}") if run_id else (own, own, "")

    def _end(self, begin: Recorded, lease_id: str, kinds: tuple[type, ...]) -> Recorded | None:
        later = (each for each in self._ledger.of_lease(lease_id) if each.sequence > begin.sequence)
        return next((each for each in later if isinstance(each.event, kinds)), None)

    def _attempt_end(self, begin: Recorded, claim: TaskMoved) -> Recorded | None:
        for each in self._events:
            event = each.event
            if (
                each.sequence > begin.sequence
                and isinstance(event, TaskMoved)
                and (event.task_id, event.attempt) == (claim.task_id, claim.attempt)
                and event.move in _ATTEMPT_ENDS
            ):
                return each
        return None

    def _span(
        self,
        begin: Recorded,
        end: Recorded | None,
        name: str,
        own: str,
        root: str,
        *,
        parent: str = "",
        moments: Iterable[Recorded] | None = None,
    ) -> Mapping[str, Any]:
        """Return a span. `own` identifies it, `root` its trace, and `parent` the span that it is a child of.

        `moments` are the events within it; without them, those about the same lease.
        """
        last = end or self._events[-1]
        is_failed = _is_failed(last.event if end else begin.event)
        told: dict[str, str | int | bool] = {
            "commonhold.sequence": begin.sequence,
            "commonhold.kind": KIND_OF[type(begin.event)],
            "commonhold.text": sentence(begin.event, self._ledger),
            "commonhold.open": end is None,
        }
        return {
            "traceId": _digits(f"trace {root}", 32),
            "spanId": _digits(f"span {own}", 16),
            **({"parentSpanId": _digits(f"span {parent}", 16)} if parent not in ("", own) else {}),
            "name": name,
            "kind": _INTERNAL,
            "startTimeUnixNano": _nanoseconds(begin.at),
            "endTimeUnixNano": _nanoseconds(max(begin.at, last.at)),
            "attributes": _attributes(told),
            "events": [self._moment(each) for each in (self._between(begin, end) if moments is None else moments)],
            "status": {"code": _ERROR if is_failed else _OK},
        }

    def _between(self, begin: Recorded, end: Recorded | None) -> Iterator[Recorded]:
        """Yield the events about the same lease within a span, and its end."""
        lease_id = lease_id_of(begin.event)
        for each in self._ledger.of_lease(lease_id) if lease_id else ():
            if begin.sequence < each.sequence <= (end.sequence if end else each.sequence):
                yield each

    def _moment(self, recorded: Recorded) -> Mapping[str, Any]:
        told: dict[str, str | int | bool] = {
            "commonhold.sequence": recorded.sequence,
            "commonhold.text": sentence(recorded.event, self._ledger),
        }
        name, at = KIND_OF[type(recorded.event)], _nanoseconds(recorded.at)
        return {"timeUnixNano": at, "name": name, "attributes": _attributes(told)}


def _run_end(moves: Sequence[Recorded]) -> Recorded | None:
    """Return the event that ended a run; None while it goes on."""
    last = moves[-1] if moves else None
    return last if last and isinstance(last.event, RunMoved) and last.event.move is not RunMove.RESUME else None


def _is_item_end(step: Recorded) -> bool:
    return isinstance(step.event, ItemMoved) and step.event.step in _ITEM_ENDS


def _moving(event: EntryAdded | EntryMoved | SessionQueued | SessionMoved) -> str:
    """Return the name of the span of an entry or a managed session."""
    match event:
        case EntryAdded(entry=entry):
            return f"entry:{entry.id}"
        case EntryMoved(entry_id=entry_id):
            return f"entry:{entry_id}"
        case SessionQueued(session=session):
            return f"session:{session.id}"
        case SessionMoved(session_id=session_id):
            return f"session:{session_id}"


def _is_last_move(event: Event) -> bool:
    return (isinstance(event, EntryMoved) and event.move in _ENTRY_ENDS) or (
        isinstance(event, SessionMoved) and event.move in _SESSION_ENDS
    )


def _is_failed(event: Event) -> bool:
    """Whether a span that ends with this event, or consists of it, is an error."""
    match event:
        case RunMoved(move=RunMove.FAIL | RunMove.CANCEL):
            return True
        case ItemMoved(step=ItemStep.EXHAUST | ItemStep.CANCEL):
            return True
        case TaskMoved(move=Move.EXHAUST) | EntryMoved(move=EntryMove.REFUSE) | SessionMoved(move=SessionMove.FAIL):
            return True
        case _:
            return isinstance(event, _FAILED)


def _digits(name: str, count: int) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:count]


def _nanoseconds(at: float) -> str:
    return str(round(at * _NANOSECONDS))


def _attributes(values: Mapping[str, str | int | bool]) -> list[Mapping[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: str | int | bool) -> Mapping[str, Any]:  # noqa: FBT001 - a value of an attribute
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}
