"""The JSON form of a checked plan."""

from commonhold.api.wire.text import Json
from commonhold.tasks.plan_check import PlanCheck
from commonhold.tasks.scheduling import Work


def checked(found: PlanCheck) -> Json:
    """Return the answer to `plan check`: times in seconds from the beginning, probabilities between 0 and 1."""
    if found.code is not None:
        return {"outcome": found.outcome, "code": found.code.value, "why": found.why, "circle": list(found.circle)}
    schedule = found.schedule
    return {
        "outcome": found.outcome,
        "agents": found.agents,
        "limit": round(found.limit, 4),
        "speed_up": round(schedule.speed_up, 3),
        "seconds": schedule.seconds,
        "seconds_of_one_agent": schedule.alone,
        "tasks": [_work(each) for each in found.works],
        "overlaps": [
            {"one": each.one, "other": each.other, "probability": round(each.risk, 3), "key": each.key}
            for each in found.overlaps
        ],
        "schedule": [
            {"task": each.task_id, "agent": each.agent, "begins": each.begins, "ends": each.ends}
            for each in schedule.steps
        ],
    }


def _work(work: Work) -> Json:
    return {
        "id": work.task.id,
        "title": work.task.title,
        "needs": list(work.task.needs),
        "estimate_seconds": work.seconds,
        "keys": list(work.task.keys),
        "predicted": [
            {
                "path": each.path,
                "probability": round(each.probability, 3),
                "regions": list(each.named),
                "why": each.why,
            }
            for each in work.touches
        ],
    }
