"""The choices of an isolated run: which items get a managed session next, and which can go on no more. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from commonhold.kernel.keys import canonical, overlaps
from commonhold.kernel.managed_session import SessionState
from commonhold.kernel.run import ItemState
from commonhold.kernel.task import Task, TaskState
from commonhold.runs.answers import ItemView
from commonhold.sessions.answers import ManagedSessionView


class Standing(Enum):
    """How far an open item is. NONE: no session works on it; FAILED: its session has, and can be tried again.

    BUSY: a session does it, or will. LANDING: its work waits for the merge queue. STUCK: a person must decide.
    """

    NONE = auto()
    FAILED = auto()
    BUSY = auto()
    LANDING = auto()
    STUCK = auto()


_STANDING = {
    SessionState.QUEUED: Standing.BUSY,
    SessionState.RUNNING: Standing.BUSY,
    SessionState.PAUSED: Standing.BUSY,
    SessionState.FAILED: Standing.FAILED,
    SessionState.CANCELLED: Standing.STUCK,
}


@dataclass(frozen=True, slots=True)
class Start:
    """An item that gets a session: a new one, or `retry`, the id of the one that has failed at it."""

    item: ItemView
    retry: str = ""


@dataclass(frozen=True, slots=True)
class Isolation:
    """The open items of a run, with the newest session of each task that has one, by task.

    `ready` are the tasks that could be claimed now, the best first; `ended` are those of the run that have failed or
    were cancelled.
    """

    items: Sequence[ItemView]
    sessions: Mapping[str, ManagedSessionView]
    ready: Sequence[str]
    ended: Collection[str] = ()

    def standing(self, item: ItemView) -> Standing:
        """Return how far an item is."""
        view = self.sessions.get(item.item.task_id)
        if view is None:
            return Standing.NONE
        if view.record.state is SessionState.AWAITING_REVIEW:
            return Standing.STUCK if view.needs_person else Standing.LANDING
        if view.record.state is SessionState.COMPLETED:
            return Standing.NONE if item.task.state is TaskState.OPEN else Standing.LANDING
        return _STANDING[view.record.state]

    def starts(self, most: int) -> Iterator[Start]:
        """Yield the items that get a session now, so that at most `most` sessions are busy.

        Items whose keys overlap do not run at the same time, nor before the other's work has landed: waiting costs
        less than a merge that conflicts.
        """
        by_task = {each.item.task_id: each for each in self.items}
        standing = {task: self.standing(item) for task, item in by_task.items()}
        moving = [
            by_task[task].task.task for task, each in standing.items() if each in (Standing.BUSY, Standing.LANDING)
        ]
        left = most - sum(each is Standing.BUSY for each in standing.values())
        for task in self.ready:
            if left <= 0:
                return
            if standing.get(task) not in (Standing.NONE, Standing.FAILED) or _collides(by_task[task].task.task, moving):
                continue
            left -= 1
            moving.append(by_task[task].task.task)
            failed = self.sessions[task].record.id if standing[task] is Standing.FAILED else ""
            yield Start(by_task[task], failed)

    def stuck(self) -> dict[str, str]:
        """Return the open items that cannot go on unless a person decides, by task, with the reason as a clause."""
        found = {
            each.item.task_id: _why_stuck(self.sessions[each.item.task_id])
            for each in self.items
            if self.standing(each) is Standing.STUCK
        }
        left = [each for each in self.items if each.item.task_id not in found]
        while behind := {each.item.task_id: need for each in left if (need := self._dead_need(each, found))}:
            found |= {task: f"it needs {need}" for task, need in behind.items()}
            left = [each for each in left if each.item.task_id not in behind]
        return found

    def _dead_need(self, item: ItemView, stuck: Collection[str]) -> str:
        return next((each for each in item.task.task.needs if each in stuck or each in self.ended), "")


def _why_stuck(view: ManagedSessionView) -> str:
    record = view.record
    if record.state is SessionState.CANCELLED:
        return f"its session {record.id} was cancelled ({record.note})"
    return f"its session {record.id} awaits review: {view.why}"


def _collides(task: Task, others: Collection[Task]) -> bool:
    keys = [canonical(each) for each in task.expected_keys]
    return any(overlaps(key, canonical(other)) for each in others for other in each.expected_keys for key in keys)


def in_states(items: Sequence[ItemView], *states: ItemState) -> list[ItemView]:
    """Return the items in one of these states."""
    return [each for each in items if each.item.state in states]
