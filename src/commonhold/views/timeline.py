"""PURE: a part of the log as spans and marks over time, and its activity by file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from commonhold.history.ledger import Ledger
from commonhold.history.reasons import code_of
from commonhold.history.wording import sentence
from commonhold.kernel.events import (
    KIND_OF,
    CommitRefused,
    Committed,
    Event,
    LeaseBroken,
    LeaseDenied,
    LeaseExpired,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LeaseReleased,
    Recorded,
    WaiterLeft,
    WorkLeft,
    holder_of,
    lease_id_of,
)
from commonhold.kernel.task import TaskMoved
from commonhold.kernel.write_slots import is_for_slots, shown_key
from commonhold.views.overview import is_incident, paths_of

MOST_EVENTS = 20_000


@dataclass(frozen=True, slots=True)
class Span:
    """A lease, a place in line, or the write of a file by a tool, from `began_at` to `ended_at` (None: not ended).

    `end` is how it ended: released, expired, broken, handed over, granted, or left.
    """

    kind: Literal["lease", "wait", "write"]
    lease_id: str
    holder: str
    keys: tuple[str, ...]
    purpose: str
    began_at: float
    ended_at: float | None = None
    end: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment: a commit, a refusal, a loss, or the transition of a task, in words."""

    sequence: int
    at: float
    kind: str
    holder: str
    text: str
    keys: tuple[str, ...] = ()
    code: str = ""
    is_incident: bool = False


@dataclass(slots=True)
class FileActivity:
    """The activity in a file: commits, refusals, `authors` by number of commits, and who holds a part of it now."""

    path: str
    commits: int = 0
    refusals: int = 0
    last_at: float = 0.0
    authors: dict[str, int] = field(default_factory=dict)
    holders: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The events from number `first` to `last`, as of the Unix time `until`; older ones were not examined."""

    began_at: float
    until: float
    first: int
    last: int
    spans: tuple[Span, ...] = ()
    marks: tuple[Mark, ...] = ()
    files: tuple[FileActivity, ...] = ()


def timeline(events: Sequence[Recorded], until: float) -> Timeline:
    """Return the spans in order of their begin, the marks, and the files, those with most activity first."""
    if not events:
        return Timeline(until, until, 0, 0)
    ledger = Ledger(events)
    spans, marks = tuple(_spans(events)), tuple(_marks(ledger))
    return Timeline(
        events[0].at, until, events[0].sequence, events[-1].sequence, spans, marks, tuple(_files(ledger, spans))
    )


def _spans(events: Sequence[Recorded]) -> list[Span]:
    open_: dict[str, Span] = {}
    found: list[Span] = []

    def end(lease_id: str, at: float, how: str) -> Span | None:
        span = open_.pop(lease_id, None)
        if span is not None:
            found.append(replace(span, ended_at=at, end=how))
        return span

    for recorded in events:
        event, at = recorded.event, recorded.at
        match event:
            case LeaseGranted(lease=claim) | LeaseQueued(waiter=claim):
                end(claim.id, at, "granted")
                kind: Literal["lease", "wait", "write"] = "wait" if isinstance(event, LeaseQueued) else "lease"
                if is_for_slots(claim.keys):
                    kind = "write"
                keys = tuple(map(shown_key, claim.keys))
                open_[claim.id] = Span(kind, claim.id, claim.holder, keys, claim.task, at)
            case LeaseHandedOver(lease_id=lease_id, to=to):
                if span := end(lease_id, at, "handed over"):
                    open_[lease_id] = replace(span, holder=to, began_at=at)
            case LeaseReleased() | LeaseExpired() | LeaseBroken() | WaiterLeft():
                end(event.lease_id, at, _ENDS[type(event)])
            case _:
                pass
    return sorted([*found, *open_.values()], key=lambda each: each.began_at)


_ENDS: dict[type[Event], str] = {
    LeaseReleased: "released",
    LeaseExpired: "expired",
    LeaseBroken: "broken",
    WaiterLeft: "left",
}


def _marks(ledger: Ledger) -> Iterator[Mark]:
    for each in ledger.events:
        event = each.event
        incident = is_incident(event)
        if not (incident or isinstance(event, Committed | WorkLeft | TaskMoved)):
            continue
        keys = ledger.keys_of(event)
        if lease_id_of(event) and keys and is_for_slots(keys):
            continue
        shown, code = tuple(map(shown_key, keys)), code_of(event)
        text = sentence(event, ledger)
        yield Mark(each.sequence, each.at, KIND_OF[type(event)], holder_of(event), text, shown, code, incident)


def _files(ledger: Ledger, spans: Sequence[Span]) -> list[FileActivity]:
    found: dict[str, FileActivity] = {}

    def at(path: str) -> FileActivity:
        return found.setdefault(path, FileActivity(path))

    for each in ledger.events:
        event = each.event
        if isinstance(event, Committed):
            for file in [at(change.path) for change in event.files]:
                file.commits, file.last_at = file.commits + 1, each.at
                file.authors[event.holder] = file.authors.get(event.holder, 0) + 1
        elif isinstance(event, CommitRefused | LeaseDenied):
            for file in map(at, paths_of(ledger.keys_of(event))):
                file.refusals, file.last_at = file.refusals + 1, each.at
    held_now = [span for span in spans if span.ended_at is None and span.kind != "wait"]
    held = {(path, span.holder) for span in held_now for path in paths_of(span.keys)}
    for path, holder in sorted(held):
        at(path).holders.append(holder)
    return sorted(found.values(), key=lambda each: (-each.commits - each.refusals - len(each.holders), each.path))
