"""Whether the work of a task has landed: its git commit is part of its branch, its admitted commits are in effect."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from commonhold.kernel.ports import Revisions, Store
from commonhold.kernel.task import TaskRecord, TaskState
from commonhold.tasks.commands import LandTask, StrandTask, UndoTask
from commonhold.tasks.history import undone_among, words_of_undo
from commonhold.tasks.queue import TaskQueue


class TaskLandings:
    """Follows the targets and commits of tasks. They are read outside of every transaction, and compared and set."""

    def __init__(self, queue: TaskQueue, store: Store, revisions: Revisions | None, *, is_shared: bool) -> None:
        """Follow the tasks of `queue`, whose admitted commits are in `store`; git commits only with `revisions`.

        `is_shared`: several machines use the queue. Then no task is taken back, since another machine's copy of a
        branch may only be older, and its log has other numbers.
        """
        self._queue = queue
        self._store = store
        self._revisions = revisions
        self._is_shared = is_shared

    def follow(self, holder: str, records: Iterable[TaskRecord]) -> None:
        """Record which commits of these tasks have become part of their targets, and which are no longer.

        A landed task of which an undo has taken back all commits is open again.
        """
        known = list(records)
        if not self._is_shared:
            self._follow_undos(holder, [each for each in known if each.state is TaskState.LANDED and _admitted(each)])
        if self._revisions is None:
            return
        followed = [each for each in known if each.state in (TaskState.DONE, TaskState.LANDED) and _commit(each)]
        for target, group in groupby(sorted(followed, key=_target), key=_target):
            listed = list(group)
            reached = self._revisions.reached(target, [_commit(each) for each in listed])
            for record in listed:
                commit, attempt = _commit(record), record.attempt
                is_reached = reached.get(commit)  # None: unknown
                if is_reached and record.state is TaskState.DONE:
                    self._queue.execute(LandTask(holder, record.id, commit, attempt, f"part of {target}"))
                elif is_reached is False and record.state is TaskState.LANDED and not self._is_shared:
                    self._queue.execute(StrandTask(holder, record.id, commit, attempt, f"no longer part of {target}"))

    def _follow_undos(self, holder: str, landed: Sequence[TaskRecord]) -> None:
        undone = undone_among(self._store, {number for each in landed for number in _admitted(each)})
        for record in landed:
            admitted = _admitted(record)
            if undone.keys() >= set(admitted):
                reason = words_of_undo(undone[number] for number in admitted)
                self._queue.execute(UndoTask(holder, record.id, admitted, record.attempt, reason))


def _commit(record: TaskRecord) -> str:
    return record.result.commit if record.result else ""


def _admitted(record: TaskRecord) -> tuple[int, ...]:
    return record.result.admitted if record.result else ()


def _target(record: TaskRecord) -> str:
    return record.task.target
