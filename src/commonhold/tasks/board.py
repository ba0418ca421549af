"""The board: all tasks beside all leases, and the conditions that follow from them without being stored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from commonhold.kernel.clock import Now
from commonhold.kernel.keys import canonical, overlaps
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.task import TaskRecord, TaskState
from commonhold.kernel.texts import short_name
from commonhold.tasks.capabilities import Capabilities


class Condition(StrEnum):
    """The condition of a task, as people see it: its state, with the open and done ones told apart."""

    PROPOSED = "proposed"
    READY = "ready"
    BLOCKED = "blocked"
    RESERVED = "reserved"
    CLAIMED = "claimed"
    STRANDED = "stranded"
    LANDED = "landed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Board:
    """The state that a decision on tasks needs.

    `tasks` contains, by id, all tasks that are not final, those that they need, and those that the command names.
    `leases` is complete: all leases and all places in line. `capabilities` say what each session can do.
    """

    tasks: Mapping[str, TaskRecord]
    leases: LeaseTable
    capabilities: Capabilities = field(default_factory=Capabilities)


@dataclass(frozen=True, slots=True)
class Collision:
    """A key of a task that overlaps `other_key` of a running task, or of a lease if `task_id` is empty.

    `doing` is the title of that task, or the purpose of the lease; `expires_at` the Unix time at which the lease ends.
    """

    key: str
    other_key: str
    holder: str
    doing: str
    expires_at: float
    task_id: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task that cannot be claimed now, and the reason as a clause."""

    task_id: str
    title: str
    why: str


def task_key(task_id: str) -> str:
    """Return the text of the key on which a claim of the task is a lease."""
    return f"task:{task_id}"


def unmet(record: TaskRecord, tasks: Mapping[str, TaskRecord]) -> tuple[str, ...]:
    """Return the needs of a task that have not landed."""
    return tuple(need for need in record.task.needs if need not in tasks or tasks[need].state is not TaskState.LANDED)


def condition(record: TaskRecord, tasks: Mapping[str, TaskRecord], now: Now) -> Condition:
    """Return the condition of a task at `now`."""
    if record.state is TaskState.DONE:
        return Condition.STRANDED
    if record.state is not TaskState.OPEN:
        return Condition(record.state.value)
    if unmet(record, tasks):
        return Condition.BLOCKED
    return Condition.RESERVED if is_reserved(record, now) else Condition.READY


def is_reserved(record: TaskRecord, now: Now) -> bool:
    """Whether a task waits for the session whose change was refused at landing."""
    return record.reserved_until is not None and not record.reserved_until.has_passed(now)


def claim_of(record: TaskRecord, leases: Mapping[str, Lease], now: Now) -> Lease | None:
    """Return the live lease that a claimed task is held by; None if it has ended."""
    lease = leases.get(record.lease_id)
    return lease if lease is not None and lease.is_live(now) else None


def why_not(record: TaskRecord, tasks: Mapping[str, TaskRecord], now: Now) -> str:
    """Return why an agent cannot claim a task, as a clause; empty for one that is ready."""
    reasons = {
        Condition.PROPOSED: f"{short_name(record.added_by)} has proposed it, and it waits to be accepted",
        Condition.BLOCKED: "; ".join(_need(need, tasks) for need in unmet(record, tasks)),
        Condition.RESERVED: f"it was refused at landing and is reserved for {short_name(record.reserved_for)}",
        Condition.CLAIMED: f"it is claimed by {short_name(record.holder)} (attempt {record.attempt})",
        Condition.STRANDED: f"{short_name(record.holder)} has done it, and its change has not landed",
        Condition.LANDED: "it is complete: its change has landed",
        Condition.FAILED: f"it failed: {record.note}",
        Condition.CANCELLED: f"it was cancelled: {record.note}",
    }
    return reasons.get(condition(record, tasks, now), "")


def _need(need: str, tasks: Mapping[str, TaskRecord]) -> str:
    known = tasks.get(need)
    if known is None:
        return f"it needs {need}, which does not exist"
    state = "done but has not landed" if known.state is TaskState.DONE else known.state.value
    return f"it needs {need}, which is {state}"


class Running:
    """The keys in use: those of claimed tasks, and those that are leased for anything else."""

    def __init__(self, board: Board, now: Now) -> None:
        """Find them on the board at `now`."""
        live = {lease.id: lease for lease in board.leases.leases if lease.is_live(now)}
        claimed = [each for each in board.tasks.values() if each.state is TaskState.CLAIMED]
        self._claims = [(each, claim_of(each, live, now)) for each in claimed]
        of_tasks = {lease.id for _, lease in self._claims if lease}
        self._leases = [lease for lease in live.values() if lease.id not in of_tasks]
        self._waiters = [waiter for waiter in board.leases.waiters if waiter.is_live(now)]
        self._uses: dict[str, tuple[Collision, ...]] = {}

    def collisions(self, record: TaskRecord, holder: str) -> tuple[Collision, ...]:
        """Return the uses by others that overlap the task's keys, one for each key and use."""
        if record.id not in self._uses:
            self._uses[record.id] = (*self._with_tasks(record), *self._with_leases(record))
        return tuple(each for each in self._uses[record.id] if each.holder != holder)

    def is_leased(self, record: TaskRecord, holder: str) -> bool:
        """Whether another session holds the key of the task itself by a plain lease, or waits in line for it."""
        key = canonical(task_key(record.id))
        claims: list[Lease | Waiter] = [*self._leases, *self._waiters]
        return any(claim.holder != holder and claim.covering(key) for claim in claims)

    def _with_tasks(self, record: TaskRecord) -> Iterator[Collision]:
        for other, lease in self._claims:
            if other.id == record.id:
                continue
            until = lease.deadline.wall if lease else other.since
            for key in record.task.expected_keys:
                for theirs in other.task.expected_keys:
                    if overlaps(canonical(key), canonical(theirs)):
                        yield Collision(key, theirs, other.holder, other.task.title, until, other.id)

    def _with_leases(self, record: TaskRecord) -> Iterator[Collision]:
        for lease in self._leases:
            for key in record.task.expected_keys:
                if theirs := lease.covering(canonical(key)):
                    yield Collision(key, theirs, lease.holder, lease.task, lease.deadline.wall)
