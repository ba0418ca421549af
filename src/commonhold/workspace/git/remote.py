"""Calls of git that ask a remote: they may take long, and must end."""

from subprocess import TimeoutExpired
from typing import Final

from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.workspace.git.process import Done, Git

_PATIENCE_SECONDS: Final = 300.0


def check_remote(git: Git, remote: str) -> None:
    """Raise UsageError if there is no such remote."""
    if remote.startswith("-") or git.line("remote", "get-url", remote) is None:
        raise UsageError(
            Code.USAGE,
            f"there is no git remote {remote[:100]!r}",
            hint="`git remote` lists the remotes; `git remote add NAME URL` adds one",
        )


def said_by(done: Done) -> str:
    """Return the messages of a call of git, in one line."""
    return "; ".join(filter(None, map(str.strip, done.stderr.decode("utf-8", "replace").splitlines())))


def run_with_remote(git: Git, remote: str, *words: str) -> Done:
    """Run a command of git that asks a remote. Raises StoreError `GIT_FAILED` if it does not end."""
    try:
        return git.run(*words, timeout_seconds=_PATIENCE_SECONDS)
    except TimeoutExpired as fault:
        raise StoreError(
            Code.GIT_FAILED,
            f"`git {words[0]}` with the remote {remote} did not end within {_PATIENCE_SECONDS:g} seconds",
            hint=f"see that this works without a question: git ls-remote {remote}",
        ) from fault
