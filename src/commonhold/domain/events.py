"""Facts. The log of them explains the state: folding it from empty gives the state (invariant I9)."""

from dataclasses import dataclass
from typing import Final

from commonhold.domain.clock import Deadline
from commonhold.domain.lease import Conflict, Lease
from commonhold.domain.modes import Mode
from commonhold.domain.refusal import Refusal


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
    """A lease was given a new deadline."""

    holder: str
    lease_id: str
    deadline: Deadline


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
class FileChange:
    """What a commit did to one file: content hashes and permission bits; None where the file is not there."""

    path: str
    before: str | None
    after: str | None
    mode_before: int | None
    mode_after: int | None


@dataclass(frozen=True, slots=True)
class RegionChange:
    """What a commit did to one region, or to a container of one: hashes, None where it is not there."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Debt:
    """A region that a commit broke, or may have, which its holder leased and promised to mend."""

    key: str
    holder: str
    why: str
    worktree: str

    @property
    def place(self) -> str:
        """Where it is owed: one key of one working tree."""
        return place_of_debt(self.worktree, self.key)


def place_of_debt(worktree: str, key: str) -> str:
    """The name of one key of one working tree."""
    return f"{worktree}:{key}"


@dataclass(frozen=True, slots=True)
class Committed:
    """A changeset took effect. `worktree` is where; `settled` are the debts (keys) that it mended."""

    holder: str
    intent: str
    worktree: str
    leases: tuple[str, ...]
    files: tuple[FileChange, ...]
    regions: tuple[RegionChange, ...]
    debts: tuple[Debt, ...] = ()
    settled: tuple[str, ...] = ()


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

    `left` are files that somebody else had changed meanwhile: they were not touched.
    """

    holder: str
    intent: str
    restored: tuple[str, ...]
    left: tuple[str, ...]


Event = (
    LeaseGranted | LeaseDenied | LeaseRenewed | LeaseReleased | LeaseExpired | Committed | CommitRefused | CommitUndone
)

KINDS: Final[dict[str, type[Event]]] = {
    "lease_granted": LeaseGranted,
    "lease_denied": LeaseDenied,
    "lease_renewed": LeaseRenewed,
    "lease_released": LeaseReleased,
    "lease_expired": LeaseExpired,
    "committed": Committed,
    "commit_refused": CommitRefused,
    "commit_undone": CommitUndone,
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
    return event.lease.holder if isinstance(event, LeaseGranted) else event.holder


def lease_id_of(event: Event) -> str | None:
    """The lease that an event is about, if it is about one."""
    if isinstance(event, LeaseGranted):
        return event.lease.id
    return getattr(event, "lease_id", None)
