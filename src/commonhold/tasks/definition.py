"""The rules that a task's definition must keep, whichever way it comes in: a plan, the command line, the SDK or MCP."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.task import MOST_ATTEMPTS, Task
from commonhold.kernel.texts import MAX_HOLDER_LENGTH, MAX_TEXT_LENGTH, check_line

MOST_TASKS: Final = 10_000
"""The most tasks that one call adds."""
MOST_PARTS: Final = 200
"""The most keys, needs, labels, takers or checks that one task has."""
MOST_PRIORITY: Final = 1_000
_MAX_REVISION_LENGTH: Final = 250
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NUMBERED: Final = re.compile(r"t[0-9]+")


def checked(task: Task, locate: Callable[[str], str]) -> Task:
    """Return the task with canonical keys, as `locate` makes them. Raises as it, and InputError `PLAN_INVALID`."""
    name = task.id or task.title
    if task.id and not _NAME.fullmatch(task.id):
        raise invalid(name, "its id has other characters than letters, digits, dots, dashes and underscores")
    if _NUMBERED.fullmatch(task.id):
        raise invalid(name, "ids such as t12 are given by the store")
    if not task.title.strip():
        raise invalid(name, "it has no title")
    for what, text in (("title", task.title), ("intent", task.intent)):
        check_line(text, what, MAX_TEXT_LENGTH)
    if task.target.startswith("-") or len(task.target) > _MAX_REVISION_LENGTH:
        raise invalid(name, "its target is no name of a branch")
    check_line(task.target, "target", _MAX_REVISION_LENGTH)
    _check_numbers(name, task)
    _check_parts(name, "needs", task.needs)
    _check_parts(name, "labels", task.labels)
    _check_parts(name, "requires", task.requires)
    _check_parts(name, "for", task.takers)
    _check_parts(name, "checks", task.checks)
    if len(task.expected_keys) > MOST_PARTS:
        raise invalid(name, f"it has more than {MOST_PARTS} keys")
    return replace(
        task,
        keys=tuple(dict.fromkeys(map(locate, task.keys))),
        predicted_keys=tuple(dict.fromkeys(map(locate, task.predicted_keys))),
        needs=tuple(dict.fromkeys(task.needs)),
        labels=tuple(dict.fromkeys(task.labels)),
        requires=tuple(dict.fromkeys(task.requires)),
    )


def _check_numbers(name: str, task: Task) -> None:
    estimate, due = task.estimate_seconds, task.deadline_at
    if abs(task.priority) > MOST_PRIORITY:
        raise invalid(name, f"its priority is not between -{MOST_PRIORITY} and {MOST_PRIORITY}")
    if not 1 <= task.most_attempts <= MOST_ATTEMPTS:
        raise invalid(name, f"its number of attempts is not between 1 and {MOST_ATTEMPTS}")
    if estimate is not None and not (math.isfinite(estimate) and estimate > 0):
        raise invalid(name, "its estimate is no duration above zero")
    if due is not None and not math.isfinite(due):
        raise invalid(name, "its deadline is no instant")


def _check_parts(name: str, what: str, parts: Iterable[str]) -> None:
    listed = list(parts)
    if len(listed) > MOST_PARTS:
        raise invalid(name, f"it has more than {MOST_PARTS} {what}")
    for each in listed:
        limit = MAX_TEXT_LENGTH if what == "checks" else MAX_HOLDER_LENGTH
        if not check_line(each, what, limit).strip():
            raise invalid(name, f"one of its {what} is empty")


def invalid(name: str, why: str) -> InputError:
    """Return the error for a task that cannot be added; `why` is a clause."""
    return InputError(
        Code.PLAN_INVALID,
        f"the task {name[:100]!r} cannot be added: {why}",
        hint="fix it and add it again; `commonhold help tasks` shows the form of a task",
        fields={"task": name[:100]},
    )
