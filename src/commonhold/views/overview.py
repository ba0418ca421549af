"""PURE: the present moment as rows: agents, the line, decisions that wait for a person, and recent conflicts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from typing import Final, Literal

from commonhold.history.ledger import Ledger
from commonhold.history.reasons import code_of
from commonhold.history.wording import named, sentence
from commonhold.kernel.clock import Now
from commonhold.kernel.entry import EntryRecord, EntryState, Landings
from commonhold.kernel.events import (
    KIND_OF,
    CommitRefused,
    Committed,
    Event,
    LeaseBroken,
    LeaseDenied,
    LeaseExpired,
    Leaving,
    Recorded,
    WaiterLeft,
    holder_of,
)
from commonhold.kernel.keys import FILE, canonical
from commonhold.kernel.lease import Lease, Waiter, conflicts
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.kernel.pictures import Status
from commonhold.kernel.presence import Presence
from commonhold.kernel.run import ItemMoved, RunRecord, RunState
from commonhold.kernel.task import TaskRecord, TaskState
from commonhold.kernel.write_slots import is_for_slots, shown_key
from commonhold.landing.answers import EntryView, QueueView
from commonhold.landing.queue_state import queue_states, why_waiting
from commonhold.sessions.decide import supervisor_of
from commonhold.sessions.landing import LandingMove, landing_step

SILENT_SECONDS: Final = 300.0
"""An agent that shows no sign of life for so long, and has not finished its turn, counts as silent."""
RECENT_SECONDS: Final = 900.0
"""Commits so recent count when sessions that change the same file are looked for."""
RETURNED_SECONDS: Final = 86_400.0
"""For so long an entry that the merge queue has returned waits for a person: nothing else ends its wait."""
MOST_INCIDENTS: Final = 50
MOST_ENTRIES: Final = 20
Subject = Literal[
    "partial_work",
    "debt",
    "session_review",
    "task_proposed",
    "task_failed",
    "task_stranded",
    "run_failed",
    "entry_returned",
    "commit_refused",
]


class AgentState(StrEnum):
    """What an agent does: WAITING in line for a lease; FINISHED its turn; WORKING; SILENT for five minutes."""

    WAITING = "waiting"
    WORKING = "working"
    FINISHED = "finished"
    SILENT = "silent"


class Source(StrEnum):
    """Where a state is known from: the agent's HOOKS, its place in the LINE, or its LEASE."""

    HOOKS = "hooks"
    LINE = "line"
    LEASE = "lease"


@dataclass(frozen=True, slots=True)
class Holding:
    """A lease of an agent. Times are Unix times; a lease `is_writing` while a tool writes a file under it."""

    lease_id: str
    fence: int
    keys: tuple[str, ...]
    purpose: str
    since: float
    ends_at: float
    is_writing: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """A place in line, and the sessions that it is `behind`: holders of overlapping leases, and those ahead in line."""

    lease_id: str
    holder: str
    keys: tuple[str, ...]
    purpose: str
    since: float
    behind: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent: its state, where that is known from, since when, and its last sign of life (Unix times).

    `intent` is its user's last request, or the purpose of its newest lease; `task` the title of its claimed task.
    """

    holder: str
    state: AgentState
    source: Source
    since: float
    seen_at: float
    intent: str
    task: str = ""
    holds: tuple[Holding, ...] = ()
    waits: tuple[Wait, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """Something that only a person can decide. `id` is that of a lease, session, task, run or event, or a debt's key.

    `contents` are the hashes of texts in a refused commit.
    """

    subject: Subject
    id: str
    holder: str
    title: str
    why: str
    since: float | None = None
    keys: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Incident:
    """A conflict, or the loss of a lease, in words; `code` is that of the refusal, to look up its meaning."""

    sequence: int
    at: float
    kind: str
    holder: str
    text: str
    keys: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A file that several sessions hold, wait for, or have changed lately: the next conflict may be there."""

    path: str
    holders: tuple[str, ...]
    is_held: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """The present moment. `at` is the server's Unix time, `newest` the number of the newest event.

    `landed_at` is the time at which a task or an entry of the merge queue landed last; `landing` are the queues, and
    `entries` the oldest entries that have not ended. Two are equal if only time has passed between them.
    """

    root: str
    at: float = field(compare=False)
    newest: int
    agents: tuple[AgentRow, ...] = ()
    queue: tuple[Wait, ...] = ()
    needs: tuple[Need, ...] = ()
    incidents: tuple[Incident, ...] = ()
    meetings: tuple[Meeting, ...] = ()
    tasks: Mapping[str, int] | None = None
    landed_at: float | None = None
    landing: tuple[QueueView, ...] = ()
    entries: tuple[EntryView, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """The tasks and runs of a store, its landings, and the entries and managed sessions that have not ended.

    `newest_entries` are the newest entries in whatever state, in the order in which they were added.
    """

    tasks: Sequence[TaskRecord] = ()
    runs: Sequence[RunRecord] = ()
    entries: Sequence[EntryRecord] = ()
    landings: Sequence[Landings] = ()
    sessions: Sequence[ManagedSessionRecord] = ()
    newest_entries: Sequence[EntryRecord] = ()


def overview(status: Status, work: Work, events: Sequence[Recorded], now: Now) -> Overview:
    """Return the overview of a state; `events` are the newest ones, in order."""
    tasks = work.tasks
    queue = tuple(_wait(each, status, now) for each in status.waiters)
    counts = {state.value: sum(each.state is state for each in tasks) for state in TaskState}
    landed = [each.since for each in tasks if each.state is TaskState.LANDED]
    landed += [each.last_at for each in work.landings if each.last_at is not None]
    queues = queue_states(work.landings, work.entries, status.leases, now)
    by_ref = {each.onto: each for each in queues}
    entries = tuple(
        EntryView(each, why=why_waiting(each, work.entries, by_ref[each.entry.onto]))
        for each in work.entries[:MOST_ENTRIES]
    )
    agents = tuple(_agents(status, work, queue, now))
    busy = {each.holder for each in agents if each.state is not AgentState.FINISHED}
    ended = (*_ended(tasks, work.runs), *_returned(work, now))
    return Overview(
        status.root,
        now.wall,
        events[-1].sequence if events else 0,
        agents,
        queue,
        (*_works(status, busy), *_to_review(work), *ended, *_given_up(events, busy)),
        tuple(islice(_incidents(events), MOST_INCIDENTS)),
        tuple(_meetings(status, events, now)),
        counts if tasks else None,
        max(landed, default=None),
        queues,
        entries,
    )


def _wait(waiter: Waiter, status: Status, now: Now) -> Wait:
    ahead: list[Lease | Waiter] = [*status.leases, *(each for each in status.waiters if each.number < waiter.number)]
    found = conflicts(map(canonical, waiter.keys), waiter.mode, waiter.holder, ahead, now)
    behind = tuple(dict.fromkeys(each.holder for each in found))
    return Wait(waiter.id, waiter.holder, _shown(waiter.keys), waiter.task, waiter.queued_at, behind)


def _shown(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(shown_key, keys))


def _agents(status: Status, work: Work, queue: Sequence[Wait], now: Now) -> list[AgentRow]:
    """Return the sessions that are at work, hold a lease or wait for one: first those that wait, then by name.

    The lease of a supervisor stands for the agent of its managed session, and only while the agent itself is unknown:
    its renewals are no sign of life of the agent.
    """
    present = {each.holder: each for each in status.sessions}
    supervised = {supervisor_of(each.id): each.session for each in work.sessions}
    claimed = {each.worker: each.title for each in supervised.values()}
    claimed |= {each.holder: each.task.title for each in work.tasks if each.state is TaskState.CLAIMED}
    held: dict[str, list[Lease]] = defaultdict(list)
    for lease in status.leases:
        session = supervised.get(lease.holder)
        if session is None:
            held[lease.holder].append(lease)
        elif session.worker not in present:
            held[session.worker].append(lease)
    waits: dict[str, list[Wait]] = defaultdict(list)
    for wait in queue:
        waits[wait.holder].append(wait)
    rows = [
        replace(_row(holder, present.get(holder), held[holder], waits[holder], now), task=claimed.get(holder, ""))
        for holder in {*present, *held, *waits}
    ]
    order = list(AgentState)
    return sorted(rows, key=lambda each: (order.index(each.state), each.holder))


def _row(holder: str, session: Presence | None, leases: Sequence[Lease], waits: Sequence[Wait], now: Now) -> AgentRow:
    """Return the row of an agent that has at least one of these."""
    # Each sign of life renews a lease for its whole time to live.
    signs = [each.deadline.wall - each.ttl_seconds for each in leases if each.is_claimed]
    begins = [each.granted_at for each in leases] + [each.since for each in waits]
    seen = max([*signs, *begins, *([session.seen_at] if session else [])])
    purposes = [each.task for each in reversed(leases)] + [each.purpose for each in waits]
    intent = (session.intent if session else "") or next(filter(None, purposes), "")
    source = Source.HOOKS if session else Source.LEASE
    if waits:
        state, source, since = AgentState.WAITING, Source.LINE, waits[0].since
    elif session and session.is_at_rest:
        state, since = AgentState.FINISHED, session.seen_at
    elif now.wall - seen > SILENT_SECONDS:
        state, since = AgentState.SILENT, seen
    else:
        state, since = AgentState.WORKING, session.began_at if session else min(begins)
    return AgentRow(holder, state, source, since, seen, intent, "", tuple(map(_holding, leases)), tuple(waits))


def _holding(lease: Lease) -> Holding:
    keys, ends_at = _shown(lease.keys), lease.deadline.wall
    return Holding(lease.id, lease.fence, keys, lease.task, lease.granted_at, ends_at, is_for_slots(lease.keys))


def _works(status: Status, busy: set[str]) -> Iterator[Need]:
    """Yield unfinished work, and debts; those of `busy` sessions are left out, since these still work on them."""
    for work in status.works:
        keys = _shown(each.key for each in work.changes)
        why = "its lease was lost before the work was finished; the changes are still in the files"
        yield Need("partial_work", work.lease_id, work.holder, work.task or named(keys), why, work.found_at, keys)
    for debt in status.debts:
        if debt.holder not in busy:
            yield Need("debt", debt.key, debt.holder, shown_key(debt.key), debt.why, keys=(shown_key(debt.key),))


def _to_review(work: Work) -> Iterator[Need]:
    """Yield the managed sessions whose work waits for a person, not for the merge queue."""
    for record in work.sessions:
        if record.is_landing and landing_step(record, work.newest_entries).move is not LandingMove.STOP:
            continue
        if record.state is SessionState.AWAITING_REVIEW:
            machine = f" on {record.place.partition(':')[0]}" if record.session.remote else ""
            why = f"{record.note}{machine}; look at its work: commonhold session review {record.id}"
            yield Need("session_review", record.id, record.started_by, record.session.title, why, record.since)


def _ended(tasks: Sequence[TaskRecord], runs: Sequence[RunRecord]) -> Iterator[Need]:
    """Yield tasks that wait to be accepted, tasks and runs that have failed, and done tasks that have not landed."""
    for task in tasks:
        if task.state is TaskState.PROPOSED:
            why = task.task.intent or "it waits to be accepted"
            yield Need("task_proposed", task.id, task.added_by, task.task.title, why, task.since)
        elif task.state is TaskState.FAILED:
            yield Need("task_failed", task.id, task.holder, task.task.title, f"it failed: {task.note}", task.since)
        elif task.state is TaskState.DONE:
            why = "it is done, but its change has not landed"
            yield Need("task_stranded", task.id, task.holder, task.task.title, why, task.since)
    for run in runs:
        if run.state is RunState.FAILED:
            why = f"the run {run.id} failed: {run.note or 'some of its items cannot go on'}"
            yield Need("run_failed", run.id, run.started_by, run.run.goal or run.id, why, run.since)


def _returned(work: Work, now: Now) -> Iterator[Need]:
    """Yield the entries that the merge queue has returned lately; one with a task goes back to others with that."""
    newest = {(each.entry.onto, each.entry.branch): each for each in work.newest_entries}
    landing = {each.id for each in work.sessions if each.session.lands}
    for record in newest.values():
        is_refused = record.state is EntryState.RETURNED and record.packet and record.entry.session not in landing
        if is_refused and not record.entry.task and now.wall - record.since < RETURNED_SECONDS:
            why = f"{record.note}; see its repair packet: commonhold queue show {record.id}"
            title = record.entry.title or record.entry.branch
            yield Need("entry_returned", record.id, record.added_by, title, why, record.since)


def _given_up(events: Sequence[Recorded], busy: set[str]) -> Iterator[Need]:
    """Yield the refused commits after which their sessions have committed nothing; a run sees to those of its own."""
    of_runs = {each.event.session for each in events if isinstance(each.event, ItemMoved)}
    last: dict[str, tuple[Recorded, CommitRefused | None]] = {}
    for each in events:
        match each.event:
            case Committed(holder=holder):
                last[holder] = each, None
            case CommitRefused(holder=holder) as refusal:
                last[holder] = each, refusal
            case _:
                pass
    for recorded, event in last.values():
        if event is not None and event.holder not in busy | of_runs:
            title, why = event.intent or named(event.keys), f"{event.why}; it has not been tried again"
            number = str(recorded.sequence)
            yield Need("commit_refused", number, event.holder, title, why, recorded.at, event.keys, event.contents)


def is_incident(event: Event) -> bool:
    """Whether an event is a conflict, or the loss of a lease."""
    if isinstance(event, Committed):
        return bool(event.merged)
    is_lost = isinstance(event, WaiterLeft) and event.why in (Leaving.DEADLOCK, Leaving.TIMED_OUT)
    return is_lost or isinstance(event, LeaseDenied | CommitRefused | LeaseBroken | LeaseExpired)


def _incidents(events: Sequence[Recorded]) -> Iterator[Incident]:
    """Yield the conflicts and losses in words, the newest first."""
    ledger = Ledger(events)
    for each in reversed(events):
        if is_incident(each.event):
            keys = ledger.keys_of(each.event)
            if keys and is_for_slots(keys):
                continue  # the slot of an announced write that did not come ends by itself
            text = sentence(each.event, ledger)
            if isinstance(each.event, Committed):
                text = f"{text[:-1]}; merged with the changes of others."
            kind, code = KIND_OF[type(each.event)], code_of(each.event)
            yield Incident(each.sequence, each.at, kind, holder_of(each.event), text, _shown(keys), code)


def _meetings(status: Status, events: Sequence[Recorded], now: Now) -> Iterator[Meeting]:
    """Yield the files where sessions that are still at work meet, those that are held first."""
    claims: list[Lease | Waiter] = [*status.leases, *status.waiters]
    present = {each.holder for each in status.sessions} | {each.holder for each in claims}
    by_path: dict[str, dict[str, bool]] = defaultdict(dict)
    for recorded in events:
        event = recorded.event
        if isinstance(event, Committed) and event.holder in present and now.wall - recorded.at < RECENT_SECONDS:
            for change in event.files:
                by_path[change.path].setdefault(event.holder, False)
    for claim in claims:
        for path in paths_of(claim.keys):
            by_path[path][claim.holder] = True
    found = (Meeting(path, tuple(sorted(each)), any(each.values())) for path, each in by_path.items() if len(each) > 1)
    yield from sorted(found, key=lambda each: (not each.is_held, each.path))


def paths_of(keys: Iterable[str]) -> set[str]:
    """Return the paths of the files and folders that keys are in, those of write slots too."""
    parsed = (canonical(shown_key(each)) for each in keys)
    return {each.file_path for each in parsed if each.scheme == FILE}
