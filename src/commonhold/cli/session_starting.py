"""`commonhold session start`: queue an agent on a task."""

from collections.abc import Iterator
from typing import Unpack

import click

from commonhold.agents.headless import HEADLESS, MOST_PROMPT_BYTES, PROMPT_FILE
from commonhold.api.wire import session_shapes
from commonhold.cli import session_words
from commonhold.cli.changeset_input import STDIN, read_stdin
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, request_option
from commonhold.cli.exit_status import DONE
from commonhold.cli.instant_input import seconds_of
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, complain, shown
from commonhold.cli.workspace_options import WorkspaceOptions, workspace_of, workspace_options
from commonhold.client.daemon import pid_of
from commonhold.client.daemon import start as start_daemon
from commonhold.client.session import Commonhold
from commonhold.config import load_settings
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.managed_session import DEFAULT_SESSION_ATTEMPTS, MOST_LISTED_SESSIONS
from commonhold.kernel.task import TaskState
from commonhold.session_host.shared_commits import offer_commit
from commonhold.sessions.answers import ManagedSessionAnswer
from commonhold.sessions.options import SessionOptions
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.reachability import GitRevisions
from commonhold.workspace.repository import find_repository


class _Options(WorkspaceOptions):
    worker: str
    task_id: str
    each_task: bool
    base: str
    checks: tuple[str, ...]
    remote: str
    land: bool
    priority: int
    tenant: str
    timeout: str
    silence: str
    attempts: int
    request_id: str | None


@click.command(
    "start",
    cls=Command,
    examples=(
        'commonhold session start "fix the rounding of prices" --with claude',
        "commonhold session start - --with 'my-agent --task {prompt_file}' --setup 'npm ci' < task.md",
        "commonhold session start 'fix it' --with claude --sandbox bubblewrap --network --expose ~/.claude:rw",
        "commonhold session start --task price --with claude",
        "commonhold session start --task price --with claude --remote origin",
        "commonhold task import plan.yaml && commonhold session start --each-task --with claude",
        "commonhold session start --each-task --with claude --land && commonhold queue run --check 'pytest -q'",
        "commonhold session start \"speed up the parser\" --with codex --check 'pytest -q' --timeout 30m",
    ),
)
@click.argument("task", default="")
@click.option(
    "--with",
    "worker",
    metavar="AGENT",
    required=True,
    help=f"Who works on it: {', '.join(HEADLESS)}, or a command with {PROMPT_FILE} and perhaps {{workspace}}.",
)
@click.option("--task", "task_id", metavar="ID", default="", help="The task of the queue that it works on and claims.")
@click.option(
    "--each-task", is_flag=True, help="Start one for each open task of the queue on which no session works or waits."
)
@click.option("--base", metavar="REVISION", default="", help="Where it starts; default: the commit checked out here.")
@click.option("--check", "checks", metavar="COMMAND", multiple=True, help="Must pass at the end; may be repeated.")
@workspace_options
@click.option(
    "--remote",
    metavar="NAME",
    default="",
    help="Let any worker run it (`commonhold worker`): the base and the work travel through this git remote.",
)
@click.option(
    "--land", is_flag=True, help="No review: commit what it left, and add its branch to the merge queue by itself."
)
@click.option("--priority", metavar="N", type=int, default=0, show_default=True, help="A higher one goes first.")
@click.option("--tenant", metavar="NAME", default="", help="For whom it runs: tenants take turns.")
@click.option("--timeout", metavar="DURATION", default="1h", show_default=True, help="How long a turn may take.")
@click.option("--silence", metavar="DURATION", default="15m", show_default=True, help="How long it may print nothing.")
@click.option(
    "--attempts",
    metavar="N",
    type=click.IntRange(1, 20),
    default=DEFAULT_SESSION_ATTEMPTS,
    show_default=True,
    help="How often it is tried if its supervisor is lost.",
)
@request_option
@common
@click.pass_obj
def start(given: Given, *, task: str, **options: Unpack[_Options]) -> int:
    """Queue an agent on TASK, a text for it (-: standard input), and return at once.

    With --task, the text may be left out: it is that of the task then. The session claims the task when its turn
    begins, waits until that is possible, and ends with it done, failed or given back. If the task needs others, the
    session starts where its branch ends by then, with their work. With --each-task a whole plan is queued so.

    The daemon makes a git worktree at the base, on a branch `agent/ID`, copies the ignored files that match the
    patterns in `.worktreeinclude`, runs the set-up command there, and then the agent, with standard input from
    /dev/null. Agents get COMMONHOLD_PORT, the first of ten ports of their own, and the environment of the daemon.
    """
    agent = options["worker"]
    text = task_text(task)
    if agent not in HEADLESS and PROMPT_FILE not in agent:
        raise UsageError(
            Code.USAGE,
            f"{agent[:60]!r} is no known agent, and no command with {PROMPT_FILE}",
            hint=f"--with 'COMMAND {PROMPT_FILE}'; known agents: {', '.join(HEADLESS)}",
        )
    if agent in HEADLESS and len(text.encode()) > MOST_PROMPT_BYTES:
        raise InputError(
            Code.SESSION_INVALID,
            f"the task has more than {MOST_PROMPT_BYTES:,} bytes, which no argument of a program can have",
            hint="put the text into a file of the repository, and name that file",
        )
    if options["each_task"] and (text or options["task_id"]):
        raise UsageError(
            Code.USAGE, "--each-task takes neither a text nor --task", hint="the texts are those of the tasks"
        )
    with opened(given) as place:
        base, remote = options["base"], options["remote"]
        if remote:
            base = _offered(place.hold.root, remote, base)
        request = options["request_id"]
        if options["each_task"]:
            names = _tasks_to_start(place.hold)
            begun = [_start(place.hold, text, each, base, request and f"{request}-{each}", options) for each in names]
            found = ManagedSessionAnswer("started", tuple(view for each in begun for view in each.sessions))
        else:
            found = _start(place.hold, text, options["task_id"], base, request, options)
        if not remote and found.sessions:
            see_to_daemon(place.hold.root)
    in_words = _in_words if options["each_task"] else session_words.answered
    answer(given, found, session_shapes.answer, in_words)
    return DONE


def _start(
    hold: Commonhold, text: str, task_id: str, base: str, request_id: str | None, options: _Options
) -> ManagedSessionAnswer:
    wish: SessionOptions = {
        **workspace_of(options),
        "task_id": task_id,
        "base": base,
        "remote": options["remote"],
        "lands": options["land"],
        "checks": options["checks"],
        "priority": options["priority"],
        "tenant": options["tenant"],
        "timeout_seconds": seconds_of("--timeout", options["timeout"]),
        "silence_seconds": seconds_of("--silence", options["silence"]),
        "most_attempts": options["attempts"],
    }
    return hold.start_managed_session(text, agent=options["worker"], request_id=request_id, **wish)


def _tasks_to_start(hold: Commonhold) -> list[str]:
    """Return the open tasks of the queue that no session works on or waits for, in the order of the queue."""
    sessions = hold.managed_sessions(limit=MOST_LISTED_SESSIONS).sessions
    taken = {each.record.session.task_id for each in sessions}
    tasks = (each.record for each in hold.tasks().tasks)
    return [each.id for each in tasks if each.state is TaskState.OPEN and each.id not in taken]


def _in_words(found: ManagedSessionAnswer) -> Iterator[str]:
    if not found.sessions:
        yield "no open task is without a session; next: commonhold task list"
        return
    for each in found.sessions:
        session = each.record.session
        yield f"queued: {session.id}  {shown(session.task_id)}: {shown(session.title)}"
    yield "next: commonhold session list"


def _offered(root: str, remote: str, base: str) -> str:
    """Push the commit that a session starts at to a git remote, for workers elsewhere. Return its hash."""
    git = Git(root)
    commit = GitRevisions(git).commit_of(base or "HEAD")
    offer_commit(git, remote, commit)
    return commit


def task_text(given: str) -> str:
    """Return the text of a task as it was given; `-` is standard input, in UTF-8. Raises InputError `TEXT_INVALID`."""
    if given != STDIN:
        return given
    try:
        return read_stdin("the task").decode()
    except UnicodeDecodeError as fault:
        raise InputError(Code.TEXT_INVALID, "the task is not UTF-8", hint="convert it, then repeat the call") from fault


def see_to_daemon(root: str) -> None:
    """Start the daemon, which starts the session; with a store on a server no other call does."""
    repository = find_repository(root)
    settings = load_settings(root)
    if pid_of(repository) is None and settings.daemon and settings.store:
        start_daemon(repository)
    if not settings.daemon:
        complain("no daemon runs here, so nothing starts this session; next: commonhold daemon start")
