"""Redirect a session whose acquire is blocked: to another task, if one is free."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commonhold.leases.registry import task_storage

if TYPE_CHECKING:
    from commonhold.commits.use_cases import UseCases
    from commonhold.kernel.answers import AcquireAnswer


def redirected(uses: UseCases, holder: str, answer: AcquireAnswer) -> AcquireAnswer:
    """Return the answer to a blocked acquire with a notice that names a free task. The conflicts name the holders.

    Without open tasks this costs one query, and loads nothing.
    """
    tables, _ = task_storage(uses.place)
    with tables.read() as reader:
        if not reader.tasks_in_question(()):
            return answer
    free = uses.tasks.free_for(holder)
    if not free:
        return answer
    return replace(
        answer, notices=(*answer.notices, f"meanwhile the task {free} is free: commonhold task claim {free}")
    )
