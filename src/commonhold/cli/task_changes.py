"""`commonhold task accept`, `done`, `fail` and the other commands that change the state of a task."""

import click

from commonhold.api.wire import task_shapes
from commonhold.cli import task_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, note_option, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.kernel.errors import Code, UsageError
from commonhold.tasks.answers import TaskAction

_fence = click.option("--fence", metavar="N", type=int, required=True, help="The fence of your claim.")
_note = note_option("Why: kept with the task.")


@click.command("accept", cls=Command, examples=("commonhold task accept t12",))
@click.argument("task")
@note_option("A line that is kept with the task.", is_required=False)
@request_option
@common
@click.pass_obj
def accept(given: Given, task: str, note: str, request_id: str | None) -> int:
    """Accept TASK, which another session has proposed: it is open, and can be claimed."""
    return _change(given, task, TaskAction.ACCEPT, None, "", note, request_id)


@click.command("decline", cls=Command, examples=('commonhold task decline t12 --note "the rates change every minute"',))
@click.argument("task")
@_note
@request_option
@common
@click.pass_obj
def decline(given: Given, task: str, note: str, request_id: str | None) -> int:
    """Decline TASK, which was proposed: it is cancelled, with the reason. Its author may do so, too."""
    return _change(given, task, TaskAction.DECLINE, None, "", note, request_id)


@click.command(
    "done",
    cls=Command,
    examples=(
        "commonhold task done price --fence 17 --commit HEAD",
        'commonhold task done price --fence 17 --unchanged --note "the parameter was there already"',
    ),
)
@click.argument("task")
@click.option("--fence", metavar="N", type=int, help="The fence of your claim; not for a task that is done already.")
@click.option("--commit", metavar="REVISION", default="", help="The git commit that it became.")
@click.option("--unchanged", is_flag=True, help="Nothing had to be changed; needs --note.")
@note_option("A line that is kept with the task.", is_required=False)
@request_option
@common
@click.pass_obj
def done(
    given: Given, *, task: str, fence: int | None, commit: str, unchanged: bool, note: str, request_id: str | None
) -> int:
    """Say that TASK is done. It is complete once its commit is part of the branch that it lands on.

    Without --commit, the changes count that this session has committed through Commonhold since its claim, in a working
    tree of that branch. For a task that is done already, --commit names another commit, as after a squash or a rebase.
    """
    if unchanged and commit:
        raise UsageError(Code.USAGE, "--unchanged and --commit contradict each other", hint="give one of them")
    action = TaskAction.UNCHANGED if unchanged else TaskAction.DONE
    return _change(given, task, action, fence, commit, note, request_id)


@click.command(
    "fail", cls=Command, examples=('commonhold task fail price --fence 17 --note "needs the new tax table first"',)
)
@click.argument("task")
@_fence
@_note
@request_option
@common
@click.pass_obj
def fail(given: Given, task: str, fence: int, note: str, request_id: str | None) -> int:
    """End your attempt at TASK without success. It returns to the others, or fails if this was its last attempt."""
    return _change(given, task, TaskAction.FAIL, fence, "", note, request_id)


@click.command("refuse", cls=Command, examples=('commonhold task refuse price --note "test_billing fails on main"',))
@click.argument("task")
@_note
@request_option
@common
@click.pass_obj
def refuse(given: Given, task: str, note: str, request_id: str | None) -> int:
    """Send TASK back, which is done and cannot land. For ten minutes only the session that did it can claim it."""
    return _change(given, task, TaskAction.REFUSE, None, "", note, request_id)


@click.command("cancel", cls=Command, examples=('commonhold task cancel price --note "not needed any more"',))
@click.argument("task")
@_note
@request_option
@common
@click.pass_obj
def cancel(given: Given, task: str, note: str, request_id: str | None) -> int:
    """Give TASK up. A claim on it is ended by force, which the log shows; tasks that need it stay blocked."""
    return _change(given, task, TaskAction.CANCEL, None, "", note, request_id)


@click.command("reopen", cls=Command, examples=('commonhold task reopen price --note "the test was wrong"',))
@click.argument("task")
@_note
@request_option
@common
@click.pass_obj
def reopen(given: Given, task: str, note: str, request_id: str | None) -> int:
    """Open TASK again, which has failed or was cancelled, with all its attempts before it."""
    return _change(given, task, TaskAction.REOPEN, None, "", note, request_id)


def _change(
    given: Given, task: str, action: TaskAction, fence: int | None, commit: str, note: str, request_id: str | None
) -> int:
    with opened(given) as place:
        found = place.hold.change_task(task, action, fence=fence, commit=commit, note=note, request_id=request_id)
    answer(given, found, task_shapes.answer, lambda found: task_words.answer(found, given))
    return REFUSED if found.code else DONE
