"""What the use cases ask of the world. Each docstring is the contract of its adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from commonhold.domain.at_work import Message, Presence, Proposal
    from commonhold.domain.clock import Now
    from commonhold.domain.commands import Command
    from commonhold.domain.debt import Debt
    from commonhold.domain.events import Committed, Event, Recorded
    from commonhold.domain.keys import Key, Spec
    from commonhold.domain.lease import Lease, Waiter
    from commonhold.domain.lease_table import LeaseTable
    from commonhold.domain.outcomes import Outcome
    from commonhold.domain.partial_work import PartialWork
    from commonhold.domain.read_set import Overtaken, Sighting
    from commonhold.domain.value import Value


T = TypeVar("T", bound="Outcome")

Contents = Callable[[str], bytes]
"""Bytes by content hash. Raises StoreError if they are gone."""

Step = Callable[[str], None]
"""Called with the name of each durable step of a commit when it is done."""


IsRunning = Callable[[str], bool]
"""Whether the process that a session has named is certainly there."""


def no_step(_name: str) -> None:
    """Go on: only crash tests do anything between the steps."""


class Clock(Protocol):
    """The store's clock: the only one that decides anything."""

    def now(self) -> Now:
        """The present instant; `ticks` never run backwards within an epoch."""
        ...


class Ids(Protocol):
    """A source of names that nobody can guess or repeat."""

    def new(self, prefix: str) -> str:
        """A fresh id, such as `lease-4k2v…`."""
        ...


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The first answer to a request, and the fingerprint of what was asked."""

    fingerprint: str
    answer: object


@dataclass(frozen=True, slots=True)
class Write:
    """One file's part of a commit: content hashes and permission bits before and after, None where it is not there.

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
    """What makes a request known again: its id, and the fingerprint of what was asked."""

    request_id: str
    fingerprint: str


class LeaseView(Protocol):
    """One consistent view of leases, places in line and values."""

    def leases(self) -> tuple[Lease, ...]:
        """All leases that have not ended in the log (expired ones may be among them), oldest first."""
        ...

    def lease(self, lease_id: str) -> Lease | None:
        """One lease that has not ended in the log."""
        ...

    def held_by(self, holder: str) -> tuple[Lease, ...]:
        """The leases of one holder that have not ended in the log, oldest first."""
        ...

    def waiters(self) -> tuple[Waiter, ...]:
        """All places in line that were not given up in the log, the first in line first."""
        ...

    def value(self, key: str) -> Value | None:
        """What a key carries; None if it never carried anything."""
        ...

    def has_expired(self, now: Now) -> bool:
        """Whether there is a lease that has expired at `now` and has not ended in the log."""
        ...

    def lost(self) -> tuple[Lease, ...]:
        """Leases that were taken from their holders, and whose work has not been looked for yet."""
        ...

    def lost_near(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """At least those of them with a key that overlaps one of `keys`."""
        ...

    def works(self) -> tuple[PartialWork, ...]:
        """Partial work that nobody has reviewed yet, oldest first."""
        ...

    def overlapping(self, keys: Sequence[Key]) -> tuple[Lease, ...]:
        """At least every lease with a key that overlaps one of `keys`, oldest first."""
        ...

    def events(self, *, after: int = 0, limit: int = 1000, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events with a sequence above `after`, in order."""
        ...

    def latest(self, limit: int) -> tuple[Recorded, ...]:
        """The last `limit` events, in order."""
        ...


class LeaseReader(LeaseView, Protocol):
    """A view that decisions can be made from."""

    def table(self, command: Command[Any], now: Now) -> LeaseTable:
        """All that deciding on `command` needs; see LeaseTable."""
        ...

    def answer(self, holder: str, request_id: str) -> StoredAnswer | None:
        """The first answer given to this holder's request."""
        ...

    @property
    def next_sequence(self) -> int:
        """The sequence that the next event will have."""
        ...


class LeaseWriter(LeaseReader, Protocol):
    """A transaction on leases, places in line and values: all of it is durable when it ends, or nothing happened."""

    def record(self, events: Iterable[Event], at: float) -> None:
        """Append events, and bring the state up to them."""
        ...

    def remember(self, holder: str, request_id: str, answer: StoredAnswer, at: float) -> None:
        """Keep the first answer to a request."""
        ...


class LeaseTables(Protocol):
    """A place where leases are kept that many processes share: a store, or the part of one that is about leases."""

    def read(self) -> AbstractContextManager[LeaseReader]:
        """Look at one consistent view."""
        ...

    def write(self) -> AbstractContextManager[LeaseWriter]:
        """A transaction that excludes all others on the same leases. An exception takes it back."""
        ...

    def close(self) -> None:
        """Let go; idempotent."""
        ...


class Reader(LeaseReader, Protocol):
    """One consistent view of the whole state of a repository."""

    def commits_on(self, path: str, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """The last commits that touched the file at `path` (of any worktree), newest first."""
        ...

    def debts(self) -> tuple[Debt, ...]:
        """The debts that are open."""
        ...

    def commits_below(self, folder: str, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """The last commits that touched a path that begins with `folder` (which ends in `/`; empty: any path)."""
        ...

    def latest_commits(self, limit: int) -> tuple[tuple[Recorded, Committed], ...]:
        """The last commits, newest first."""
        ...

    def missing(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """Those of `hashes` under which nothing is kept."""
        ...

    def content(self, content_hash: str) -> bytes | None:
        """Bytes kept under a hash; None when they were never kept or their time is over."""
        ...

    def contents_like(self, prefix: str) -> tuple[str, ...]:
        """Up to two hashes that begin with `prefix`."""
        ...

    def journals(self) -> tuple[Journal, ...]:
        """Commits that were begun and have neither taken effect nor been taken back."""
        ...

    def sightings(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[Sighting, ...]:
        """What a session last saw of `keys` in a working tree, in no order."""
        ...

    def seen_by_others(self, holder: str, worktree: str, keys: Iterable[str]) -> tuple[tuple[str, Sighting], ...]:
        """What all other holders last saw of `keys` in a working tree, each with who saw it, in no order."""
        ...

    def seen(self, worktree: str) -> tuple[str, ...]:
        """The keys of all that anybody has seen in a working tree."""
        ...

    def overtaken(self, holder: str, worktree: str) -> tuple[Overtaken, ...]:
        """What a session has read in a working tree and others have changed since, by key."""
        ...

    def presences(self, worktree: str) -> tuple[Presence, ...]:
        """Who is at work in a working tree, by holder."""
        ...

    def messages(self, holder: str, worktree: str) -> tuple[Message, ...]:
        """The messages that wait for a session in a working tree, oldest first."""
        ...

    def proposals(self, worktree: str) -> tuple[Proposal, ...]:
        """What tools are about to write in a working tree, by path, holder and call."""
        ...


class Writer(Reader, LeaseWriter, Protocol):
    """A transaction: all of it is durable when it ends, or none of it happened."""

    def keep(self, contents: Iterable[tuple[str, bytes]], at: float) -> None:
        """Keep bytes by hash."""
        ...

    def begin(self, root: str, holder: str, intent: str, writes: Sequence[Write]) -> Journal:
        """Write down a commit before its first file is touched."""
        ...

    def drop_before(self, contents_at: float, answers_at: float) -> None:
        """Forget what was last kept before these wall times: contents, sightings and messages; answers."""
        ...

    def see(self, holder: str, worktree: str, sightings: Iterable[Sighting], at: float) -> None:
        """Keep what a session saw, in place of what it saw before."""
        ...

    def overtake(self, found: Iterable[Overtaken], at: float) -> None:
        """Keep what became of what sessions have read, in place of what is kept; what is over is forgotten."""
        ...

    def attend(self, presence: Presence) -> None:
        """Keep that a session is at work, in place of what is kept of it."""
        ...

    def depart(self, holder: str, worktree: str) -> None:
        """Forget that a session is at work, if that is kept."""
        ...

    def send(self, messages: Iterable[Message]) -> None:
        """Keep what sessions are to be told; what waits for one already stays as it is."""
        ...

    def end_messages(self, messages: Iterable[Message]) -> None:
        """Delete delivered messages, if they are kept."""
        ...

    def propose(self, proposals: Iterable[Proposal]) -> None:
        """Keep what tools are about to write, each in place of what the same call was about to write to the file."""
        ...

    def withdraw(self, proposals: Iterable[Proposal]) -> None:
        """Forget proposals: they were carried out, or will not be."""
        ...

    def end(self, journal_id: int) -> None:
        """Strike out a commit that has taken effect or was taken back."""
        ...


class Store(Protocol):
    """Durable state that many processes share. At most one of them is inside the gate."""

    def read(self) -> AbstractContextManager[Reader]:
        """Look at the state; sees nothing of transactions that end later."""
        ...

    def gate(self) -> AbstractContextManager[None]:
        """Be the only one that writes, among all processes. Re-entrant; waits fairly; raises `STORE_BUSY`."""
        ...

    def write(self) -> AbstractContextManager[Writer]:
        """A transaction inside the gate. An exception takes it back. One that is begun inside another is part of it."""
        ...

    def write_unawaited(self) -> AbstractContextManager[Writer]:
        """The same for what nobody is promised: a loss of power may take it back after its end."""
        ...

    def close(self) -> None:
        """Let go of the state; idempotent."""
        ...


class Registry(Protocol):
    """The leases of one namespace, wherever they are kept: each call is one atomic step, on the store's clock."""

    def execute(self, command: Command[T], once: Once | None = None) -> T:
        """Decide on a command, and make it so, durably. With `once`, a repeated request gets its first outcome.

        Raises UsageError `REQUEST_ID_REUSED` where the id was used for another request.
        """
        ...

    def together(self) -> AbstractContextManager[object]:
        """Make what is executed inside one step with what is written to the repository's store, where it can be."""
        ...

    def first_outcome(self, holder: str, once: Once) -> Outcome | None:
        """What this request was answered before. Raises like `execute`."""
        ...

    def read(self) -> AbstractContextManager[LeaseView]:
        """Look at one consistent view."""
        ...

    def now(self) -> Now:
        """The present instant on the store's clock."""
        ...

    def close(self) -> None:
        """Let go; idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it is now: its bytes and its permission bits."""

    content: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells a file from what it was: its content hash and its permission bits."""

    hash: str
    mode: int


class Files(Protocol):
    """The files of one working tree. No path ever leads out of it, whatever the links in it say."""

    @property
    def root(self) -> str:
        """The absolute path of the working tree."""
        ...

    def at(self, root: str) -> Files:
        """The files of another working tree of the same repository."""
        ...

    def locate(self, spec: Spec) -> Key:
        """The canonical key: links followed, `.` and `..` gone, letters as the disk has them.

        Raises InputError `PATH_OUTSIDE`, `PATH_RESERVED`, `NOT_A_FILE`.
        """
        ...

    def path_of(self, raw: str) -> str:
        """Return the path that keys use for a file that the disk, git or a program names, in any Unicode form.

        A path that no key can name is given back as it is.
        """
        ...

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """The folders above `path` that are not there, outermost first.

        Raises InputError `FILE_EXISTS` where something else than a folder is there.
        """
        ...

    @property
    def new_file_mode(self) -> int:
        """The permission bits of a file that nobody gave any."""
        ...

    def exists(self, path: str) -> bool:
        """Whether anything is at `path`, taken as it is."""
        ...

    def load(self, path: str) -> FileState | None:
        """Read a whole file; None if it is not there. Raises InputError `FILE_TOO_LARGE`, `NOT_A_FILE`."""
        ...

    def stamp(self, path: str) -> Stamp | None:
        """What a file is now; None if it is not there. Raises what `load` raises."""
        ...

    def check_size(self, path: str, content: bytes) -> None:
        """Raise InputError `FILE_TOO_LARGE` for content over the limit."""
        ...

    def check_idle(self) -> None:
        """Raise StoreError `REPOSITORY_BUSY` while git is in the middle of rewriting the working tree."""
        ...

    def stage(self, journal: Journal, contents: Contents) -> None:
        """Write every new file beside its place, durably, under a name made from the journal's id.

        Raises ChangedUnderneath where a folder that was there has gone.
        """
        ...

    def swap(self, journal: Journal) -> None:
        """Put the staged files in place and remove the deleted ones.

        Raises ChangedUnderneath for a file that is no longer what the journal says it was.
        """
        ...

    def flush(self, journal: Journal) -> None:
        """Make what `swap` did durable."""
        ...

    def undo(self, journal: Journal, contents: Contents) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Take back what `stage` and `swap` did, wherever they stopped: (paths restored, paths left alone).

        A file that is neither as it was nor as the commit would have it was changed by somebody else: it is left.
        """
        ...

    def has_swapped(self, journal: Journal) -> bool:
        """Whether any file is as the commit would have it, so that a reader could see half of it."""
        ...


class ChangedUnderneath(Exception):  # noqa: N818 - it is caught and answered, never shown
    """A file was changed from outside between the check and the write."""
