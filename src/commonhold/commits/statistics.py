"""What coordination has saved and cost, counted from the log alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from commonhold.kernel.events import (
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
    WorkLeft,
)
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Waiter
from commonhold.kernel.task import Move, TaskAdded, TaskMoved


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits of one cause: how many ended, and the seconds that they took together."""

    count: int = 0
    seconds: float = 0.0

    def with_one(self, seconds: float) -> "Wait":
        """Return the same with one more."""
        return Wait(self.count + 1, self.seconds + max(0.0, seconds))


@dataclass
class Statistics:
    """Counts of the events from one Unix time to another.

    `collisions` are refused calls for leases that others held, `queued` those that got a place in line instead.
    `commits` took effect, `merged` of them with regions that another session had changed meanwhile; `unadmitted` would
    have been refused, had a tool not made them already. `refused` counts refusals by code; `repaired` of them were
    followed by a commit of the same session to the same file, after `repair_seconds` together. `broken` and `expired`
    are ends of leases, `left` unfinished works that were found. `waits` are the ended waits by cause, `contended` the
    keys that sessions waited for or were refused, by count, `moves` the transitions of tasks.
    """

    since: float = 0.0
    until: float = 0.0
    events: int = 0
    sessions: set[str] = field(default_factory=set)
    granted: int = 0
    collisions: int = 0
    queued: int = 0
    expired: int = 0
    broken: int = 0
    left: int = 0
    commits: int = 0
    merged: int = 0
    merged_regions: int = 0
    unadmitted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    repair_seconds: float = 0.0
    waits: dict[str, Wait] = field(default_factory=lambda: defaultdict(Wait))
    contended: Counter[str] = field(default_factory=Counter)
    tasks_added: int = 0
    moves: Counter[Move] = field(default_factory=Counter)


def statistics_of(log: Iterable[Recorded], since: float = 0.0) -> Statistics:
    """Return the counts of the events recorded at a Unix time or later.

    `log` begins with the first event that is kept: a wait or a refusal that began before `since` counts when it ends
    after it. Of a log whose beginning was compacted, `since` is the time of the first event that is left.
    """
    count = _Count(Statistics(since=since))
    for place, recorded in enumerate(log):
        if place == 0 and recorded.sequence > 1:
            count.found.since = max(since, recorded.at)
        count.see(recorded)
    return count.found


class _Count:
    """A count in progress, with the waits and refusals that have not ended yet."""

    def __init__(self, found: Statistics) -> None:
        self.found = found
        self._in_line: dict[str, tuple[float, Waiter]] = {}
        self._refused: dict[str, dict[str, float]] = defaultdict(dict)
        self._open_since: dict[str, float] = {}
        self._done_since: dict[str, float] = {}

    def see(self, recorded: Recorded) -> None:
        """Count one event."""
        event, at = recorded.event, recorded.at
        if at >= self.found.since:
            self.found.events += 1
            self.found.until = max(self.found.until, at)
            self._count(event)
        self._follow(event, at)

    def _count(self, event: Event) -> None:
        found = self.found
        match event:
            case Committed(holder=holder, merged=merged) if not event.adopts:
                found.commits += 1
                found.sessions.add(holder)
                found.merged += bool(merged)
                found.merged_regions += len(merged)
                found.unadmitted += bool(event.unadmitted)
            case CommitRefused(holder=holder, code=code):
                found.refused[code.value] += 1
                found.sessions.add(holder)
            case TaskAdded():
                found.tasks_added += 1
            case TaskMoved(move=move):
                found.moves[move] += 1
            case _:
                self._count_lease(event)

    def _count_lease(self, event: Event) -> None:
        found = self.found
        match event:
            case LeaseGranted():
                found.granted += 1
                found.sessions.add(event.lease.holder)
            case LeaseDenied():
                found.collisions += 1
                found.sessions.add(event.holder)
                found.contended.update({conflict.held for conflict in event.conflicts})
            case LeaseQueued(waiter):
                found.queued += 1
                found.sessions.add(waiter.holder)
                found.contended.update(waiter.keys)
            case LeaseExpired():
                found.expired += 1
            case LeaseBroken():
                found.broken += 1
            case WorkLeft():
                found.left += 1
            case _:
                pass

    def _follow(self, event: Event, at: float) -> None:
        """Begin and end waits, and find the repairs of refused commits."""
        match event:
            case LeaseQueued(waiter):
                self._in_line[waiter.id] = at, waiter
            case LeaseGranted(lease) if lease.id in self._in_line:
                self._end("in line for a lease, granted", self._in_line.pop(lease.id)[0], at)
            case WaiterLeft(lease_id=lease_id, why=why) if lease_id in self._in_line:
                self._end(f"in line for a lease, {why.value.replace('_', ' ')}", self._in_line.pop(lease_id)[0], at)
            case CommitRefused(holder=holder, keys=keys):
                for key in keys:
                    self._refused[holder].setdefault(canonical(key).file_path, at)
            case Committed(holder=holder, files=files):
                self._repair(holder, {file.path for file in files}, at)
            case TaskAdded(task=task, is_proposed=False):
                self._open_since[task.id] = at
            case TaskMoved():
                self._follow_task(event, at)
            case _:
                pass

    def _repair(self, holder: str, paths: set[str], at: float) -> None:
        refused = self._refused[holder]
        begun = [refused.pop(path) for path in paths & refused.keys()]
        if begun and at >= self.found.since:
            self.found.repaired += 1
            self.found.repair_seconds += max(0.0, at - min(begun))

    def _follow_task(self, event: TaskMoved, at: float) -> None:
        task = event.task_id
        match event.move:
            case Move.CLAIM if task in self._open_since:
                self._end("task open until claimed", self._open_since.pop(task), at)
            case Move.ACCEPT | Move.RETURN | Move.GIVE_BACK | Move.REFUSE | Move.UNDO | Move.REOPEN:
                self._open_since[task] = at
                self._done_since.pop(task, None)
            case Move.FINISH:
                self._done_since.setdefault(task, at)
            case Move.LAND if task in self._done_since:
                self._end("task done until landed", self._done_since.pop(task), at)
            case _:
                pass

    def _end(self, cause: str, begun: float, at: float) -> None:
        if at >= self.found.since:
            self.found.waits[cause] = self.found.waits[cause].with_one(at - begun)
