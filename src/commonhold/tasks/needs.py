"""The graph of needs: circles in it, and the work that waits for each task."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from commonhold.kernel.task import TaskRecord

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
