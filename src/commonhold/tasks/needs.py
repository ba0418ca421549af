"""The graph of needs: circles in it, and the work that waits for each task."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.task import Task, TaskRecord

DEFAULT_ESTIMATE_SECONDS: Final = 600.0
"""The assumed size of a task whose author gave none."""
_UNHURRIED: Final = float("inf")


def circle(needs: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return a circle of needs, beginning and ending with the same task; empty if there is none.

    `needs` maps ids of tasks to the ids that they need. Tasks that are not in it are taken to need nothing.
    """
    is_clear: set[str] = set()
    for start in needs:
        path: dict[str, None] = {}
        ahead = [(start, False)]
        while ahead:
            task, is_left = ahead.pop()
            if is_left:
                path.pop(task)
                is_clear.add(task)
            elif task in path:
                found = [*path]
                return (*found[found.index(task) :], task)
            elif task not in is_clear:
                path[task] = None
                ahead.append((task, True))
                ahead += [(each, False) for each in needs.get(task, ())]
    return ()


def check_needs(tasks: Sequence[Task], known: Collection[str]) -> None:
    """Check that each need is one of `tasks` or of the ids `known`. Raises InputError `TASK_UNKNOWN`."""
    there = {*known, *(each.id for each in tasks)}
    for task in tasks:
        for need in task.needs:
            if need not in there:
                raise InputError(
                    Code.TASK_UNKNOWN,
                    f"the task {task.id or task.title!r} needs {need!r}, and there is no such task",
                    hint="add that task first, or in the same plan; `commonhold task list` shows all tasks",
                    fields={"task": task.id, "need": need},
                )


def needs_first(needs: Mapping[str, Collection[str]]) -> list[str]:
    """Return the tasks in an order in which each follows all that it needs. The needs must have no circle."""
    missing = {task: set(each) & needs.keys() for task, each in needs.items()}
    needers: dict[str, list[str]] = {task: [] for task in needs}
    for task, each in missing.items():
        for need in each:
            needers[need].append(task)
    found = [task for task, each in missing.items() if not each]
    for task in found:
        for needer in needers[task]:
            missing[needer].discard(task)
            if not missing[needer]:
                found.append(needer)
    return found


def all_needs(needs: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Return all that each task needs, directly or through others. The needs must have no circle."""
    found: dict[str, set[str]] = {}
    for task in needs_first(needs):
        found[task] = set(needs[task]).union(*(found[need] for need in needs[task] if need in found))
    return found


def estimate(record: TaskRecord) -> float:
    """Return the expected size of a task in seconds."""
    seconds = record.task.estimate_seconds
    return DEFAULT_ESTIMATE_SECONDS if seconds is None else seconds


def chains(tasks: Mapping[str, TaskRecord]) -> dict[str, float]:
    """Return, for each task, the seconds of the longest chain of work from it through tasks that need it.

    Final tasks add nothing. The needs must have no circle.
    """
    found: dict[str, float] = {}
    for record, needers in _needers_first(tasks):
        own = 0.0 if record.is_final else estimate(record)
        found[record.id] = own + max((found[each] for each in needers), default=0.0)
    return found


def latest_starts(tasks: Mapping[str, TaskRecord]) -> dict[str, float]:
    """Return the Unix time by which each task must begin, infinite where there is no deadline.

    Its own deadline counts, and those of the tasks that need it. The needs must have no circle.
    """
    found: dict[str, float] = {}
    for record, needers in _needers_first(tasks):
        due = min((found[each] for each in needers), default=_UNHURRIED)
        if not record.is_final:
            own = record.task.deadline_at
            due = min(due, _UNHURRIED if own is None else own) - estimate(record)
        found[record.id] = due
    return found


def _needers_first(tasks: Mapping[str, TaskRecord]) -> Iterator[tuple[TaskRecord, list[str]]]:
    """Yield each task after all those that need it, with their ids."""
    needers: dict[str, list[str]] = {task: [] for task in tasks}
    for record in tasks.values():
        for need in set(record.task.needs) & needers.keys():
            needers[need].append(record.id)
    missing = {task: len(each) for task, each in needers.items()}
    ready = [task for task, count in missing.items() if not count]
    while ready:
        record = tasks[ready.pop()]
        yield record, needers[record.id]
        for need in set(record.task.needs) & needers.keys():
            missing[need] -= 1
            if not missing[need]:
                ready.append(need)
