"""The way from done to landed: whether the commit of a task is part of the branch that it was made for."""

from collections.abc import Iterable
from itertools import groupby

from commonhold.kernel.ports import Revisions
from commonhold.kernel.task import TaskRecord, TaskState
from commonhold.tasks.commands import LandTask, StrandTask
from commonhold.tasks.queue import TaskQueue


class TaskLandings:
    """Follows the targets of tasks. Git is asked outside of every transaction, the outcome is compare-and-set."""

    def __init__(self, queue: TaskQueue, revisions: Revisions | None, *, is_shared: bool) -> None:
        """Follow the tasks of `queue`; without `revisions` there is nothing to follow.

        `is_shared`: several machines use the queue. Then no task is taken back, since another machine's copy of a
        branch may only be older.
        """
        self._queue = queue
        self._revisions = revisions
        self._is_shared = is_shared

    def follow(self, holder: str, records: Iterable[TaskRecord]) -> None:
        """Record which commits of these tasks have become part of their targets, and which are no longer."""
        if self._revisions is None:
            return
        waiting = sorted(filter(_is_followed, records), key=_target)
        for target, group in groupby(waiting, key=_target):
            listed = list(group)
            reached = self._revisions.reached(target, [_commit(each) for each in listed])
            for record in listed:
                self._follow(holder, record, reached.get(_commit(record)))

    def _follow(self, holder: str, record: TaskRecord, is_reached: bool | None) -> None:  # noqa: FBT001 - None: unknown
        target, commit = record.task.target, _commit(record)
        if is_reached and record.state is TaskState.DONE:
            self._queue.execute(LandTask(holder, record.id, commit, record.attempt, f"part of {target}"))
        elif is_reached is False and record.state is TaskState.LANDED and not self._is_shared:
            self._queue.execute(StrandTask(holder, record.id, commit, record.attempt, f"no longer part of {target}"))


def _is_followed(record: TaskRecord) -> bool:
    return record.state in (TaskState.DONE, TaskState.LANDED) and bool(_commit(record))


def _commit(record: TaskRecord) -> str:
    return record.result.commit if record.result else ""


def _target(record: TaskRecord) -> str:
    return record.task.target
