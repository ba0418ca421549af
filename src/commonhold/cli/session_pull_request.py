"""`commonhold session pull-request`: have the work of a session reviewed where the project's pull requests are."""

from typing import Final

import click

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE
from commonhold.cli.git_place import git_place
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.cli.session_review import tip_of
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.managed_session import SessionState
from commonhold.session_host.session_commits import SESSION_TRAILER, TITLE_LENGTH, branch_ending_with
from commonhold.workspace.git.code_hosts import CODE_HOST_PROGRAMS, CodeHost, PullRequest
from commonhold.workspace.git.process import Git

_MOST_TASK: Final = 10_000


@click.command(
    "pull-request",
    cls=Command,
    examples=(
        "commonhold session pull-request s12",
        'commonhold session pull-request s12 --commit "Round prices" --draft',
        "commonhold session pull-request s12 --remote upstream --program glab",
    ),
)
@click.argument("session")
@click.option(
    "--commit", "subject", metavar="MESSAGE", help="Commit the agent's uncommitted changes, and push them, too."
)
@click.option("--remote", metavar="NAME", default="origin", show_default=True, help="The git remote to push to.")
@click.option("--onto", metavar="BRANCH", help="The branch to merge into; by default the one it began from.")
@click.option("--program", type=click.Choice(CODE_HOST_PROGRAMS), help="By default glab for GitLab, otherwise gh.")
@click.option("--draft", "is_draft", is_flag=True, help="Open it as a draft.")
@common
@click.pass_obj
def pull_request(
    given: Given,
    *,
    session: str,
    subject: str | None,
    remote: str,
    onto: str | None,
    program: str | None,
    is_draft: bool,
) -> int:
    """Push the branch of SESSION and open a pull request for it, by `gh` or `glab` with your account there.

    The title and the text are those of the task. Nothing is merged here, and the session goes on awaiting review: once
    the pull request is merged, pull, and approve the session. Repeat it after more work: an open pull request gets the
    new commits. The branch is never overwritten at the remote.
    """
    with opened(given) as place:
        (view,) = place.hold.managed_sessions(session).sessions
    record = view.record
    if record.state is not SessionState.AWAITING_REVIEW:
        raise InputError(
            Code.SESSION_INVALID,
            f"{session} does not await review: it is {record.state.value}",
            hint=f"commonhold session show {session}",
        )
    onto = onto or record.session.branch
    if not onto:
        raise UsageError(
            Code.USAGE, f"{session} began from no branch", hint=f"commonhold session pull-request {session} --onto main"
        )
    here = git_place(given)
    git = Git(here.root)
    host = CodeHost(git, remote, program)
    tip = tip_of(here, record, subject, "pull-request")
    branch = branch_ending_with(git, record.id, tip)
    host.push(branch)
    task, title = record.session.task.strip(), record.session.title[:TITLE_LENGTH]
    body = f"{task[:_MOST_TASK]}\n\n{SESSION_TRAILER}: {session}\n"
    said = host.open(PullRequest(branch, onto, title, body, is_draft))
    found = {"session": session, "branch": branch, "commit": tip, "remote": remote, "onto": onto, "pull_request": said}
    lines = (
        f"{branch} is pushed to {remote}, up to {tip[:12]}",
        f"pull request: {shown(said)}",
        f"next: once it is merged: git pull && commonhold session approve {session}",
    )
    answer(given, found, lambda found: found, lambda _: lines)
    return DONE
