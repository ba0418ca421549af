"""`commonhold task add`, `propose` and `import`: one task from options, or many from a plan."""

import time
from collections.abc import Callable
from typing import Final, TypedDict, Unpack

import click

from commonhold.api.wire import task_shapes
from commonhold.cli import task_words
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.cli.plan_input import plan_of
from commonhold.cli.predictions import Predictions
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.task import DEFAULT_ATTEMPTS, Task
from commonhold.tasks.answers import TaskAnswer
from commonhold.tasks.plans import duration, instant

_predict_option = click.option(
    "--predict", is_flag=True, help="Predict the keys of tasks without any, from their text and the project's history."
)


class _Rest(TypedDict):
    """Options that are the fields of a task just as they are."""

    intent: str
    most_attempts: int
    needs: tuple[str, ...]
    priority: int
    labels: tuple[str, ...]
    takers: tuple[str, ...]
    requires: tuple[str, ...]
    target: str
    checks: tuple[str, ...]


class _Defined(_Rest):
    """All options that define a task."""

    title: str
    task_id: str
    deadline: str | None
    estimate: str | None
    keys: tuple[str, ...]
    predict: bool
    request_id: str | None


_OPTIONS: Final = (
    click.argument("title"),
    click.option("--id", "task_id", metavar="TASK", default="", help="Its name; by default the store gives a number."),
    click.option("--intent", metavar="TEXT", default="", help="The goal, in more detail than the title."),
    click.option(
        "--key", "keys", metavar="KEY", multiple=True, help="A file, region or name that it changes; may be repeated."
    ),
    click.option(
        "--need", "needs", metavar="TASK", multiple=True, help="A task that must have landed before; may be repeated."
    ),
    click.option("--priority", metavar="N", type=int, default=0, show_default=True, help="A higher one goes first."),
    click.option("--deadline", metavar="WHEN", help="A duration from now (2h), or a time with its zone."),
    click.option("--estimate", metavar="DURATION", help="Its expected size: 90s, 20m, 1.5h."),
    click.option(
        *("--attempts", "most_attempts"),
        metavar="N",
        type=int,
        default=DEFAULT_ATTEMPTS,
        show_default=True,
        help="Then it fails.",
    ),
    click.option("--label", "labels", metavar="LABEL", multiple=True, help="A word to choose it by; may be repeated."),
    click.option(
        "--for",
        "takers",
        metavar="PATTERN",
        multiple=True,
        help="Sessions that may take it, as claude:*; may be repeated.",
    ),
    click.option(
        *("--require", "requires"),
        metavar="WORD",
        multiple=True,
        help="Only for sessions that have this capability by the settings; may be repeated.",
    ),
    click.option(
        "--target", metavar="BRANCH", default="", help="Where its commit lands; default: the branch checked out here."
    ),
    click.option(
        "--check", "checks", metavar="COMMAND", multiple=True, help="A command that must pass; may be repeated."
    ),
    _predict_option,
    request_option,
    common,
)


def _defining(command: Callable[..., int]) -> Callable[..., int]:
    """Add the argument and the options that define a task."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(
    "add",
    cls=Command,
    examples=(
        'commonhold task add "add a discount to charge" --id discount --key src/billing.py#charge --estimate 20m',
        'commonhold task add "apply_discount() uses it" --need price --priority 5',
    ),
)
@_defining
@click.pass_obj
def add(given: Given, **defined: Unpack[_Defined]) -> int:
    """Add a task. It can be claimed once all tasks that it needs have landed.

    The exit code is 1 if its name is taken, or if the needs form a circle, which the answer shows.
    """
    return _add(given, defined, is_proposed=False)


@click.command(
    "propose",
    cls=Command,
    examples=(
        'commonhold task propose "cache the rates" --intent "charge() asks for them on every call"',
        "commonhold task accept t12",
        'commonhold task decline t12 --note "the rates change every minute"',
    ),
)
@_defining
@click.pass_obj
def propose(given: Given, **defined: Unpack[_Defined]) -> int:
    """Propose a task. It can be claimed once another session, or a person, has accepted it.

    The exit code is 1 if its name is taken, or if the needs form a circle, which the answer shows.
    """
    return _add(given, defined, is_proposed=True)


def _add(given: Given, defined: _Defined, *, is_proposed: bool) -> int:
    rest: _Rest = {name: defined[name] for name in _Rest.__annotations__}  # type: ignore[assignment, literal-required]
    estimate, deadline = defined["estimate"], defined["deadline"]
    size = None if estimate is None else _read(duration(estimate), estimate, "a duration such as 20m")
    due = None if deadline is None else _read(instant(deadline, time.time()), deadline, "2h, or a time with its zone")
    with opened(given) as place:
        task = Task(
            defined["task_id"],
            defined["title"],
            keys=place.keys(defined["keys"]),
            deadline_at=due,
            estimate_seconds=size,
            **rest,
        )
        tasks = Predictions(given).added_to((task,)) if defined["predict"] else (task,)
        request = defined["request_id"]
        if is_proposed:
            return _answered(given, place.hold.propose_tasks(*tasks, request_id=request))
        return _answered(given, place.hold.add_tasks(*tasks, request_id=request))


def _read(value: float | None, text: str, form: str) -> float:
    if value is None:
        raise UsageError(Code.USAGE, f"{text!r} cannot be read", hint=f"write {form}")
    return value


@click.command(
    "import",
    cls=Command,
    examples=("commonhold task import plan.yaml", "planner | commonhold task import -"),
)
@click.argument("plan", shell_complete=files)
@_predict_option
@request_option
@common
@click.pass_obj
def import_(given: Given, *, plan: str, predict: bool, request_id: str | None) -> int:
    """Add all tasks of PLAN, a YAML or JSON file (-: standard input), or none of them.

    Keys are relative to the root of the repository. A plan can be imported again: tasks whose definition is the same
    are left as they are. `commonhold help tasks` shows the form of a plan.
    """
    tasks = plan_of(plan)
    with opened(given) as place:
        if predict:
            tasks = Predictions(given).added_to(tasks)
        return _answered(given, place.hold.add_tasks(*tasks, request_id=request_id))


def _answered(given: Given, found: TaskAnswer) -> int:
    answer(given, found, task_shapes.answer, lambda found: task_words.answer(found, given))
    return REFUSED if found.code else DONE
