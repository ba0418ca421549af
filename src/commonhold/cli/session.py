"""`commonhold session`: agents that Commonhold runs on tasks, each in a workspace of its own."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from commonhold.api.wire import session_shapes
from commonhold.cli import session_words
from commonhold.cli.command import Command, Group, Parts
from commonhold.cli.common_options import Given, common, note_option, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.managed_session import SessionState
from commonhold.sessions.answers import ManagedSessionAnswer
from commonhold.sessions.commands import SessionAction

C = TypeVar("C", bound=Callable[..., Any])
_note: Final = note_option("The reason, for the log.")
_FAILED_SECONDS: Final = 86_400.0
_LATER: Final = Parts(
    {
        "start": "session_starting:start",
        "attach": "session_attach:attach",
        "logs": "session_logs:logs",
        **{name: f"session_review:{name}" for name in ("review", "diff", "approve")},
        "pull-request": "session_pull_request:pull_request",
    }
)


@click.group(
    "session",
    cls=Group,
    commands=_LATER,
    examples=(
        "commonhold session start \"fix the rounding of prices\" --with claude --check 'pytest -q'",
        "commonhold session list",
        "commonhold session review s12",
    ),
)
@common
def command() -> None:
    """Start an agent on a task and forget it: it works in a git worktree of its own, and its work waits for review.

    Each session has a branch `agent/ID`, a log, limits of time and silence, and checks that must pass at its end. What
    it leaves uncommitted is kept under refs/commonhold/sessions/ID before its workspace is removed. Nothing is
    committed or merged unless you say so.
    """


@command.command(
    "list",
    cls=Command,
    examples=(
        "commonhold session list",
        "commonhold session list --state failed",
        "commonhold session list --all --json",
    ),
)
@click.option("--all", "all_states", is_flag=True, help="Those that have ended, too.")
@click.option(
    "--state",
    type=click.Choice([each.value for each in SessionState]),
    help="Those in this state, also if it is an end.",
)
@click.option("--task", metavar="TASK", default="", help="Those that work on this task of the queue.")
@click.option("--tenant", metavar="NAME", default="", help="Those of this tenant.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 1000), default=200, show_default=True, help="At most.")
@click.option("--before", metavar="SESSION", default="", help="Those that were started before it.")
@common
@click.pass_obj
def _list(given: Given, /, *, all_states: bool, state: str | None, task: str, limit: int, **more: str) -> int:
    """List the sessions that have not ended, and those that failed in the last day, with the age of each state.

    A lost supervisor is shown as such. The newest N are listed; --before shows older ones.
    """
    wanted = SessionState(state) if state else None
    chosen: dict[str, Any] = {"task_id": task, "limit": limit, **more}
    with opened(given) as place:
        found = place.hold.managed_sessions(all_states=all_states, state=wanted, **chosen)
        if not (all_states or wanted):
            failed = place.hold.managed_sessions(state=SessionState.FAILED, within_seconds=_FAILED_SECONDS, **chosen)
            found = _newest(limit, found, failed)
    none = session_words.NONE_AT_ALL if all_states else session_words.NONE_OPEN
    if wanted or any((task, *more.values())):
        none = session_words.NONE_SUCH
    answer(given, found, session_shapes.listed, lambda found: session_words.listed(found, none))
    return DONE


def _newest(limit: int, *answers: ManagedSessionAnswer) -> ManagedSessionAnswer:
    """Return the newest sessions of all these answers."""
    by_id = {view.record.id: view for each in answers for view in each.sessions}
    found = sorted(by_id.values(), key=lambda view: view.record.number)
    has_older = len(found) > limit or any(each.has_older for each in answers)
    return ManagedSessionAnswer("listed", tuple(found[-limit:]), has_older=has_older)


@command.command("show", cls=Command, examples=("commonhold session show s12", "commonhold session show s12 --json"))
@click.argument("session")
@common
@click.pass_obj
def _show(given: Given, session: str) -> int:
    """Show SESSION: its state and where that is known from, its limits, and each attempt with the cause of its end."""
    with opened(given) as place:
        found = place.hold.managed_sessions(session)
    answer(given, found, session_shapes.answer, session_words.answered)
    return DONE


def _changed(given: Given, session: str, action: SessionAction, request_id: str | None, **more: Any) -> int:  # noqa: ANN401 - arguments of the call
    with opened(given) as place:
        found = place.hold.change_managed_session(session, action, request_id=request_id, **more)
    answer(given, found, session_shapes.answer, session_words.answered)
    return REFUSED if found.code else DONE


@command.command("pause", cls=Command, examples=("commonhold session pause s12",))
@click.argument("session")
@request_option
@common
@click.pass_obj
def _pause(given: Given, *, session: str, request_id: str | None) -> int:
    """End the turn of SESSION's agent, and keep its workspace: `resume` goes on there."""
    return _changed(given, session, SessionAction.PAUSE, request_id)


@command.command("resume", cls=Command, examples=("commonhold session resume s12",))
@click.argument("session")
@request_option
@common
@click.pass_obj
def _resume(given: Given, *, session: str, request_id: str | None) -> int:
    """Go on with a paused SESSION as soon as there is room: an agent that can resumes its own conversation."""
    return _changed(given, session, SessionAction.RESUME, request_id)


@command.command("cancel", cls=Command, examples=('commonhold session cancel s12 --note "the task was wrong"',))
@click.argument("session")
@_note
@request_option
@common
@click.pass_obj
def _cancel(given: Given, *, session: str, note: str, request_id: str | None) -> int:
    """End SESSION, whatever it does: its agent gets SIGTERM, and SIGKILL after ten seconds. Its work is kept."""
    return _changed(given, session, SessionAction.CANCEL, request_id, note=note)


@command.command("discard", cls=Command, examples=('commonhold session discard s12 --note "solved otherwise"',))
@click.argument("session")
@_note
@request_option
@common
@click.pass_obj
def _discard(given: Given, *, session: str, note: str, request_id: str | None) -> int:
    """End the review of SESSION without merging its work, which stays on its branch and its refs."""
    return _changed(given, session, SessionAction.DISCARD, request_id, note=note)


@command.command(
    "retry",
    cls=Command,
    examples=("commonhold session retry s12", 'commonhold session retry s12 --edit "fix only the rounding"'),
)
@click.argument("session")
@click.option("--edit", metavar="TEXT", help="The new text of the task (-: standard input).")
@request_option
@common
@click.pass_obj
def _retry(given: Given, *, session: str, edit: str | None, request_id: str | None) -> int:
    """Queue SESSION once more, from its base and in a fresh workspace; earlier attempts keep their logs and refs."""
    # Loaded here: the other commands need nothing of it.
    from commonhold.cli.session_starting import task_text  # noqa: PLC0415

    text = "" if edit is None else task_text(edit)
    if edit is not None and not text.strip():
        raise UsageError(Code.USAGE, "the new text of the task is empty", hint="say it in --edit, or leave --edit out")
    return _changed(given, session, SessionAction.RETRY, request_id, task=text)
