"""Commits that sessions need on other machines, at a git remote that all of these share.

The store says which commit is the base and which is the work of a session; the remote has only the objects, below
`refs/commonhold/commits/HASH`. A name that is the hash of its content never moves: no push overwrites another's.
"""

from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.workspace.git.process import Done, Git
from commonhold.workspace.git.remote import check_remote, run_with_remote, said_by

COMMITS: Final = "refs/commonhold/commits"


def offer_commit(git: Git, remote: str, commit: str) -> None:
    """Push a commit to the remote, unless it is there. Raises UsageError if git knows no such remote, StoreError."""
    check_remote(git, remote)
    words = ("push", "--quiet", "--no-verify", "--no-follow-tags", remote, f"{commit}:{COMMITS}/{commit}")
    done = run_with_remote(git, remote, *words)
    if done.returncode:
        raise _failed(f"the commit {commit[:12]} cannot be pushed to the git remote {remote}", done, remote)


def obtain_commit(git: Git, remote: str, commit: str) -> None:
    """Fetch a commit from the remote, unless the repository has it. Raises as `offer_commit`."""
    if git.line("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}") is not None:
        return
    check_remote(git, remote)
    ref = f"{COMMITS}/{commit}"
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, f"{ref}:{ref}")
    done = run_with_remote(git, remote, *words)
    if done.returncode:
        raise _failed(f"the commit {commit[:12]} cannot be fetched from the git remote {remote}", done, remote)


def _failed(what: str, done: Done, remote: str) -> StoreError:
    return StoreError(
        Code.GIT_FAILED, f"{what}: {said_by(done)[:500]}", hint=f"see that this works: git ls-remote {remote}"
    )
