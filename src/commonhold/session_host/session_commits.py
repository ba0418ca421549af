"""The commit in which a session's work is merged: the end of its branch, with the changes that its agent left."""

from typing import Final

from commonhold.kernel.managed_session import SessionResult
from commonhold.kernel.refs import full_ref
from commonhold.session_host.worktrees import branch_of
from commonhold.workspace.git.process import Git

SESSION_TRAILER: Final = "Commonhold-Session"
TITLE_LENGTH: Final = 60


def committed(git: Git, session_id: str, result: SessionResult, subject: str) -> str:
    """Return a commit with the changes that an agent left, on the end of its branch.

    A repetition gives the same commit, so that a merge by hand is recognised. Raises StoreError `GIT_FAILED`.
    """
    message = f"{subject}\n\n{SESSION_TRAILER}: {session_id}\n"
    words = ("commit-tree", f"{result.snapshot}^{{tree}}", "-p", result.tip, "-m", message)
    at = git.ask("show", "--no-patch", "--no-show-signature", "--format=%cI", result.snapshot).decode().strip()
    return git.ask(*words, settings={"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}).decode().strip()


def branch_ending_with(git: Git, session_id: str, tip: str) -> str:
    """Return the branch of a session that has finished, which ends with the commit `tip` then."""
    branch = branch_of(session_id)
    if git.line("rev-parse", "--verify", "--quiet", full_ref(branch)) != tip:
        git.ask("update-ref", "-m", f"reviewed {session_id}", full_ref(branch), tip)
    return branch
