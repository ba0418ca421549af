"""A checked plan, in words."""

from collections.abc import Iterator
from typing import Final

from commonhold.cli.output import shown
from commonhold.kernel.texts import duration
from commonhold.tasks.plan_check import PlanCheck
from commonhold.tasks.scheduling import Work

_MOST_OVERLAPS: Final = 20
_MOST_FILES: Final = 3
_CERTAIN: Final = 0.995


def checked(found: PlanCheck) -> Iterator[str]:
    """Yield the overlaps, the schedule by agent, and the speed-up."""
    if found.code is not None:
        yield f"refused [{found.code}]: {shown(found.why)}"
        return
    predicted = [work for work in found.works if work.touches]
    if predicted:
        yield "predicted, since these tasks declare no keys:"
        yield from map(_prediction, predicted)
    if blind := [work.task.id for work in found.works if not (work.task.keys or work.touches)]:
        yield f"nothing can be predicted for {shown(', '.join(blind))}: name files or functions in the title, or keys"
    yield from _overlaps(found)
    yield from _schedule(found)


def _prediction(work: Work) -> str:
    files = (_place(each.path, each.named, each.probability) for each in work.touches[:_MOST_FILES])
    return f"  {shown(work.task.id)}: {', '.join(files)} ({work.touches[0].why})"


def _place(path: str, named: tuple[str, ...], probability: float) -> str:
    regions = f"#{named[0]}" if len(named) == 1 else ""
    return f"{shown(path)}{shown(regions)} {probability:.0%}"


def _overlaps(found: PlanCheck) -> Iterator[str]:
    if not found.overlaps:
        yield "no two tasks overlap"
        return
    yield "these overlap, so they should not run together:"
    for each in found.overlaps[:_MOST_OVERLAPS]:
        chance = "" if each.risk > _CERTAIN else f", with a probability of {each.risk:.0%}"
        yield f"  {shown(each.one)} and {shown(each.other)}: {shown(each.key)}{chance}"
    if len(found.overlaps) > _MOST_OVERLAPS:
        yield f"  and {len(found.overlaps) - _MOST_OVERLAPS} more pairs: --json lists all"


def _schedule(found: PlanCheck) -> Iterator[str]:
    schedule = found.schedule
    yield f"a schedule for {found.agents} agents:" if found.agents > 1 else "an order for one agent:"
    for agent in sorted({each.agent for each in schedule.steps}):
        own = (each for each in schedule.steps if each.agent == agent)
        parts = (f"{shown(each.task_id)} ({_clock(each.begins)} to {_clock(each.ends)})" for each in own)
        yield f"  agent {agent}: {', '.join(parts)}"
    one = duration(schedule.alone)
    yield f"expected: {duration(schedule.seconds)}; one agent: {one}; speed-up {schedule.speed_up:.1f}"


def _clock(seconds: float) -> str:
    """Return a time from the beginning as hours and minutes, with seconds if it is no whole minute."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if rest else f"{hours}:{minutes:02}"
