"""The ports of the use cases to the outside world. Each docstring is the contract of its adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from commonhold.kernel.lease_ports import LeaseReader, LeaseTables, LeaseWriter

if TYPE_CHECKING:
    from commonhold.kernel.clock import Now
    from commonhold.kernel.entry import EntryRecord, Landings
    from commonhold.kernel.events import Committed, LogCompacted, Recorded
    from commonhold.kernel.files import Journal, Write
    from commonhold.kernel.hash_chain import ChainLink
    from commonhold.kernel.managed_session import ManagedSessionRecord, SessionChoice
    from commonhold.kernel.obligations import Debt
    from commonhold.kernel.presence import Message, Presence, Proposal
    from commonhold.kernel.read_set import Sighting, StaleRead
    from commonhold.kernel.run import ItemRecord, RunRecord
    from commonhold.kernel.task import TaskRecord


Step = Callable[[str], None]
"""Called with the name of each durable step of a commit when it is done."""


IsRunning = Callable[[str], bool]
"""A function that says whether the process that a session has named is known for certain to run."""


def no_step(_name: str) -> None:
    """Do nothing: only crash tests act between the steps."""


class Clock(Protocol):
    """The store's clock: the only one that decides anything."""

    def now(self) -> Now:
        """Return the present instant; `ticks` never run backwards within an epoch."""
        ...


class Ids(Protocol):
    """A source of names that are unique and cannot be guessed."""

    def new(self, prefix: str) -> str:
        """Return a fresh id, such as `lease-4k2v…`."""
        ...


class TaskReader(LeaseReader, Protocol):
    """One consistent view of tasks, runs, entries of the merge queue, managed sessions, and leases."""

    def tasks(self) -> tuple[TaskRecord, ...]:
        """Return all tasks, in the order in which they were added."""
        ...

    def tasks_in_question(self, ids: Sequence[str]) -> tuple[TaskRecord, ...]:
        """Return all tasks that are not final, those that they need, and those with one of these ids, in order."""
        ...

    def links(self, *, after: int = 0, limit: int = 1000) -> tuple[ChainLink, ...]:
        """Return the events above a sequence with their hashes, in order; none from a store that keeps no hashes."""
        ...

    def snapshot(self) -> bytes:
        """Return the snapshot in place of the oldest events, as `compact` got it; empty if all events are there."""
        ...

    def runs(self) -> tuple[RunRecord, ...]:
        """Return all runs, in the order in which they began."""
        ...

    def run(self, run_id: str) -> RunRecord | None:
        """Return one run; None if there is none of this id."""
        ...

    def run_items(self, run_id: str) -> tuple[ItemRecord, ...]:
        """Return the items of a run, in the order of its plan."""
        ...

    def entries(self, onto: str = "", *, before: int = ..., limit: int = ...) -> tuple[EntryRecord, ...]:
        """Return the newest entries of the merge queue of a ref (empty: of all), in the order in which they were added.

        At most `limit` of those that were added before the event `before`; without them, all.
        """
        ...

    def landings(self, onto: str = "") -> tuple[Landings, ...]:
        """Return the landings on each ref that entries name, in the order of their names; with `onto` on this one."""
        ...

    def entries_in_question(self, names: Sequence[str]) -> tuple[EntryRecord, ...]:
        """Return the entries that are not final, and those whose id or commit is one of `names`, in that order."""
        ...

    def managed_sessions(self, choice: SessionChoice = ...) -> tuple[ManagedSessionRecord, ...]:
        """Return the managed sessions that are chosen (by default all), in the order in which they were started."""
        ...

    def managed_sessions_in_question(self, ids: Sequence[str]) -> tuple[ManagedSessionRecord, ...]:
        """Return all managed sessions that are not final, and those with one of these ids, in order."""
        ...

    def tenants_served(self) -> Mapping[str, int]:
        """Return the sequence of the last claim of a managed session, by tenant."""
        ...


class TaskWriter(TaskReader, LeaseWriter, Protocol):
    """A transaction on tasks, runs, entries of the merge queue, managed sessions, and leases."""

    def compact(self, compacted: LogCompacted, snapshot: bytes, at: float) -> None:
        """Record `compacted`, keep `snapshot` in place of an earlier one, and delete the events that it stands for."""
        ...


class TaskTables(LeaseTables, Protocol):
    """Storage of leases, of the tasks that are claimed by them, of runs, the merge queue, and managed sessions."""

    def read(self) -> AbstractContextManager[TaskReader]:
        """Return one consistent view."""
        ...

    def write(self) -> AbstractContextManager[TaskWriter]:
        """Begin a transaction that excludes all others on the same tasks and leases. An exception rolls it back."""
        ...


class Revisions(Protocol):
    """The commits and branches of the version control of a repository."""

    def branch(self) -> str:
        """Return the name of the branch that is checked out; empty if none is."""
        ...

    def commit_of(self, revision: str) -> str:
        """Return the full hash of the commit that a revision names. Raises InputError `REVISION_UNKNOWN`."""
        ...

    def branch_ref(self, name: str) -> str:
        """Return the full name of the ref of a local branch. Raises InputError `REVISION_UNKNOWN`."""
        ...

    def main_branch(self) -> str:
        """Return the name of the branch that work lands on by convention. Raises InputError `REVISION_UNKNOWN`."""
        ...

    def title_of(self, commit: str) -> str:
        """Return the first line of a commit's message, without control characters."""
        ...

    def reached(self, target: str, commits: Sequence[str]) -> Mapping[str, bool]:
        """Return, for each of `commits` that the repository has, whether it is part of the branch `target`.

        Empty if there is no such branch: nothing is known then.
        """
        ...


class Reader(TaskReader, Protocol):
    """One consistent view of the whole state of a repository."""

    def commits_on(self, path: str, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """Return the last commits that touched the file at `path` (of any worktree), newest first."""
        ...

    def debts(self) -> tuple[Debt, ...]:
        """Return the open debts."""
        ...

    def commits_below(self, folder: str, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """Return the last commits that touched a path that begins with `folder` (it ends in `/`; empty: any path)."""
        ...

    def latest_commits(self, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """Return the last commits, newest first."""
        ...

    def missing(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """Return those of `hashes` under which nothing is kept."""
        ...

    def content(self, content_hash: str) -> bytes | None:
        """Return the bytes kept under a hash; None if they were never kept or have expired."""
        ...

    def contents_like(self, prefix: str) -> tuple[str, ...]:
        """Return up to two hashes that begin with `prefix`."""
        ...

    def journals(self) -> tuple[Journal, ...]:
        """Return commits that were begun and have neither taken effect nor been taken back."""
        ...

    def sightings(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[Sighting, ...]:
        """Return a session's last reads of `keys` in a working tree, in no order."""
        ...

    def seen_by_others(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[tuple[str, Sighting], ...]:
        """Return all other holders' last reads of `keys` in a working tree, each with its holder, in no order."""
        ...

    def seen(self, worktree: str) -> tuple[str, ...]:
        """Return the keys of all reads, of any holder, in a working tree."""
        ...

    def overtaken(self, holder: str, worktree: str) -> tuple[StaleRead, ...]:
        """Return a session's stale reads in a working tree: those that others have changed since, by key."""
        ...

    def presences(self, worktree: str) -> tuple[Presence, ...]:
        """Return the sessions at work in a working tree, by holder."""
        ...

    def messages(self, holder: str, worktree: str) -> tuple[Message, ...]:
        """Return the messages that wait for a session in a working tree, oldest first."""
        ...

    def proposals(self, worktree: str) -> tuple[Proposal, ...]:
        """Return the intended writes of tools in a working tree, by path, holder and call."""
        ...


class Writer(Reader, TaskWriter, Protocol):
    """A transaction: all of it is durable when it ends, or none of it happened."""

    def keep(self, contents: Iterable[tuple[str, bytes]], at: float) -> None:
        """Keep bytes by hash."""
        ...

    def begin(self, root: str, holder: str, intent: str, writes: Sequence[Write]) -> Journal:
        """Record a commit in the journal before its first file is touched."""
        ...

    def drop_before(self, contents_at: float, answers_at: float) -> None:
        """Delete all that was last kept before these wall times: contents, sightings and messages; answers."""
        ...

    def see(self, holder: str, worktree: str, sightings: Iterable[Sighting], at: float) -> None:
        """Keep a session's reads, in place of its earlier ones."""
        ...

    def overtake(self, found: Iterable[StaleRead], at: float) -> None:
        """Keep the states of stale reads, in place of the kept ones; those that are over are deleted."""
        ...

    def attend(self, presence: Presence) -> None:
        """Keep a session's presence, in place of the kept one."""
        ...

    def end_session(self, holder: str, worktree: str) -> None:
        """Delete a session's presence, if one is kept."""
        ...

    def send(self, messages: Iterable[Message]) -> None:
        """Keep messages to sessions; those that already wait stay unchanged."""
        ...

    def end_messages(self, messages: Iterable[Message]) -> None:
        """Delete delivered messages, if they are kept."""
        ...

    def propose(self, proposals: Iterable[Proposal]) -> None:
        """Keep the intended writes of tools, each in place of the same call's earlier one for that file."""
        ...

    def withdraw(self, proposals: Iterable[Proposal]) -> None:
        """Delete proposals: they were carried out, or will not be."""
        ...

    def end(self, journal_id: int) -> None:
        """Remove from the journal a commit that has taken effect or was taken back."""
        ...


class Store(Protocol):
    """Durable state that many processes share. At most one of them is inside the gate."""

    def read(self) -> AbstractContextManager[Reader]:
        """Begin a read transaction; it does not see transactions that end later."""
        ...

    def gate(self) -> AbstractContextManager[None]:
        """Exclude all other writers, in all processes. Re-entrant; waits fairly; raises `STORE_BUSY`."""
        ...

    def write(self) -> AbstractContextManager[Writer]:
        """Begin a transaction inside the gate. An exception rolls it back. A nested one is part of the outer one."""
        ...

    def write_unawaited(self) -> AbstractContextManager[Writer]:
        """Begin a transaction without guaranteed durability: a loss of power may undo it after its end."""
        ...

    def shrink(self) -> int:
        """Return unused space to the file system if it is much, while all writers wait; return its size in bytes."""
        ...

    def close(self) -> None:
        """Close the state; idempotent."""
        ...
