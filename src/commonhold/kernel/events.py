"""Facts. The log of them explains the state: folding it from empty gives the state (invariant I9)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from commonhold.kernel.clock import Deadline
from commonhold.kernel.entry import EntryAdded, EntryMoved
from commonhold.kernel.lease import Base, Conflict, Lease, Waiter, Wish
from commonhold.kernel.managed_session import SessionMoved, SessionQueued
from commonhold.kernel.modes import Mode
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import ItemMoved, RunMoved, RunPlanned, RunStarted
from commonhold.kernel.task import TaskAdded, TaskMoved


@dataclass(frozen=True, slots=True)
class LeaseGranted:
    """A lease began. Its fence is this event's sequence number."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class LeaseDenied:
    """An acquire was refused; nothing was granted."""

    holder: str
    task: str
    keys: tuple[str, ...]
    mode: Mode
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """A lease was given a new deadline, and a new time to live where one was asked for."""

    holder: str
    lease_id: str
    deadline: Deadline
    ttl_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LeaseReleased:
    """A lease was given up by its holder."""

    holder: str
    lease_id: str


@dataclass(frozen=True, slots=True)
class LeaseExpired:
    """A lease timed out, and was found to have done so."""

    holder: str
    lease_id: str
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class LeaseQueued:
    """Somebody got a place in line. Its number is this event's sequence number."""

    waiter: Waiter


@dataclass(frozen=True, slots=True)
class WaiterSeen:
    """A waiter showed a sign of life, and keeps its place until the new deadline."""

    holder: str
    lease_id: str
    deadline: Deadline


class Leaving(StrEnum):
    """Why a place in line was given up."""

    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    DEADLOCK = "deadlock"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class WaiterLeft:
    """A place in line was given up, without a grant."""

    holder: str
    lease_id: str
    why: Leaving


@dataclass(frozen=True, slots=True)
class LeaseClaimed:
    """A waiter took the lease that it had been granted: the full time to live and the bases count from now."""

    holder: str
    lease_id: str
    deadline: Deadline
    worktree: str
    bases: tuple[Base, ...]


@dataclass(frozen=True, slots=True)
class LeaseBroken:
    """A lease was taken from its holder by force."""

    holder: str
    lease_id: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReleaseAsked:
    """Somebody asked the holder to release a lease."""

    holder: str
    lease_id: str
    wish: Wish


@dataclass(frozen=True, slots=True)
class LeaseHandedOver:
    """A lease was given to another holder. Its new fence is this event's sequence number."""

    holder: str
    lease_id: str
    to: str


@dataclass(frozen=True, slots=True)
class ValuePut:
    """A key was given a value. Its version is this event's sequence number."""

    holder: str
    key: str
    text: str | None


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """The search for changes that the holder of an ended lease made under it; no `changes` if there were none."""

    holder: str
    lease_id: str
    changes: tuple[UnfinishedChange, ...]


@dataclass(frozen=True, slots=True)
class WorkReviewed:
    """Partial work was looked at by `holder`, and is closed."""

    holder: str
    lease_id: str
    note: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file by a commit: content hashes and permission bits; None where the file is absent."""

    path: str
    before: str | None
    after: str | None
    mode_before: int | None
    mode_after: int | None


@dataclass(frozen=True, slots=True)
class RegionChange:
    """The change of one region or container by a commit: its hashes, None where it is absent."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Merge:
    """A merged edit whose base had moved. Content hashes: of its base, of the present content, of the sent text."""

    key: str
    base: str
    found: str
    sent: str


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A definition (by its key, without ordinals) whose contract a commit changed; `what` says how, as a clause."""

    key: str
    what: str


@dataclass(frozen=True, slots=True)
class DebtWaived:
    """A debt was looked at by `holder`, who says in `note` why nothing is to be done about it."""

    holder: str
    key: str
    worktree: str
    note: str


@dataclass(frozen=True, slots=True)
class Committed:
    """A changeset took effect in `worktree`. `settled` are the debts (keys) that it resolved.

    `merged` are the edits that were merged rather than applied as sent, `contracts` the contract changes that callers
    will notice. `unadmitted` is the reason for which it would have been refused, had a tool or a command not made it
    already. `adopts` names a session that has ended: its changes of the files now count as made by `holder`; nothing
    was written. `undoes` are the numbers of the commits that this one takes back.
    """

    holder: str
    intent: str
    worktree: str
    leases: tuple[str, ...]
    files: tuple[FileChange, ...]
    regions: tuple[RegionChange, ...]
    debts: tuple[Debt, ...] = ()
    settled: tuple[str, ...] = ()
    merged: tuple[Merge, ...] = ()
    contracts: tuple[ContractChange, ...] = ()
    unadmitted: str = ""
    adopts: str = ""
    undoes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitRefused:
    """A changeset was refused; nothing was written. `contents` are the hashes of the texts in it, which are kept."""

    holder: str
    intent: str
    code: Refusal
    keys: tuple[str, ...]
    why: str
    contents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitUndone:
    """A commit that had been interrupted before it took effect was taken back.

    `left` are files that another program had changed meanwhile: they were not touched.
    """

    holder: str
    intent: str
    restored: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateReset:
    """A state that had lost events was taken into use again, by force. Its number is above all that it ever gave."""

    holder: str


@dataclass(frozen=True, slots=True)
class LogCompacted:
    """The events from `first` to `last` were replaced by a snapshot of the state after them.

    `hash` is the hash of the event `last`, in hexadecimal digits; empty if it had none. `digest` is the SHA-256 of the
    snapshot, so that the chain of hashes covers it. `export` is the file to which the events were written before; empty
    if none was named.
    """

    holder: str
    first: int
    last: int
    hash: str
    digest: str
    export: str = ""


Event = (
    LeaseGranted
    | LeaseDenied
    | LeaseRenewed
    | LeaseReleased
    | LeaseExpired
    | LeaseQueued
    | WaiterSeen
    | WaiterLeft
    | LeaseClaimed
    | LeaseBroken
    | ReleaseAsked
    | LeaseHandedOver
    | ValuePut
    | WorkLeft
    | WorkReviewed
    | DebtWaived
    | Committed
    | CommitRefused
    | CommitUndone
    | StateReset
    | LogCompacted
    | TaskAdded
    | TaskMoved
    | RunStarted
    | RunPlanned
    | RunMoved
    | ItemMoved
    | EntryAdded
    | EntryMoved
    | SessionQueued
    | SessionMoved
)

KINDS: Final[dict[str, type[Event]]] = {
    "lease_granted": LeaseGranted,
    "lease_denied": LeaseDenied,
    "lease_renewed": LeaseRenewed,
    "lease_released": LeaseReleased,
    "lease_expired": LeaseExpired,
    "lease_queued": LeaseQueued,
    "waiter_seen": WaiterSeen,
    "waiter_left": WaiterLeft,
    "lease_claimed": LeaseClaimed,
    "lease_broken": LeaseBroken,
    "release_asked": ReleaseAsked,
    "lease_handed_over": LeaseHandedOver,
    "value_put": ValuePut,
    "work_left": WorkLeft,
    "work_reviewed": WorkReviewed,
    "debt_waived": DebtWaived,
    "committed": Committed,
    "commit_refused": CommitRefused,
    "commit_undone": CommitUndone,
    "state_reset": StateReset,
    "log_compacted": LogCompacted,
    "task_added": TaskAdded,
    "task_moved": TaskMoved,
    "run_started": RunStarted,
    "run_planned": RunPlanned,
    "run_moved": RunMoved,
    "item_moved": ItemMoved,
    "entry_added": EntryAdded,
    "entry_moved": EntryMoved,
    "session_queued": SessionQueued,
    "session_moved": SessionMoved,
}
KIND_OF: Final = {cls: kind for kind, cls in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event with its place in the total order and the wall time at which it was written down."""

    sequence: int
    at: float
    event: Event


def holder_of(event: Event) -> str:
    """The agent session that an event is about."""
    if isinstance(event, LeaseGranted):
        return event.lease.holder
    return event.waiter.holder if isinstance(event, LeaseQueued) else event.holder


def run_id_of(event: Event) -> str | None:
    """The run that an event is about, if it is about one."""
    return event.run.id if isinstance(event, RunStarted) else getattr(event, "run_id", None)


def lease_id_of(event: Event) -> str | None:
    """The lease that an event is about, if it is about one."""
    if isinstance(event, LeaseGranted):
        return event.lease.id
    if isinstance(event, LeaseQueued):
        return event.waiter.id
    return getattr(event, "lease_id", None)
