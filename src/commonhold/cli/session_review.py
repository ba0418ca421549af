"""`commonhold session review`, `diff` and `approve`: look at the work of a session, and merge it."""

import shlex
from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from commonhold.api.wire import entry_shapes, merge_shapes, session_shapes
from commonhold.cli import queue_words, session_words
from commonhold.cli.branch_words import branch_merged, branch_verdict
from commonhold.cli.check_options import check_options, ended_as_by_ctrl_c
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.git_place import GitPlace, git_place
from commonhold.cli.holders_of_files import OthersLeases
from commonhold.cli.index_place import index_of
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer, say, send, send_json, shown
from commonhold.cli.scratch import trial_of_tree
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.managed_session import (
    MOST_LISTED_SESSIONS,
    ManagedSessionRecord,
    SessionResult,
    SessionState,
)
from commonhold.merging.branches.merge_branch import BranchMerge, BranchWish, Ending, merge_branch
from commonhold.session_host.session_commits import SESSION_TRAILER, TITLE_LENGTH, branch_ending_with, committed
from commonhold.session_host.shared_commits import obtain_commit
from commonhold.session_host.worktrees import branch_of
from commonhold.sessions.commands import SessionAction
from commonhold.workspace.git.history import GitHistory
from commonhold.workspace.git.process import Git


@click.command("review", cls=Command, examples=("commonhold session review", "commonhold session review s12"))
@click.argument("session", required=False)
@common
@click.pass_obj
def review(given: Given, session: str | None) -> int:
    """Show SESSION with the changed files, and whether its work would merge here now; without one, list all to review.

    Nothing is changed. The exit code is 1 if the work would not merge.
    """
    with opened(given) as place:
        if session is None:
            waiting = place.hold.managed_sessions(
                state=SessionState.AWAITING_REVIEW, limit=MOST_LISTED_SESSIONS
            ).sessions
            answer(
                given, waiting, lambda each: {"sessions": [*map(session_shapes.view, each)]}, session_words.to_review
            )
            return DONE
        (view,) = place.hold.managed_sessions(session).sessions
    here = git_place(given)
    result = _result(here, view.record)
    merged = _merged(given, here, view.record, result.snapshot, None, Ending.TELL)
    stat = Git(here.root).ask("diff", "--stat", view.record.session.base, result.snapshot).decode("utf-8", "replace")
    if given.as_json:
        send_json({"session": session_shapes.view(view), "merge": merge_shapes.branch_merge(merged)})
    else:
        say([*session_words.details(view), *stat.splitlines(), *branch_verdict(merged), *_step(view.record, merged)])
    return REFUSED if merged.outcome == "refused" else DONE


@click.command("diff", cls=Command, examples=("commonhold session diff s12", "commonhold session diff s12 --stat"))
@click.argument("session")
@click.option("--stat", is_flag=True, help="Only the names of the files, and how much has changed.")
@common
@click.pass_obj
def diff(given: Given, *, session: str, stat: bool) -> int:
    """Print what SESSION's last finished attempt has changed since its base, committed or not, as git does."""
    with opened(given) as place:
        (view,) = place.hold.managed_sessions(session).sessions
    here = git_place(given)
    result = _result(here, view.record)
    words = ("diff", "--stat") if stat else ("diff",)
    text = Git(here.root).ask(*words, view.record.session.base, result.snapshot)
    if given.as_json:
        send_json({"session": session, "diff": text.decode("utf-8", "backslashreplace")})
    else:
        send(text)
    return DONE


@click.command(
    "approve",
    cls=Command,
    examples=(
        "commonhold session approve s12",
        "commonhold session approve s12 --queue",
        "commonhold session approve s12 --commit \"Round prices\" --check 'pytest -q'",
    ),
)
@click.argument("session")
@click.option("--commit", "subject", metavar="MESSAGE", help="Commit what the agent left uncommitted, and merge that.")
@click.option("--queue", "is_queued", is_flag=True, help="Hand it to the merge queue instead of merging it here.")
@check_options
@common
@click.pass_obj
def approve(
    given: Given, *, session: str, subject: str | None, is_queued: bool, check: str | None, seconds: float
) -> int:
    """Merge SESSION's work into the branch that it began from, which must be checked out here.

    The merge is that of `commonhold merge`: all of it or nothing, each file proven, or verified by --check. A refused
    merge changes nothing, and the session goes on waiting. Its agent's uncommitted changes are merged only if you have
    them committed, in your name, by --commit. With --queue the branch `agent/SESSION` becomes an entry of the merge
    queue, with the session, its task and its checks; nothing is merged here. If the queue refuses it, repeat this.
    """
    with opened(given) as place:
        (view,) = place.hold.managed_sessions(session).sessions
        record = view.record
        if is_queued and record.state is SessionState.COMPLETED and record.commit:
            return _enqueued(given, place, record, check, None)
        if record.state is not SessionState.AWAITING_REVIEW:
            return _recorded(given, place, record, "")
        here = git_place(given)
        if is_queued:
            return _queued(given, place, record, tip_of(here, record, subject), check)
        _check_branch(here, record)
        tip = tip_of(here, record, subject)
        with ended_as_by_ctrl_c():
            merged = _merged(given, here, record, tip, (check, seconds) if check else None, Ending.COMMIT)
        if merged.outcome == "refused":
            call, checks = _call(record, subject), " && ".join(record.session.checks)
            answer(given, merged, merge_shapes.branch_merge, lambda merged: branch_merged(merged, call, checks))
            return REFUSED
        if not given.as_json:
            say(branch_merged(merged))
        return _recorded(given, place, record, merged.commit or tip)


def _queued(given: Given, place: Place, record: ManagedSessionRecord, tip: str, check: str | None) -> int:
    """Approve a session whose branch ends with `tip`, and add that to the merge queue; a repetition adds it once."""
    # First the approval: the queue takes the commit of a task that is done with just that one.
    branch_ending_with(Git(place.hold.root), record.id, tip)
    approved = place.hold.change_managed_session(record.id, SessionAction.APPROVE, attempt=record.attempt, commit=tip)
    if approved.code:
        answer(given, approved, session_shapes.answer, session_words.answered)
        return REFUSED
    return _enqueued(given, place, record, check, f"approve-{record.id}-{record.attempt}")


def _enqueued(
    given: Given, place: Place, record: ManagedSessionRecord, check: str | None, request_id: str | None
) -> int:
    """Add the branch of an approved session to the merge queue, also once more after the queue has refused it."""
    session = record.session
    found = place.hold.enqueue(
        branch_of(record.id),
        onto=session.branch,
        task=session.task_id,
        session=record.id,
        checks=(*session.checks, *([check] if check else [])),
        priority=session.priority,
        request_id=request_id,
    )
    answer(given, found, entry_shapes.answer, lambda found: queue_words.answer(found, given))
    return REFUSED if found.code else DONE


def _recorded(given: Given, place: Place, record: ManagedSessionRecord, commit: str) -> int:
    found = place.hold.change_managed_session(record.id, SessionAction.APPROVE, attempt=record.attempt, commit=commit)
    answer(given, found, session_shapes.answer, session_words.answered)
    return REFUSED if found.code else DONE


def _result(here: GitPlace, record: ManagedSessionRecord) -> SessionResult:
    """Return the work of a session, whose commits the repository has then. Raises InputError, StoreError."""
    if record.result is None:
        raise InputError(
            Code.SESSION_INVALID,
            f"{record.id} has no work to look at: it is {record.state.value}",
            hint=f"commonhold session show {record.id}",
        )
    if record.session.remote:
        obtain_commit(Git(here.root), record.session.remote, record.result.snapshot)
    return record.result


def _check_branch(here: GitPlace, record: ManagedSessionRecord) -> None:
    current = Git(here.root).line("symbolic-ref", "--quiet", "--short", "HEAD") or ""
    if current != record.session.branch:
        raise UsageError(
            Code.USAGE,
            f"{record.id} began from {record.session.branch or 'no branch'}; {current or 'no branch'} is checked out",
            hint=f"git switch {record.session.branch}" if record.session.branch else "git switch --detach",
        )


def tip_of(here: GitPlace, record: ManagedSessionRecord, subject: str | None, command: str = "approve") -> str:
    """Return the commit to merge: the end of the session's branch, or one more with its uncommitted changes.

    Raises UsageError if there are such changes and no `subject` of a commit; the hint repeats the `command` with one.
    """
    result = _result(here, record)
    if not result.has_uncommitted:
        return result.tip
    if subject is None:
        raise UsageError(
            Code.USAGE,
            f"the agent of {record.id} left changes that are not committed",
            hint=f"commonhold session {command} {record.id} --commit MESSAGE",
        )
    return committed(Git(here.root), record.id, result, subject)


def _call(record: ManagedSessionRecord, subject: str | None) -> str:
    """Return the command line that approves the session."""
    commit = f" --commit {shlex.quote(subject)}" if subject else ""
    return f"commonhold session approve {record.id}{commit}"


def _step(record: ManagedSessionRecord, merged: BranchMerge) -> Iterator[str]:
    """Yield the next step after a review: to approve it, with a message if it left changes, with its checks if needed.

    The title of the session is the message that is proposed.
    """
    if record.state is not SessionState.AWAITING_REVIEW:
        return
    subject = None
    if record.result is not None and record.result.has_uncommitted:
        subject = record.session.title[:TITLE_LENGTH]
        yield "hint: --commit MESSAGE commits what the agent left uncommitted, in your name"
    checks = record.session.checks if merged.outcome == "refused" else ()
    check = f" --check {shlex.quote(' && '.join(checks))}" if checks else ""
    yield f"next: {shown(_call(record, subject))}{shown(check)}"


def _merged(
    given: Given,
    here: GitPlace,
    record: ManagedSessionRecord,
    tip: str,
    check: tuple[str, float] | None,
    ending: Ending,
) -> BranchMerge:
    def trial(tree: str) -> Any:  # noqa: ANN401 - as `trial_of_tree` returns it
        return trial_of_tree(here.root, tree, *(check or ("", 0.0)))

    message = f"Merge session {record.id}: {record.session.title[:TITLE_LENGTH]}\n\n{SESSION_TRAILER}: {record.id}\n"
    wish = BranchWish(tip, trial if check else None, ending, message)
    leases = OthersLeases(given, here)
    return merge_branch(GitHistory(Git(here.root), here.git_dir), wish, leases, partial(index_of, given))
