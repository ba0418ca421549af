"""Pull requests at the host of a remote, opened by the host's own program with the user's account: `gh` or `glab`."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.machine.process_groups import environment_without_git
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.remote import check_remote, run_with_remote, said_by

_PATIENCE_SECONDS: Final = 120.0
_QUIET: Final = {"GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}
_MOST_SAID: Final = 500
_EXISTS: Final = "already exists"
"""Both programs say so of a second pull request from one branch."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The wish to have `branch`, which the remote has, merged into its branch `onto`."""

    branch: str
    onto: str
    title: str
    body: str
    is_draft: bool = False


def _gh(wish: PullRequest, repository: str) -> tuple[str, ...]:
    words = (f"--head={wish.branch}", f"--base={wish.onto}", f"--title={wish.title}", f"--body={wish.body}")
    return ("pr", "create", f"--repo={repository}", *words)


def _glab(wish: PullRequest, repository: str) -> tuple[str, ...]:
    words = (f"--source-branch={wish.branch}", f"--target-branch={wish.onto}", f"--title={wish.title}")
    return ("mr", "create", f"--repo={repository}", *words, f"--description={wish.body}", "--yes")


_PROGRAMS: Final[Mapping[str, Callable[[PullRequest, str], tuple[str, ...]]]] = {"gh": _gh, "glab": _glab}
CODE_HOST_PROGRAMS: Final = tuple(_PROGRAMS)


class CodeHost:
    """The host of a remote, and the program that opens pull requests there."""

    def __init__(self, git: Git, remote: str, program: str | None = None) -> None:
        """Choose `glab` if the remote's URL names GitLab, otherwise `gh`, unless a `program` is given.

        Raises UsageError if git knows no such remote, or if the program is not installed.
        """
        check_remote(git, remote)
        self._git = git
        self.remote = remote
        self._repository = _without_credentials(git.line("remote", "get-url", "--push", remote) or "")
        self.program = program or ("glab" if "gitlab" in self._repository.lower() else "gh")
        if shutil.which(self.program) is None:
            raise UsageError(
                Code.USAGE,
                f"{self.program} is not installed; it opens pull requests at {self._repository}",
                hint=f"install {self.program} and sign in: {self.program} auth login",
            )

    def push(self, branch: str) -> None:
        """Push a local branch under its own name. Commits that only the remote's branch has stay.

        Raises StoreError `GIT_FAILED` if the remote does not take it.
        """
        ref = f"refs/heads/{branch}"
        words = ("push", "--quiet", "--no-follow-tags", self.remote, f"{ref}:{ref}")
        done = run_with_remote(self._git, self.remote, *words)
        if done.returncode:
            raise StoreError(
                Code.GIT_FAILED,
                f"{branch} cannot be pushed to the git remote {self.remote}: {said_by(done)[:_MOST_SAID]}",
                hint=f"if commits are there that may go: git push --force-with-lease {self.remote} {branch}",
            )

    def open(self, wish: PullRequest) -> str:
        """Open the pull request, and return the program's answer: its URL. One that is already open is left as it is.

        Raises StoreError `CODE_HOST_FAILED`.
        """
        words = (*_PROGRAMS[self.program](wish, self._repository), *(("--draft",) if wish.is_draft else ()))
        try:
            done = subprocess.run(
                (self.program, *words),
                cwd=self._git.root,
                env=environment_without_git() | _QUIET,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise self._failed(str(fault)) from fault
        said = " ".join((os.fsdecode(done.stdout if done.returncode == 0 else done.stderr)).split())
        if done.returncode and _EXISTS not in said:
            raise self._failed(said or f"exit status {done.returncode}")
        return said[-_MOST_SAID:]

    def _failed(self, why: str) -> StoreError:
        return StoreError(
            Code.CODE_HOST_FAILED,
            f"{self.program} opened no pull request: {why[:_MOST_SAID]}",
            hint=f"the branch is pushed; follow the words of {self.program}, then repeat the same call",
            fields={"program": self.program},
        )


def _without_credentials(url: str) -> str:
    """Return the URL of a remote without a name and a password before its host: arguments are seen by other users."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or "@" not in parts.netloc:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
