"""Plan files: tasks in YAML or JSON, as people and planners write them.

    goal: "discounts in checkout"
    target: main
    tasks:
      - id: price
        title: "discount parameter on charge()"
        keys: [src/billing.py#charge]
        estimate: 2m

Every field is optional but `title`. A field that is not known is an error: a misspelt `need` would lose the order.
"""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.task import DEFAULT_ATTEMPTS, Task
from commonhold.tasks.definition import MOST_TASKS, invalid
from commonhold.tasks.yaml_text import read_yaml, text_of

MOST_BYTES: Final = 4_000_000
_PLAN_FIELDS: Final = frozenset({"goal", "target", "tasks"})
_FIELDS: Final = frozenset(
    {
        *("id", "title", "intent", "keys", "needs", "priority", "deadline", "estimate"),
        *("attempts", "labels", "for", "agent", "requires", "target", "checks"),
    }
)
_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)")
_SECONDS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_AGENT: Final = re.compile(r"[A-Za-z0-9._-]+")


def read_plan(content: bytes, wall: float) -> tuple[Task, ...]:
    """Return the tasks of a plan; deadlines such as `2h` count from `wall`, a Unix time.

    Keys are as written: `definition.checked` makes them canonical. Raises InputError `PLAN_INVALID`.
    """
    plan = _loaded(content)
    if isinstance(plan, list):
        plan = {"tasks": plan}
    if not isinstance(plan, dict):
        raise _unreadable("it is neither a mapping with `tasks` nor a list of tasks")
    if unknown := sorted(str(each) for each in plan if each not in _PLAN_FIELDS):
        raise _unreadable(f"it has the unknown field {unknown[0]!r}; known are {', '.join(sorted(_PLAN_FIELDS))}")
    tasks = plan.get("tasks")
    if not isinstance(tasks, list) or not tasks or len(tasks) > MOST_TASKS:
        raise _unreadable(f"`tasks` is not a list of 1 to {MOST_TASKS} tasks")
    target = _text(plan, "target", "the plan")
    return tuple(_task(each, number, target, wall) for number, each in enumerate(tasks, 1))


def goal_of(content: bytes) -> str:
    """Return the goal of a plan, as one line; empty if it names none. Raises InputError `PLAN_INVALID`."""
    plan = _loaded(content)
    return " ".join(_text(plan, "goal", "the plan").split()) if isinstance(plan, dict) else ""


def _loaded(content: bytes) -> object:
    if len(content) > MOST_BYTES:
        raise _unreadable(f"it has more than {MOST_BYTES // 1_000_000} MB")
    try:
        return read_yaml(content)
    except ValueError as fault:
        raise _unreadable(f"it is neither valid YAML nor JSON: {fault}") from fault


def _task(raw: object, number: int, target: str, wall: float) -> Task:
    if not isinstance(raw, dict):
        raise _unreadable(f"task number {number} is not a mapping")
    name = text_of(raw, "id", "title") or f"number {number}"
    if unknown := sorted(str(each) for each in raw if each not in _FIELDS):
        raise invalid(name, f"it has the unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}")
    return Task(
        id=_text(raw, "id", name),
        title=_text(raw, "title", name),
        intent=" ".join(_text(raw, "intent", name).split()),
        keys=_texts(raw, "keys", name),
        needs=_texts(raw, "needs", name),
        priority=_whole(raw, "priority", name, 0),
        deadline_at=_deadline(raw.get("deadline"), name, wall),
        estimate_seconds=_duration(raw.get("estimate"), name),
        most_attempts=_whole(raw, "attempts", name, DEFAULT_ATTEMPTS),
        labels=_texts(raw, "labels", name),
        takers=(*_texts(raw, "for", name), *_takers_of(_text(raw, "agent", name), name)),
        target=_text(raw, "target", name) or target,
        checks=_texts(raw, "checks", name),
        requires=_texts(raw, "requires", name),
    )


def _text(raw: Mapping[object, object], field: str, name: str) -> str:
    value = raw.get(field)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise invalid(name, f"its {field} is no text")
    return str(value)


def _texts(raw: Mapping[object, object], field: str, name: str) -> tuple[str, ...]:
    value = raw.get(field)
    listed = [] if value is None else value if isinstance(value, list) else [value]
    if any(isinstance(each, bool) or not isinstance(each, str | int) for each in listed):
        raise invalid(name, f"its {field} is no list of texts")
    return tuple(map(str, listed))


def _whole(raw: Mapping[object, object], field: str, name: str, default: int) -> int:
    value = raw.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid(name, f"its {field} is no whole number")
    return value


def duration(text: str) -> float | None:
    """Return the seconds of a duration such as `90`, `30s`, `2m`, `1.5h` or `2d`; None for any other text."""
    match = _DURATION.fullmatch(text.strip())
    return float(match[1]) * _SECONDS[match[2]] if match else None


def _duration(value: object, name: str) -> float | None:
    if value is None:
        return None
    seconds = None if isinstance(value, bool) else duration(str(value))
    if seconds is None:
        raise invalid(name, "its estimate is no duration such as 90s, 2m or 1h")
    return seconds


def _deadline(value: object, name: str, wall: float) -> float | None:
    if value is None:
        return None
    found = value if isinstance(value, datetime) else instant(str(value), wall) if not isinstance(value, date) else None
    if isinstance(found, datetime):
        found = found.timestamp() if found.tzinfo else None
    if found is None or not math.isfinite(found):
        raise invalid(name, "its deadline is neither a duration such as 2h nor a time with its zone")
    return found


def instant(text: str, wall: float) -> float | None:
    """Return the Unix time of a duration from `wall`, or of an ISO time with its zone; None for any other text."""
    seconds = duration(text)
    if seconds is not None:
        return wall + seconds
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo else None


def _takers_of(agent: str, name: str) -> tuple[str, ...]:
    """Return the patterns for the sessions of an agent: its name, and its name with the id of a session."""
    if not agent:
        return ()
    if not _AGENT.fullmatch(agent):
        raise invalid(name, "its agent is no name such as claude")
    return (agent, f"{agent}:*")


def _unreadable(why: str) -> InputError:
    return InputError(
        Code.PLAN_INVALID,
        f"the plan cannot be read: {why}",
        hint="write a mapping with a list `tasks`; `commonhold help tasks` shows the form",
    )
