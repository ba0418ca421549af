"""Record which files a command has written: survey the tree, attribute the changes, and put them into the log."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from commonhold.agents.runtime.lease_inheritance import hand_over
from commonhold.agents.runtime.shell_credit import at_it, is_after_end, reach_by_links, rivals
from commonhold.agents.runtime.shell_messages import Outcome
from commonhold.agents.runtime.shell_run import Run
from commonhold.client.session import Commonhold
from commonhold.commits.external.candidate_writers import attributed
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.events import Committed
from commonhold.kernel.texts import NOBODY
from commonhold.shell.held_paths import Holding, holdings, is_in, parted, path_of
from commonhold.workspace.git.process import Git
from commonhold.workspace.survey import Change

_PAGE: Final = 1000

Open = Callable[[str, str], Commonhold]
"""Opens the session on the working tree at a root, for a holder."""
Overwritten = Callable[[Commonhold, RecordAnswer, str], tuple[str, ...]]
"""Returns the notices about uncommitted work of others that a command replaced; see `Rules`."""


def record_writes(
    run: Run, status: int, others_of: Callable[[Run], list[Run]], open_session: Open, overwritten: Overwritten
) -> Outcome:
    """Record the writes of a command since its last look, and return its outcome for its agent.

    `others_of` returns the other commands that run in its working tree.
    """
    # Before the survey: a session that gets a lease after it may already make changes that the survey lacks.
    held = holdings(run.session.leases(), run.session.worktree_id())
    after = run.surveyor.look(run.session.store_contents)
    found = run.surveyor.changes(run.before, after, run.session.store_contents)
    changes, sequence = _unexplained(found, run)
    changes = tuple(each for each in changes if not (is_after_end(run, each.path) or _is_conceded(run, each)))
    readable = {change.path: change.before for change in changes if not change.is_unread}
    others = others_of(run)
    mine, theirs = parted(held, run.asked.holder)
    busy = at_it(theirs, {other.asked.holder for other in others})
    sorted_ = attributed(readable, reach_by_links(run, readable), rivals(run, others), mine, busy)
    intent = run.asked.intent
    if sorted_.nobody:
        run.session.record_external_changes(sorted_.nobody, intent=intent)
        _concede(changes, sorted_.nobody, others)
    own = {path: readable[path] for path in sorted_.own}
    _hand_down(run, own, theirs, open_session)
    # Every command's end delivers others' messages and changes, whether the command wrote a file or not.
    taken = (
        run.session.record_external_writes(own, intent=intent)
        if own
        else RecordAnswer("nothing", notices=tuple(each.notice for each in run.session.news()))
    )
    taken = replace(taken, notices=(*taken.notices, *overwritten(run.session, taken, run.head)))
    run.before, run.sequence, run.head = after, sequence, head_of(run.session.root)
    run.is_settled = True
    unread = tuple(change.path for change in changes if change.is_unread and run.reach(change.path))
    return Outcome(status, taken, sorted_.nobody, unread)


def _unexplained(changes: Sequence[Change], run: Run) -> tuple[tuple[Change, ...], int]:
    """Return the changes since the last state in the log of each file, and the newest event read.

    A change that was noticed before the command's end, and so recorded without a session, is one of them: the command
    gets its notices.
    """
    told: dict[str, str | None] = {}
    newest = run.sequence
    while page := run.session.log(after=newest, limit=_PAGE):
        newest = page[-1].sequence
        for recorded in page:
            if isinstance(recorded.event, Committed) and recorded.event.worktree == run.session.root:
                is_noticed = recorded.event.holder == NOBODY
                told |= {file.path: file.before if is_noticed else file.after for file in recorded.event.files}
    left = (replace(each, before=told[each.path]) if each.path in told else each for each in changes)
    return tuple(each for each in left if each.is_unread or each.before != each.after), newest


def _concede(changes: Sequence[Change], paths: Collection[str], others: Sequence[Run]) -> None:
    """Have the others leave these contents without a session, too: the last to end is no likelier author."""
    left = {each.path: each.after for each in changes if each.path in paths}
    for other in others:
        other.conceded.update(left)


def _is_conceded(run: Run, change: Change) -> bool:
    return change.path in run.conceded and run.conceded[change.path] == change.after


def _hand_down(run: Run, written: Collection[str], theirs: Sequence[Holding], open_session: Open) -> None:
    """Hand over to a subagent its session's leases for edits of files that the command has written."""
    around = run.asked.holder.rpartition("/")[0]
    its = {
        each.path
        for each in theirs
        if each.holder == around and each.is_for_edits and any(is_in(path, each.path) for path in written)
    }
    if its:
        session = open_session(run.session.root, around)
        try:
            hand_over(session, run.session, lambda key: path_of(key) in its)
        finally:
            session.close()


def newest_event(session: Commonhold) -> int:
    """Return the number of the newest event."""
    return max((each.sequence for each in session.log(limit=1)), default=0)


def head_of(root: str) -> str:
    """Return the commit of HEAD in a working tree."""
    # Loaded here: no command has run before a daemon's first answer, which the import would delay.
    from commonhold.workspace.git.differences import head_of as head_by  # noqa: PLC0415

    return head_by(Git(root))
