"""The choice of the next item of a run, in the order in which tasks are offered.

Items in progress that no coordinator attends to come first. An item that must be edited alone waits until nothing else
is edited, and nothing new begins before it. Items of the run that would collide with each other are never edited
together: one that waits a little costs less than a candidate that is refused. A collision with work outside of the run
may last for hours, so such an item is taken when nothing else is left.
"""

from collections.abc import Sequence

from commonhold.kernel.run import ItemRecord, ItemState
from commonhold.kernel.task import TaskRecord, TaskState
from commonhold.runs.turn import RunTurn
from commonhold.tasks.board import Collision, Waiting, unmet, why_not
from commonhold.tasks.offers import offers


def best_item(turn: RunTurn) -> tuple[ItemRecord, tuple[Collision, ...]] | None:
    """Return the item to take next, and the uses of its keys by others; None if none can be taken now."""
    left = next((each for each in turn.changed if _is_left(turn, each)), None)
    if left is not None:
        return left, ()
    offered = _offered(turn)
    edited = [each for each in turn.changed if each.is_in_progress]
    alone = [each for each in offered if each[0].is_serial]
    if alone or any(each.is_serial for each in edited):
        return None if edited else alone[0]
    return next((each for each in offered if not any(found.task_id in turn.items for found in each[1])), None)


def ready_tasks(turn: RunTurn) -> tuple[str, ...]:
    """Return the tasks of open items that can be claimed now, the best first."""
    return tuple(item.task_id for item, _ in _offered(turn))


def _offered(turn: RunTurn) -> list[tuple[ItemRecord, tuple[Collision, ...]]]:
    """Return the open items that can be claimed, the best first, each with the uses of its keys by others."""
    return [
        (turn.items[each.record.id], each.collisions)
        for each in offers(turn.tasks.board, turn.run.run.session(""), turn.now)
        if each.record.id in turn.items and turn.items[each.record.id].state is ItemState.OPEN
    ]


def waiting(turn: RunTurn) -> tuple[tuple[Waiting, ...], bool]:
    """Return why the items that are not accepted wait, and whether none of them can ever be taken."""
    open_ones = [each for each in turn.changed if each.state is ItemState.OPEN]
    stuck = _stuck(turn, [turn.tasks.tasks[each.task_id] for each in open_ones])
    is_over = (
        bool(turn.items) and len(stuck) == len(open_ones) and not any(each.is_in_progress for each in turn.changed)
    )
    found = []
    for item in turn.changed:
        record = turn.tasks.tasks[item.task_id]
        if item.state in (ItemState.FAILED, ItemState.CANCELLED):
            found.append(Waiting(item.task_id, record.task.title, f"it is {item.state.value}: {item.note}"))
        elif item.state is ItemState.OPEN:
            why = stuck.get(item.task_id) or why_not(record, turn.tasks.tasks, turn.now)
            found.append(Waiting(item.task_id, record.task.title, why or "its keys are in use"))
    return tuple(found), is_over


def _is_left(turn: RunTurn, item: ItemRecord) -> bool:
    """Whether no coordinator attends to an item in progress, and its task is free or still its own."""
    if not item.is_in_progress:
        return False
    if turn.is_claimed(item):
        return item.run_fence != turn.run.fence
    return turn.tasks.tasks[item.task_id].state is TaskState.OPEN


def _stuck(turn: RunTurn, records: Sequence[TaskRecord]) -> dict[str, str]:
    """Return the tasks that this run can never claim unless a person steps in, each with the reason."""
    found: dict[str, str] = {}
    needers: dict[str, list[str]] = {}
    for record in records:
        for need in record.task.needs:
            needers.setdefault(need, []).append(record.id)
        if why := _dead_end(turn, record):
            found[record.id] = why
    ends = list(found)
    while ends:
        need = ends.pop()
        for needer in needers.get(need, ()):
            if needer not in found:
                found[needer] = f"it needs {need}, which cannot begin"
                ends.append(needer)
    return found


def _dead_end(turn: RunTurn, record: TaskRecord) -> str:
    if record.state is TaskState.PROPOSED:
        return why_not(record, turn.tasks.tasks, turn.now)
    if barred := turn.tasks.capabilities.why_barred(record.task, turn.run.run.session(record.id)):
        return barred
    for need in unmet(record, turn.tasks.tasks):
        needed = turn.tasks.tasks.get(need)
        if needed is not None and needed.state in (TaskState.FAILED, TaskState.CANCELLED, TaskState.PROPOSED):
            return f"it needs {need}, which is {needed.state.value}"
    return ""
