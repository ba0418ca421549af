"""`commonhold plan`: look at a plan before anybody works on it."""

import click

from commonhold.api.wire import plan_shapes
from commonhold.cli import plan_words
from commonhold.cli.command import Command, Group, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer
from commonhold.cli.plan_input import plan_of
from commonhold.cli.predictions import Predictions
from commonhold.kernel.keys import canonical
from commonhold.kernel.task import Task
from commonhold.tasks.definition import checked
from commonhold.tasks.plan_check import MOST_AGENTS, check_plan

_AGENTS = 3


@click.group("plan", cls=Group, examples=("commonhold plan check plan.yaml --agents 4",))
@common
def command() -> None:
    """Look at a plan before anybody works on it. `commonhold help tasks` shows the form of a plan."""


@command.command(
    "check",
    cls=Command,
    examples=("commonhold plan check plan.yaml", "commonhold plan check plan.yaml --agents 8 --json"),
)
@click.argument("plan", shell_complete=files)
@click.option(
    "--agents",
    metavar="N",
    type=click.IntRange(1, MOST_AGENTS),
    default=_AGENTS,
    show_default=True,
    help="How many agents will work on it at once.",
)
@common
@click.pass_obj
def _check(given: Given, plan: str, agents: int) -> int:
    """Show which tasks of PLAN overlap, a schedule for N agents, and how much sooner they finish than one.

    Two tasks overlap if a key of one contains a key of the other: two functions of one file do not. For a task without
    keys, files and functions are predicted from its text, the definitions of the project and its past commits. Nothing
    is added or changed. The exit code is 1 if the needs form a circle.
    """
    tasks = plan_of(plan)
    with opened(given) as place:
        known = {each.record.id for each in place.hold.tasks(all_states=True).tasks}
        predictions = Predictions(given)
        found = check_plan([_located(place, each) for each in tasks], known, predictions.of, agents, predictions.limit)
    answer(given, found, plan_shapes.checked, plan_words.checked)
    return REFUSED if found.code else DONE


def _located(place: Place, task: Task) -> Task:
    """Return a task as it would be added, with canonical keys. Raises InputError `PLAN_INVALID`, `KEY_INVALID`."""
    return checked(task, lambda key: str(canonical(place.key_from_root(key))))
