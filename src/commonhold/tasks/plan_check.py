"""A plan, checked before anybody works on it: overlaps, an order, and how much sooner several agents finish it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Task
from commonhold.tasks.needs import check_needs, circle
from commonhold.tasks.prediction import Touch
from commonhold.tasks.scheduling import RISK_LIMIT, Overlap, Schedule, Work, overlaps_in, schedule

MOST_AGENTS: Final = 1_000


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """The answer: the tasks with the files that they will change, the overlaps, and the schedule for `agents` agents.

    Two tasks overlap if they collide with a probability above `limit`.

    A plan that can never be carried out is `refused`, with a code and the reason; `circle` are the tasks that need
    each other, beginning and ending with the same one.
    """

    works: tuple[Work, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    agents: int = 0
    limit: float = RISK_LIMIT
    code: Refusal | None = None
    why: str = ""
    circle: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """`checked` or `refused`."""
        return "refused" if self.code else "checked"


def check_plan(
    tasks: Sequence[Task],
    known: Collection[str],
    predict: Callable[[Task], Sequence[Touch]],
    agents: int,
    limit_of: Callable[[], float] = lambda: RISK_LIMIT,
) -> PlanCheck:
    """Check a plan for so many agents. `known` are the ids of tasks that were added before: needs on them are met.

    `predict` is asked about each task that declares no keys, and `limit_of`, if any was predicted, for the risk above
    which two tasks should not run together. Raises InputError `TASK_UNKNOWN` for a need that is
    neither in the plan nor known, `KEY_INVALID` for a declared key that is none.
    """
    named = [each if each.id else replace(each, id=f"#{number}") for number, each in enumerate(tasks, 1)]
    ids = [each.id for each in named]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        why = f"these tasks are in the plan twice: {', '.join(twice)}"
        return PlanCheck(agents=agents, code=Refusal.TASK_EXISTS, why=why)
    check_needs(named, known)
    if found := circle({each.id: each.needs for each in named}):
        why = f"the needs form a circle, so none of these tasks could ever begin: {' -> '.join(found)}"
        return PlanCheck(agents=agents, code=Refusal.TASK_IN_CIRCLE, why=why, circle=found)
    works = tuple(Work(each, () if each.keys else tuple(predict(each))) for each in named)
    limit = limit_of() if any(work.touches for work in works) else RISK_LIMIT
    overlapping = overlaps_in(works, limit)
    return PlanCheck(works, overlapping, schedule(works, overlapping, agents), agents, limit)
