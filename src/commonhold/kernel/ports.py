"""The ports of the use cases to the outside world. Each docstring is the contract of its adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from commonhold.kernel.clock import Now
    from commonhold.kernel.commands import Command
    from commonhold.kernel.entry import EntryRecord, Landings
    from commonhold.kernel.events import Committed, Event, Recorded
    from commonhold.kernel.hash_chain import Link
    from commonhold.kernel.keys import Key, Spec
    from commonhold.kernel.lease import Lease, Waiter
    from commonhold.kernel.lease_table import LeaseTable
    from commonhold.kernel.managed_session import ManagedSessionRecord
    from commonhold.kernel.obligations import Debt
    from commonhold.kernel.outcomes import Outcome
    from commonhold.kernel.partial_work import PartialWork
    from commonhold.kernel.presence import Message, Presence, Proposal
    from commonhold.kernel.read_set import Sighting, StaleRead
    from commonhold.kernel.run import ItemRecord, RunRecord
    from commonhold.kernel.task import TaskRecord
    from commonhold.kernel.values import Value


T = TypeVar("T", bound="Outcome")

Contents = Callable[[str], bytes]
"""A function that returns bytes by content hash. Raises StoreError if they are gone."""

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


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The first answer to a request, and the fingerprint of the request."""

    fingerprint: str
    answer: object


@dataclass(frozen=True, slots=True)
class Write:
    """One file's part of a commit: content hashes and permission bits before and after, None if it does not exist.

    `source` is the file whose owner and attributes the new one takes over; `made` are the folders to create.
    """

    path: str
    before: str | None
    after: str | None
    mode_before: int | None
    mode_after: int | None
    source: str | None = None
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Journal:
    """A commit that has been decided but has not taken effect: enough to take it back."""

    id: int
    root: str
    holder: str
    intent: str
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Once:
    """The identity of a request: its id, and the fingerprint of its content."""

    request_id: str
    fingerprint: str


class LeaseView(Protocol):
    """One consistent view of leases, places in line and values."""

    def leases(self) -> tuple[Lease, ...]:
        """Return all leases that have not ended in the log (expired ones may be among them), oldest first."""
        ...

    def lease(self, lease_id: str) -> Lease | None:
        """Return one lease that has not ended in the log."""
        ...

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """Return the leases of one holder that have not ended in the log, oldest first."""
        ...

    def waiters(self) -> tuple[Waiter, ...]:
        """Return all places in line that were not given up in the log, in order."""
        ...

    def value(self, key: str) -> Value | None:
        """Return the value of a key; None if it never had one."""
        ...

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired at `now` and has not ended in the log."""
        ...

    def lost(self) -> tuple[Lease, ...]:
        """Return leases that were taken from their holders and not yet searched for partial work."""
        ...

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Return at least those of them with a key that overlaps one of `keys`."""
        ...

    def works(self) -> tuple[PartialWork, ...]:
        """Return the partial work that has not been reviewed yet, oldest first."""
        ...

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """Return at least every lease with a key that overlaps one of `keys`, oldest first."""
        ...

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Return events with a sequence above `after`, in order."""
        ...

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """Return the last `limit` events, in order."""
        ...


class LeaseReader(LeaseView, Protocol):
    """A view with all that decisions need."""

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """Return all that deciding on `command` needs; see LeaseTable."""
        ...

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        """Return the first answer given to this holder's request."""
        ...

    @property
    def next_sequence(self) -> int:
        """Return the sequence that the next event will have."""
        ...


class LeaseWriter(LeaseReader, Protocol):
    """A transaction on leases, places in line and values: all of it is durable when it ends, or nothing happened."""

    def record(self, events: Iterable[Event], at: float) -> None:
        """Append events, and apply them to the state."""
        ...

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Keep the first answer to a request."""
        ...


class LeaseTables(Protocol):
    """Storage of leases that many processes share: a store, or the lease part of one."""

    def read(self) -> AbstractContextManager[LeaseReader]:
        """Return one consistent view."""
        ...

    def write(self) -> AbstractContextManager[LeaseWriter]:
        """Begin a transaction that excludes all others on the same leases. An exception rolls it back."""
        ...

    def close(self) -> None:
        """Release all resources; idempotent."""
        ...


class TaskReader(LeaseReader, Protocol):
    """One consistent view of tasks, runs, entries of the merge queue, managed sessions, and leases."""

    def tasks(self) -> tuple[TaskRecord, ...]:
        """Return all tasks, in the order in which they were added."""
        ...

    def tasks_in_question(self, ids: Sequence[str]) -> tuple[TaskRecord, ...]:
        """Return all tasks that are not final, those that they need, and those with one of these ids, in order."""
        ...

    def links(self, *, after: int = 0, limit: int = 1000) -> tuple[Link, ...]:
        """Return the events above a sequence with their hashes, in order; none from a store that keeps no hashes."""
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

    def managed_sessions(self) -> tuple[ManagedSessionRecord, ...]:
        """Return all managed sessions, in the order in which they were started."""
        ...

    def managed_sessions_in_question(self, ids: Sequence[str]) -> tuple[ManagedSessionRecord, ...]:
        """Return all managed sessions that are not final, and those with one of these ids, in order."""
        ...

    def tenants_served(self) -> Mapping[str, int]:
        """Return the sequence of the last claim of a managed session, by tenant."""
        ...


class TaskWriter(TaskReader, LeaseWriter, Protocol):
    """A transaction on tasks, runs, entries of the merge queue, managed sessions, and leases."""


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

    def close(self) -> None:
        """Close the state; idempotent."""
        ...


class Registry(Protocol):
    """The leases of one namespace, in any kind of storage: each call is one atomic step, on the store's clock."""

    def execute(self, command: Command[T], once: Once | None = None) -> T:
        """Decide on a command, and apply the decision durably. With `once`, a repeated request gets its first outcome.

        Raises UsageError `REQUEST_ID_REUSED` if the id was used for another request.
        """
        ...

    def together(self) -> AbstractContextManager[object]:
        """Run the block as one atomic step, together with writes to the repository's store if possible."""
        ...

    def first_outcome(self, holder: str, once: Once) -> Outcome | None:
        """Return the first outcome of this request. Raises like `execute`."""
        ...

    def read(self) -> AbstractContextManager[LeaseView]:
        """Return one consistent view."""
        ...

    def now(self) -> Now:
        """Return the present instant on the store's clock."""
        ...

    def close(self) -> None:
        """Release all resources; idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class FileState:
    """The present state of a file: its bytes and its permission bits."""

    content: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class Stamp:
    """The identity of a file's state: its content hash and its permission bits."""

    hash: str
    mode: int


class Files(Protocol):
    """The files of one working tree. No path ever leads out of it, even through links."""

    @property
    def root(self) -> str:
        """Return the absolute path of the working tree."""
        ...

    def at(self, root: str) -> Files:
        """Return the files of another working tree of the same repository."""
        ...

    def locate(self, spec: Spec) -> Key:
        """Return the canonical key: links followed, `.` and `..` resolved, letter case as on the disk.

        Raises InputError `PATH_OUTSIDE`, `PATH_RESERVED`, `NOT_A_FILE`.
        """
        ...

    def path_of(self, raw: str) -> str:
        """Return the path that keys use for a file that the disk, git or a program names, in any Unicode form.

        A path that no key can name is returned unchanged.
        """
        ...

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """Return the missing folders above `path`, outermost first.

        Raises InputError `FILE_EXISTS` if something other than a folder is in the way.
        """
        ...

    @property
    def new_file_mode(self) -> int:
        """Return the default permission bits of a new file."""
        ...

    def exists(self, path: str) -> bool:
        """Whether anything is at `path`, taken literally."""
        ...

    def load(self, path: str) -> FileState | None:
        """Return a whole file; None if it does not exist. Raises InputError `FILE_TOO_LARGE`, `NOT_A_FILE`."""
        ...

    def stamp(self, path: str) -> Stamp | None:
        """Return the present stamp of a file; None if it does not exist. Raises as `load`."""
        ...

    def check_size(self, path: str, content: bytes) -> None:
        """Raise InputError `FILE_TOO_LARGE` for content over the limit."""
        ...

    def check_idle(self) -> None:
        """Raise StoreError `REPOSITORY_BUSY` while git is in the middle of rewriting the working tree."""
        ...

    def stage(self, journal: Journal, contents: Contents) -> None:
        """Write every new file beside its place, durably, under a name made from the journal's id.

        Raises ChangedUnderneath if a folder has disappeared.
        """
        ...

    def swap(self, journal: Journal) -> None:
        """Put the staged files in place and remove the deleted ones.

        Raises ChangedUnderneath for a file that no longer has its state in the journal.
        """
        ...

    def flush(self, journal: Journal) -> None:
        """Make the changes of `swap` durable."""
        ...

    def undo(self, journal: Journal, contents: Contents) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Undo `stage` and `swap`, wherever they stopped. Return the paths restored, and the paths left alone.

        A file that has neither its earlier state nor that of the commit was changed from outside: it is left alone.
        """
        ...

    def has_swapped(self, journal: Journal) -> bool:
        """Whether any file already has its state after the commit, so that a reader could see half of it."""
        ...


class ChangedUnderneath(Exception):  # noqa: N818 - it is caught and answered, never shown
    """A file was changed from outside between the check and the write."""
