"""`commonhold task`: the tasks of a repository, and their states."""

import time
from typing import Final

import click

from commonhold.api.wire import task_shapes
from commonhold.cli import task_words
from commonhold.cli.command import Command, Group, Parts
from commonhold.cli.common_options import Given, common, request_option, ttl_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import announced, answer
from commonhold.kernel.errors import Code, UsageError
from commonhold.tasks.commands import Collisions

_POLL_SECONDS: Final = 1.0
_CHANGES: Final = ("accept", "decline", "done", "fail", "refuse", "cancel", "reopen")
_LATER: Final = Parts(
    {
        "add": "task_adding:add",
        "propose": "task_adding:propose",
        "import": "task_adding:import_",
        **{name: f"task_changes:{name}" for name in _CHANGES},
    }
)


@click.group(
    "task",
    cls=Group,
    commands=_LATER,
    examples=("commonhold task import plan.yaml", "commonhold task claim", "commonhold task list"),
)
@common
def command() -> None:
    """Share the work of a plan among agents: add, list, claim and end tasks.

    A claim is a lease on task:TASK: it ends with the session that holds it, and the task returns to the others. A task
    that is done has landed only when its commit is part of its target branch; tasks that need it wait until then.
    """


@command.command("list", cls=Command, examples=("commonhold task list", "commonhold task list --all --json"))
@click.option("--all", "all_states", is_flag=True, help="Those that have landed, failed or been cancelled, too.")
@common
@click.pass_obj
def _list(given: Given, *, all_states: bool) -> int:
    """List the open tasks with their condition, why those that wait do so, and the sessions that work or are idle.

    The conditions: proposed (waits to be accepted), ready, blocked (a need has not landed), reserved (for the session
    whose change was refused), claimed, stranded (done, but its commit has not landed), landed, failed, cancelled.
    """
    with opened(given) as place:
        found = place.hold.tasks(all_states=all_states)
    answer(given, found, task_shapes.answer, task_words.listed)
    return DONE


@command.command("show", cls=Command, examples=("commonhold task show price",))
@click.argument("task")
@common
@click.pass_obj
def _show(given: Given, task: str) -> int:
    """Show TASK with its attempts, and with the commits and the partial work that they left."""
    with opened(given) as place:
        found = place.hold.tasks(task)
    answer(given, found, task_shapes.answer, task_words.details)
    return DONE


@command.command(
    "claim",
    cls=Command,
    examples=(
        "commonhold task claim",
        "commonhold task claim price",
        "commonhold task claim --label docs --ttl 3600 --wait 600",
    ),
)
@click.argument("task", required=False)
@ttl_option
@click.option("--label", "labels", metavar="LABEL", multiple=True, help="Only a task with this label; may be repeated.")
@click.option("--apart", is_flag=True, help="No task whose keys are in use by others, even if nothing else is left.")
@click.option(
    *("--wait", "wait_seconds"),
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=0.0,
    help="How long to wait until a task is ready; default: not at all.",
)
@request_option
@common
@click.pass_obj
def _claim(
    given: Given,
    *,
    task: str | None,
    ttl_seconds: float | None,
    labels: tuple[str, ...],
    apart: bool,
    wait_seconds: float,
    request_id: str | None,
) -> int:
    """Claim TASK, or the best one that is free: exactly one session gets it.

    Tasks whose keys others use come last. The answer has the fence, which `done` and `fail` ask for. The exit code is 1
    if no task is free; the answer says what each one waits for. With --wait, a session without work is given the next
    task as soon as one is ready.
    """
    if wait_seconds and request_id:
        raise UsageError(
            Code.USAGE,
            "--wait and --request-id exclude each other: a repeated request gets its first answer",
            hint="leave one of them out",
        )
    collisions = Collisions.NEVER if apart else Collisions.LAST
    until = time.monotonic() + wait_seconds
    text = f"waiting for a task, at most {wait_seconds:g} s: commonhold task list shows why none is free"
    with opened(given) as place, announced(given, wait_seconds, text):
        while True:
            found = place.hold.claim_task(
                task, ttl_seconds=ttl_seconds, labels=labels, collisions=collisions, request_id=request_id
            )
            left = until - time.monotonic()
            if found.outcome != "none" or left <= 0:
                break
            time.sleep(min(left, _POLL_SECONDS))
    answer(given, found, task_shapes.answer, lambda found: task_words.answer(found, given))
    return REFUSED if found.code else DONE
