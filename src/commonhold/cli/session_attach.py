"""`commonhold session attach`: a person takes a session over, at a terminal in its workspace."""

import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import click

from commonhold.api.wire import session_shapes
from commonhold.bootstrap import place_of_sessions
from commonhold.cli import session_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import Place, agent_of, opened
from commonhold.cli.output import answer, complain, flush
from commonhold.client.opening import open_beside_daemon
from commonhold.config import load_settings
from commonhold.kernel.answers import Next
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import check_holder
from commonhold.session_host.leftovers import end_session, guarded
from commonhold.session_host.session_files import SessionFiles
from commonhold.session_host.supervisor import TTL_SECONDS, Attachment, Supervisor
from commonhold.session_host.terminal import PersonTerminal
from commonhold.session_host.worktrees import Worktrees
from commonhold.sessions.answers import ManagedSessionAnswer
from commonhold.sessions.commands import SessionAction
from commonhold.sessions.decide import supervisor_of
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import Repository, find_repository

LOOK_SECONDS: Final = 0.2


@click.command(
    "attach",
    cls=Command,
    examples=(
        "commonhold session attach s12",
        "commonhold session attach s12 --finish",
        "commonhold session attach s12 -- pytest -x",
    ),
)
@click.argument("session")
@click.argument("words", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--finish", is_flag=True, help="End the turn afterwards: the checks are run, then it awaits review.")
@common
@click.pass_obj
def attach(given: Given, session: str, words: tuple[str, ...], *, finish: bool) -> int:
    """Take SESSION over at this terminal, in its workspace, with its environment, sandbox and limits.

    A running session is paused first. Then a known agent goes on with its conversation; for all others your shell is
    started, and with COMMAND that is run instead. The log of the session gets the output, too. Afterwards the session
    is paused: `commonhold session resume` has its agent go on.
    With --finish it goes on to the checks and to review, unless the command fails.
    """
    holder = check_holder(agent_of(given) or "")
    person = _terminal(session)
    if given.store:
        hint = f"set it for both: COMMONHOLD_STORE={given.store} commonhold session attach {session}"
        raise UsageError(Code.USAGE, "the supervisor of a session does not get your --store", hint=hint)
    with opened(given) as place:
        repository = find_repository(place.hold.root)
        found = _paused(place, repository, session, holder)
    if found.code is None:
        # It is no longer ended by Ctrl-C: once it is claimed, it says how it ends.
        with person.watched():
            found = _attached(repository, found.sessions[0].record, holder, Attachment(person, words, finish))
    answer(given, found, session_shapes.answer, session_words.answered)
    return REFUSED if found.code else DONE


def _terminal(session: str) -> PersonTerminal:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return PersonTerminal()
    raise UsageError(
        Code.USAGE,
        "a session can be attached to a terminal only, and standard input or output is none",
        hint=f"type it at a terminal; from elsewhere: commonhold session logs -f {session}",
    )


def _paused(place: Place, repository: Repository, session: str, holder: str) -> ManagedSessionAnswer:
    """Return the session as it is once its agent does not run any more, or the refusal."""
    found = place.hold.managed_sessions(session)
    (view,) = found.sessions
    record = view.record
    if record.state is not SessionState.RUNNING:
        return found
    if record.place != place_of_sessions(repository):
        return _refused(found, f"the workspace of {session} is at {record.place}: attach there")
    if record.attached:
        return _refused(found, f"{record.attached} is attached to {session}")
    asked = place.hold.change_managed_session(
        session, SessionAction.PAUSE, note=f"{holder} attaches a terminal", attempt=record.attempt
    )
    if asked.code:
        return asked
    complain(f"{session} is being paused …")
    flush()
    fence = record.fence
    while (record.state, record.fence) == (SessionState.RUNNING, fence):
        time.sleep(LOOK_SECONDS)
        found = place.hold.managed_sessions(session)
        record = found.sessions[0].record
    return found


def _refused(found: ManagedSessionAnswer, why: str) -> ManagedSessionAnswer:
    step = Next("session show", {"session": found.sessions[0].record.id})
    return ManagedSessionAnswer("refused", found.sessions, Refusal.SESSION_CHANGED, why, step)


def _attached(
    repository: Repository, record: ManagedSessionRecord, holder: str, attachment: Attachment
) -> ManagedSessionAnswer:
    """Claim the session and supervise it at the terminal. Return how it is afterwards, or the refusal."""
    with open_beside_daemon(repository.root, holder) as hold:
        found = hold.attach_managed_session(record.id, attempt=record.attempt, ttl_seconds=TTL_SECONDS)
    if found.code:
        return found
    record = found.sessions[0].record
    settings = load_settings(repository.root)
    files = SessionFiles.of(repository, settings)
    if note := files.note(record.id):  # the daemon may have another COMMONHOLD_WORKSPACES than this shell
        files = replace(files, workspaces=Path(note.path).parent)
    git = Git(repository.root)
    with (
        guarded(partial(_abandon, attachment.person, files, record.id)),
        open_beside_daemon(repository.root, supervisor_of(record.id)) as hold,
    ):
        supervisor = Supervisor(hold, git, Worktrees(git, files), files, settings, repository.state_folder, attachment)
        supervisor.supervise(record)
        return hold.managed_sessions(record.id)


def _abandon(person: PersonTerminal, files: SessionFiles, session: str) -> None:
    """Clear up after this process if it is killed."""
    person.restore()
    end_session(files, session)
