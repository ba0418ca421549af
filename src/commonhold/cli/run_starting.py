"""`commonhold run start`: carry out a plan or a goal, or go on with a run."""

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from typing import Final, Unpack

import click

from commonhold.agents.headless import HEADLESS
from commonhold.api.wire import run_shapes
from commonhold.api.wire.text import dumps
from commonhold.cli import run_words
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.exit_status import DONE, INTERRUPTED, REFUSED
from commonhold.cli.instant_input import seconds_of
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer, complain, send
from commonhold.cli.plan_input import plan_content
from commonhold.cli.run_options import RunOptions
from commonhold.cli.workspace_options import UNUSED_WORKSPACE, workspace_options
from commonhold.client.opening import open_session
from commonhold.client.session import Commonhold
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import RunState
from commonhold.kernel.task import Task
from commonhold.runs.answers import RunAnswer
from commonhold.tasks.plans import goal_of, read_plan

MOST_EDITORS: Final = 200
_DEADLINE: Final = "30m"
_EDITOR: Final = "editor"
_STATUS: Final = {RunState.COMPLETED: DONE, RunState.STOPPED: INTERRUPTED}


@click.command(
    "start",
    cls=Command,
    examples=(
        "commonhold run plan.yaml --editors 3 --editor claude",
        "commonhold run plan.yaml --editor 'my-agent --cwd {workspace} < {prompt_file}'",
        'commonhold run --goal "discounts in checkout" --planner ./planner.py --editor ./editor.py',
        "commonhold run plan.yaml --isolated -n 20 --editor claude --check 'pytest -q'",
        "commonhold run --resume r12 --editor ./editor.py",
    ),
)
@click.argument("plan", required=False, shell_complete=files)
@click.option("--resume", metavar="RUN", help="Go on with a run that was stopped, killed, or has failed.")
@click.option("--goal", metavar="TEXT", default="", help="The goal, of which the planner makes tasks.")
@click.option(
    "--editor",
    metavar="EDITOR",
    help="Does the tasks: claude, codex, gemini, opencode, copilot; a command with {prompt_file} that writes files by "
    "itself; or a command that makes candidates, JSON in, JSON out.",
)
@click.option("--planner", metavar="COMMAND", help="Makes a plan of the goal.")
@click.option(
    "--recovery", metavar="COMMAND", help="Makes lock plans of refusals; default: those of `commonhold help runs`."
)
@click.option("--validator", metavar="COMMAND", help="Judges each result; default: the checks of the task and the run.")
@click.option("--check", "checks", metavar="COMMAND", multiple=True, help="Must pass after each item; may be repeated.")
@click.option(
    *("-n", "--editors"),
    metavar="N",
    type=click.IntRange(1, MOST_EDITORS),
    default=1,
    show_default=True,
    help="At a time.",
)
@click.option(
    "--isolated",
    is_flag=True,
    help="A managed session for each task, in a workspace of its own; the merge queue lands its work here.",
)
@workspace_options
@click.option("--as", "name", metavar="NAME", help="Begins the editors' names; default: the agent's name, or editor.")
@click.option("--deadline", metavar="DURATION", default=_DEADLINE, show_default=True, help="For each call of a role.")
@click.option(
    "--ttl",
    "ttl_seconds",
    metavar="SECONDS",
    type=click.FloatRange(1, 3600),
    default=15.0,
    show_default=True,
    help="How long the lease on the run outlives this process: a resume waits for its end.",
)
@common
@click.pass_obj
def start(given: Given, *, plan: str | None, **options: Unpack[RunOptions]) -> int:
    """Carry out PLAN, a YAML or JSON file (-: standard input), or a goal, or go on with a run.

    On a terminal the run is shown as it goes; elsewhere each event is a line, with --json a JSON object. Ctrl-C stops
    in order: editors end, claims are given back without counting an attempt. The exit code is 0 if the run is
    completed, 1 if some items cannot go on or the run is refused, 130 if it was stopped.

    With --isolated each task gets a managed session (`commonhold session`), and its work lands by the merge queue,
    which this process runs, with the checks of the run. The options of workspaces and sandboxes are for such runs.
    Ctrl-C then pauses the sessions, and --resume goes on with them.
    """
    _check(plan, options)
    seconds = seconds_of("--deadline", options["deadline"])
    in_words = partial(run_words.ended, given=given, roles=_roles(options))
    with opened(given) as place, ExitStack() as stack:
        _as_it_began(place, options)
        _check_ways(options)
        if options["isolated"]:
            carry_out = stack.enter_context(_in_isolation(given, place, options, seconds))
        else:
            carry_out = _coordinator(given, place, options, seconds)
        begun = _resumed(place, options) if options["resume"] else _begun(place, plan, options)
        if begun.outcome == "refused":
            answer(given, begun, run_shapes.answer, in_words)
            return REFUSED
        found = carry_out(begun)
    if given.as_json:
        send(dumps(run_shapes.answer(found), indent=0).encode() + b"\n")
    else:
        answer(given, found, run_shapes.answer, in_words)
    return _STATUS.get(found.runs[0].run.state, REFUSED) if found.runs else REFUSED


def _check(plan: str | None, options: RunOptions) -> None:
    """Refuse options that do not say what to do: an empty command would use up the attempts of every task."""
    given = [bool(options["resume"]), plan is not None, bool(options["goal"] and options["planner"])]
    if not any(given) or (options["resume"] and plan is not None):
        raise UsageError(
            Code.USAGE,
            "a run needs a plan, a goal with a planner, or a run to resume",
            hint="commonhold run plan.yaml --editor COMMAND; or: commonhold run --resume RUN --editor COMMAND",
        )
    if options["editor"] is None:
        raise UsageError(
            Code.USAGE,
            "no editor was named, and none can be guessed",
            hint="give --editor claude, another agent, or a command: `commonhold help runs` shows its input and output",
        )
    for role in ("editor", "planner", "recovery", "validator"):
        if (line := options[role]) is not None and not line.strip():
            raise UsageError(
                Code.USAGE, f"the command of --{role} is empty", hint=f"name a command, or leave --{role} out"
            )
    if any(not each.strip() for each in options["checks"]):
        raise UsageError(Code.USAGE, "the command of --check is empty", hint="name a command, or leave --check out")


def _roles(options: RunOptions) -> str:
    """Return the options that name who works on a run, and how many, as they are to be given again."""
    given = dict(options)
    roles = [(f"--{each}", str(given[each])) for each in ("editor", "planner", "recovery", "validator") if given[each]]
    several = [("-n", str(options["editors"]))] if options["editors"] != 1 else []
    return shlex.join(chain.from_iterable(roles + several))


def _as_it_began(place: Place, options: RunOptions) -> None:
    """Let a run that is resumed go on in the way in which it began, with the same checks."""
    if options["resume"]:
        run = place.hold.runs(options["resume"]).runs[0].run.run
        options["isolated"], options["checks"] = run.isolated, run.checks


def _check_ways(options: RunOptions) -> None:
    """Refuse the options of the other way to carry out a run."""
    given = dict(options)
    if options["isolated"]:
        wrong = [each for each in ("recovery", "validator") if given[each]]
        why, hint = "an isolated run has no such role", "checks judge its work: --check COMMAND"
    else:
        wrong = [name for name, usual in UNUSED_WORKSPACE.items() if given[name] != usual]
        why, hint = "it is for the workspaces of an isolated run", "add --isolated, or leave it out"
    if wrong:
        raise UsageError(Code.USAGE, f"--{wrong[0]} cannot be used: {why}", hint=hint)


def _begun(place: Place, plan: str | None, options: RunOptions) -> RunAnswer:
    tasks: tuple[Task, ...] = ()
    goal = options["goal"]
    if plan is not None:
        content = plan_content(plan)
        tasks = read_plan(content, time.time())
        goal = goal or goal_of(content)
    editor = options["editor"] or ""
    return place.hold.start_run(
        *tasks,
        goal=goal,
        checks=options["checks"],
        editor=options["name"] or (editor if editor in HEADLESS else _EDITOR),
        isolated=options["isolated"],
        ttl_seconds=options["ttl_seconds"],
    )


def _resumed(place: Place, options: RunOptions) -> RunAnswer:
    """Resume a run, as soon as the lease of its former coordinator has ended."""
    run = options["resume"] or ""
    until = time.monotonic() + 10 * options["ttl_seconds"]
    has_said = False
    while True:
        found = place.hold.resume_run(run, ttl_seconds=options["ttl_seconds"])
        if found.code is not Refusal.RUN_TAKEN or found.retry_after_seconds is None or time.monotonic() >= until:
            return found
        if not has_said:
            complain(f"waiting: {found.why}")
            has_said = True
        time.sleep(min(0.5, found.retry_after_seconds + 0.01))


def _coordinator(given: Given, place: Place, options: RunOptions, seconds: float) -> Callable[[RunAnswer], RunAnswer]:
    """Return the function that carries out a run that has begun. Raises UsageError if a role cannot be played."""
    # Loaded here: bad options, and the other commands about runs, need no coordinator.
    from commonhold.cli.run_roles import RoleCommands, roles_of  # noqa: PLC0415
    from commonhold.cli.run_view import watched_run  # noqa: PLC0415
    from commonhold.coordinator.driver import Coordinator, Pace  # noqa: PLC0415

    def session_of(name: str) -> Commonhold:
        return open_session(start_of(given), agent=name, store=given.store)

    commands = RoleCommands(options["editor"] or "", options["planner"], options["recovery"], options["validator"])
    roles = roles_of(commands, place.hold, session_of, seconds)
    coordinator = Coordinator(place.hold, session_of, roles, Pace(options["editors"], options["ttl_seconds"]))
    return partial(watched_run, given, place.hold, coordinator)


@contextmanager
def _in_isolation(
    given: Given, place: Place, options: RunOptions, seconds: float
) -> Iterator[Callable[[RunAnswer], RunAnswer]]:
    """Yield the same function for an isolated run."""
    from commonhold.cli.run_isolated import isolated_coordinator  # noqa: PLC0415 - as in `_coordinator`
    from commonhold.cli.run_view import watched_run  # noqa: PLC0415

    with isolated_coordinator(given, place, options, seconds) as coordinator:
        yield partial(watched_run, given, place.hold, coordinator)
