"""Reading and writing inside one transaction, in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

from commonhold.kernel.entry import UNLIMITED, EntryAdded, EntryMoved, EntryRecord, Landings, added_entry, moved_entry
from commonhold.kernel.events import Committed, DebtWaived, Event, LogCompacted, Recorded, lease_id_of
from commonhold.kernel.files import Journal, Write
from commonhold.kernel.hash_chain import ChainLink
from commonhold.kernel.lease_ports import StoredAnswer
from commonhold.kernel.managed_session import (
    ALL_SESSIONS,
    ManagedSessionRecord,
    SessionChoice,
    SessionMoved,
    SessionQueued,
    moved_session,
    queued_session,
)
from commonhold.kernel.obligations import Debt, place_of_debt
from commonhold.kernel.options import ANSWER_RETENTION_SECONDS, ANSWERS_DROPPED_AT_ONCE
from commonhold.kernel.presence import Message, Presence, Proposal
from commonhold.kernel.read_set import Sighting, StaleRead
from commonhold.kernel.run import (
    ItemMoved,
    ItemRecord,
    RunMoved,
    RunPlanned,
    RunRecord,
    RunStarted,
    moved_item,
    moved_run,
    planned_items,
    planned_run,
    started_run,
)
from commonhold.kernel.task import TaskAdded, TaskMoved, TaskRecord, added_record, moved_record
from commonhold.stores.memory.index import LeaseIndex
from commonhold.stores.memory.indexed import Indexed

K = TypeVar("K")
V = TypeVar("V")
Commit = tuple[Recorded, Committed]


class MemorySession(Indexed):
    """The state, for the ports Reader and Writer. The log is settled, or else undone by folding it again."""

    def __init__(self) -> None:
        """Begin empty."""
        self._log: list[Recorded] = []
        self._settled = 0
        self._answers: dict[tuple[str, str], tuple[float, StoredAnswer]] = {}
        self._contents: dict[str, tuple[float, bytes]] = {}
        self._journals: dict[int, Journal] = {}
        self._sightings: dict[tuple[str, str, str], tuple[float, Sighting]] = {}
        self._overtaken: dict[tuple[str, str, str], tuple[float, StaleRead]] = {}
        self._presences: dict[tuple[str, str], Presence] = {}
        self._proposals: dict[tuple[str, str, str, str], Proposal] = {}
        self._messages: dict[tuple[str, str, str], tuple[float, Message]] = {}
        self._last_journal = 0
        self._undoing: list[Callable[[], object]] = []
        self._fold()

    def _fold(self) -> None:
        self._index = LeaseIndex()
        self._commits: list[Commit] = []
        self._debts: dict[str, Debt] = {}
        self._tasks: dict[str, TaskRecord] = {}
        self._runs: dict[str, RunRecord] = {}
        self._run_items: dict[tuple[str, str], ItemRecord] = {}
        self._entries: dict[str, EntryRecord] = {}
        self._managed: dict[str, ManagedSessionRecord] = {}
        for recorded in self._log:
            self._apply(recorded)

    def _apply(self, recorded: Recorded) -> None:
        self._index.apply(recorded)
        event = recorded.event
        if isinstance(event, Committed):
            self._commits.append((recorded, event))
            for key in event.settled:
                self._debts.pop(place_of_debt(event.worktree, key), None)
            self._debts |= {debt.place: debt for debt in event.debts}
        if isinstance(event, DebtWaived):
            self._debts.pop(place_of_debt(event.worktree, event.key), None)
        if isinstance(event, TaskAdded):
            self._tasks[event.task.id] = added_record(event, recorded.sequence, recorded.at)
        if isinstance(event, TaskMoved):
            self._tasks[event.task_id] = moved_record(self._tasks[event.task_id], event, recorded.at)
        if isinstance(event, EntryAdded):
            self._entries[event.entry.id] = added_entry(event, recorded.sequence, recorded.at)
        if isinstance(event, EntryMoved):
            before = self._entries[event.entry_id]
            self._entries[event.entry_id] = moved_entry(before, event, recorded.sequence, recorded.at)
        if isinstance(event, SessionQueued):
            self._managed[event.session.id] = queued_session(event, recorded.sequence, recorded.at)
        if isinstance(event, SessionMoved):
            session = self._managed[event.session_id]
            self._managed[event.session_id] = moved_session(session, event, recorded.sequence, recorded.at)
        self._apply_run(recorded)

    def _apply_run(self, recorded: Recorded) -> None:
        event = recorded.event
        if isinstance(event, RunStarted):
            self._runs[event.run.id] = started_run(event, recorded.sequence, recorded.at)
        if isinstance(event, RunPlanned):
            self._runs[event.run_id] = planned_run(self._runs[event.run_id], event)
            for item in planned_items(event, recorded.sequence, recorded.at):
                self._run_items[item.run_id, item.task_id] = item
        if isinstance(event, RunMoved):
            self._runs[event.run_id] = moved_run(self._runs[event.run_id], event, recorded.at)
        if isinstance(event, ItemMoved):
            before = self._run_items[event.run_id, event.task_id]
            moved = moved_item(before, event, recorded.sequence, recorded.at)
            self._run_items[event.run_id, event.task_id] = moved

    def settle(self) -> None:
        """Keep the writes."""
        self._settled = len(self._log)
        self._undoing.clear()

    def undo(self) -> None:
        """Undo the writes that have not been settled."""
        while self._undoing:
            self._undoing.pop()()
        if len(self._log) > self._settled:
            del self._log[self._settled :]
            self._fold()

    def _set(self, mapping: dict[K, V], key: K, value: V) -> None:
        if key in mapping:
            self._undoing.append(partial(mapping.__setitem__, key, mapping[key]))
        else:
            self._undoing.append(partial(mapping.pop, key))
        mapping[key] = value

    def _drop(self, mapping: dict[K, V], key: K) -> None:
        self._undoing.append(partial(mapping.__setitem__, key, mapping.pop(key)))

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events above a sequence, of all leases or of one."""
        if lease_id is None:
            return tuple(self._log[after : after + limit])
        found = (each for each in islice(self._log, after, None) if lease_id_of(each.event) == lease_id)
        return tuple(islice(found, limit))

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """The newest events, in order."""
        return tuple(self._log[max(0, len(self._log) - limit) :])

    def commits_on(self, path: str, limit: int) -> tuple[Commit, ...]:
        """The newest commits on a path, newest first."""
        return tuple(islice(self._commits_where(lambda changed: changed == path), limit))

    def commits_below(self, folder: str, limit: int) -> tuple[Commit, ...]:
        """The newest commits on paths that begin with `folder`, newest first."""
        return tuple(islice(self._commits_where(lambda changed: changed.startswith(folder)), limit))

    def _commits_where(self, is_meant: Callable[[str], bool]) -> Iterator[Commit]:
        return (each for each in reversed(self._commits) if any(is_meant(change.path) for change in each[1].files))

    def latest_commits(self, limit: int) -> tuple[Commit, ...]:
        """The newest commits, newest first."""
        return tuple(islice(reversed(self._commits), limit))

    def debts(self) -> tuple[Debt, ...]:
        """The open debts, by key."""
        return tuple(sorted(self._debts.values(), key=lambda debt: (debt.key, debt.worktree)))

    def tasks(self) -> tuple[TaskRecord, ...]:
        """All tasks."""
        return tuple(self._tasks.values())

    def tasks_in_question(self, ids: Sequence[str]) -> tuple[TaskRecord, ...]:
        """The tasks that are not final, those that they need, and those with these ids."""
        in_work = [record for record in self._tasks.values() if not record.is_final]
        wanted = {*ids, *(record.id for record in in_work), *(need for each in in_work for need in each.task.needs)}
        return tuple(record for record in self._tasks.values() if record.id in wanted)

    def links(self, *, after: int = 0, limit: int = 1000) -> tuple[ChainLink, ...]:  # noqa: ARG002 - memory cannot be changed
        """No links: nothing else can write to this log."""
        return ()

    def compaction(self) -> None:
        """Nothing: all events are kept."""

    def snapshot(self) -> bytes:
        """Nothing, for the same reason."""
        return b""

    def compact(self, compacted: LogCompacted, snapshot: bytes, at: float) -> None:
        """Fail: without links nothing is ever found to be compacted."""
        raise AssertionError((compacted, snapshot, at))

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs."""
        return tuple(self._runs.values())

    def run(self, run_id: str) -> RunRecord | None:
        """One run by its id."""
        return self._runs.get(run_id)

    def run_items(self, run_id: str) -> tuple[ItemRecord, ...]:
        """The items of a run."""
        return tuple(each for each in self._run_items.values() if each.run_id == run_id)

    def entries(self, onto: str = "", *, before: int = UNLIMITED, limit: int = UNLIMITED) -> tuple[EntryRecord, ...]:
        """The newest entries of the merge queue before an event, oldest first."""
        found = [each for each in self._entries.values() if each.number < before and onto in ("", each.entry.onto)]
        return tuple(found[max(0, len(found) - limit) :])

    def landings(self, onto: str = "") -> tuple[Landings, ...]:
        """The number and the last of the landings on each branch."""
        listed: dict[str, list[float]] = {}
        for each in self.entries(onto):
            listed.setdefault(each.entry.onto, []).extend([] if each.landed_at is None else [each.landed_at])
        return tuple(Landings(name, len(at), max(at, default=None)) for name, at in sorted(listed.items()))

    def entries_in_question(self, names: Sequence[str]) -> tuple[EntryRecord, ...]:
        """The entries that are not final, and those with these ids or commits."""
        found = self._entries.values()
        return tuple(each for each in found if not each.is_final or {each.id, each.entry.commit} & set(names))

    def managed_sessions(self, choice: SessionChoice = ALL_SESSIONS) -> tuple[ManagedSessionRecord, ...]:
        """The managed sessions that are chosen."""
        found = [each for each in self._managed.values() if each.number < choice.before and _is_chosen(each, choice)]
        return tuple(found[max(0, len(found) - choice.limit) :])

    def managed_sessions_in_question(self, ids: Sequence[str]) -> tuple[ManagedSessionRecord, ...]:
        """The managed sessions that are not final, and those with these ids."""
        return tuple(each for each in self._managed.values() if not each.is_final or each.id in ids)

    def tenants_served(self) -> dict[str, int]:
        """The sequence of the last claim by tenant."""
        served: dict[str, int] = {}
        for each in self._managed.values():
            served[each.session.tenant] = max(each.claimed, served.get(each.session.tenant, 0))
        return served

    def missing(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """Those hashes under which nothing is kept."""
        return tuple(each for each in hashes if each not in self._contents)

    def content(self, content_hash: str) -> bytes | None:
        """Kept bytes."""
        kept = self._contents.get(content_hash)
        return kept[1] if kept else None

    def contents_like(self, prefix: str) -> tuple[str, ...]:
        """Up to two kept hashes that begin with `prefix`."""
        return tuple(islice((each for each in self._contents if each.startswith(prefix)), 2))

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        """The first answer to a request."""
        kept = self._answers.get((holder, request_id))
        return kept[1] if kept else None

    def journals(self) -> tuple[Journal, ...]:
        """Commits begun and not ended."""
        return tuple(self._journals.values())

    def record(self, events: Iterable[Event], at: float) -> None:
        """Append events, and apply them to the state."""
        for event in events:
            recorded = Recorded(self._index.next_sequence, at, event)
            self._log.append(recorded)
            self._apply(recorded)

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Store the first answer to a request, and drop a few old ones."""
        self._set(self._answers, (holder, request_id), (at, answer))
        ages = sorted((kept_at, key) for key, (kept_at, _) in self._answers.items())
        for kept_at, key in ages[:ANSWERS_DROPPED_AT_ONCE]:
            if kept_at < at - ANSWER_RETENTION_SECONDS:
                self._drop(self._answers, key)

    def keep(self, contents: Iterable[tuple[str, bytes]], at: float) -> None:
        """Store bytes by hash; the time of bytes that are there already is updated."""
        for content_hash, data in contents:
            kept = self._contents.get(content_hash)
            self._set(self._contents, content_hash, (at, kept[1] if kept else data))

    def drop_before(self, contents_at: float, answers_at: float) -> None:
        """Forget contents, reads and answers that were last stored before these wall times."""
        self._drop_before(self._contents, contents_at)
        self._drop_before(self._sightings, contents_at)
        self._drop_before(self._overtaken, contents_at)
        self._drop_before(self._messages, contents_at)
        self._drop_before(self._answers, answers_at)

    def _drop_before(self, kept: dict[K, tuple[float, V]], wall: float) -> None:
        for key in [each for each, (at, _) in kept.items() if at < wall]:
            self._drop(kept, key)

    def sightings(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[Sighting, ...]:
        """The versions of `keys` that a session last read."""
        found = (self._sightings.get((holder, worktree, key)) for key in dict.fromkeys(keys))
        return tuple(kept[1] for kept in found if kept)

    def seen_by_others(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[tuple[str, Sighting], ...]:
        """Return the last reads of `keys` by all other sessions."""
        wanted = frozenset(keys)
        return tuple(
            (who, seen)
            for (who, tree, key), (_, seen) in self._sightings.items()
            if who != holder and tree == worktree and key in wanted
        )

    def seen(self, worktree: str) -> tuple[str, ...]:
        """Return all keys that any session has read."""
        return tuple(sorted({key for _, tree, key in self._sightings if tree == worktree}))

    def overtaken(self, holder: str, worktree: str) -> tuple[StaleRead, ...]:
        """The regions and files that a session has read and others have changed since."""
        kept = (each for _, each in self._overtaken.values())
        mine = (each for each in kept if (each.holder, each.worktree) == (holder, worktree))
        return tuple(sorted(mine, key=lambda each: each.key))

    def see(self, holder: str, worktree: str, sightings: Iterable[Sighting], at: float) -> None:
        """Store the versions that a session read."""
        for each in sightings:
            self._set(self._sightings, (holder, worktree, each.key), (at, each))

    def overtake(self, found: Iterable[StaleRead], at: float) -> None:
        """Store changes to regions that were read; forget settled ones."""
        for each in found:
            place = each.holder, each.worktree, each.key
            if not each.is_over:
                self._set(self._overtaken, place, (at, each))
            elif place in self._overtaken:
                self._drop(self._overtaken, place)

    def presences(self, worktree: str) -> tuple[Presence, ...]:
        """The sessions at work in a working tree."""
        return tuple(each for _, each in sorted(self._presences.items()) if each.worktree == worktree)

    def attend(self, presence: Presence) -> None:
        """Record that a session is at work."""
        self._set(self._presences, (presence.holder, presence.worktree), presence)

    def end_session(self, holder: str, worktree: str) -> None:
        """Forget that a session is at work."""
        if (holder, worktree) in self._presences:
            self._drop(self._presences, (holder, worktree))

    def messages(self, holder: str, worktree: str) -> tuple[Message, ...]:
        """The messages that wait for a session in a working tree."""
        found = (each for _, each in self._messages.values())
        return tuple(each for each in found if (each.holder, each.worktree) == (holder, worktree))

    def send(self, messages: Iterable[Message]) -> None:
        """Queue messages for sessions, each to be delivered once."""
        for each in messages:
            name = each.holder, each.worktree, each.text
            if name not in self._messages:
                self._set(self._messages, name, (each.at, each))

    def end_messages(self, messages: Iterable[Message]) -> None:
        """Delete delivered messages."""
        for each in messages:
            if (name := (each.holder, each.worktree, each.text)) in self._messages:
                self._drop(self._messages, name)

    def proposals(self, worktree: str) -> tuple[Proposal, ...]:
        """The proposed writes in a working tree."""
        return tuple(each for _, each in sorted(self._proposals.items()) if each.worktree == worktree)

    def propose(self, proposals: Iterable[Proposal]) -> None:
        """Store the writes that tools are about to make."""
        for each in proposals:
            self._set(self._proposals, _place_of(each), each)

    def withdraw(self, proposals: Iterable[Proposal]) -> None:
        """Forget proposals that were written, or never will be."""
        for place in map(_place_of, proposals):
            if place in self._proposals:
                self._drop(self._proposals, place)

    def begin(self, root: str, holder: str, intent: str, writes: Sequence[Write]) -> Journal:
        """Record a commit before its first file is touched."""
        self._last_journal += 1
        journal = Journal(self._last_journal, root, holder, intent, tuple(writes))
        self._set(self._journals, journal.id, journal)
        return journal

    def end(self, journal_id: int) -> None:
        """Remove a commit from the journal."""
        if journal_id in self._journals:
            self._drop(self._journals, journal_id)


def _place_of(proposal: Proposal) -> tuple[str, str, str, str]:
    return proposal.worktree, proposal.path, proposal.holder, proposal.call


def _is_chosen(record: ManagedSessionRecord, choice: SessionChoice) -> bool:
    session = record.session
    return (
        not (choice.is_open and record.is_final)
        and choice.state in (None, record.state)
        and choice.task_id in ("", session.task_id)
        and choice.tenant in ("", session.tenant)
        and record.since >= choice.since
    )
