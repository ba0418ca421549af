"""A branch of a git remote: its commit, and moving it by compare-and-swap."""

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.refs import short_ref
from commonhold.workspace.git.history import one_line
from commonhold.workspace.git.integration import Move, Moving
from commonhold.workspace.git.process import Done, Git, failed
from commonhold.workspace.git.remote import check_remote, run_with_remote, said_by


class RemoteBranch:
    """The branch of a remote that has the same name as the local one."""

    def __init__(self, git: Git, remote: str, ref: str) -> None:
        """Ask `git` about `ref` of the remote named `remote`. Raises UsageError if there is no such remote."""
        check_remote(git, remote)
        self._git = git
        self._ref = ref
        self.remote = remote
        self.name = f"{remote}/{short_ref(ref)}"

    def head(self) -> str:
        """Return its commit, which the repository has then. Raises InputError `REVISION_UNKNOWN`, and StoreError."""
        done = self._run("ls-remote", "--quiet", self.remote, self._ref)
        if done.returncode != 0:
            raise failed("ls-remote", done)
        found = done.stdout.decode("ascii", "replace").partition("\t")[0]
        if not found:
            branch = short_ref(self._ref)
            raise InputError(
                Code.REVISION_UNKNOWN,
                f"the remote {self.remote} has no branch {branch}",
                hint=f"push it once: git push {self.remote} {branch}",
            )
        if self._git.run("cat-file", "-e", f"{found}^{{commit}}").returncode != 0:
            words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", self.remote, self._ref)
            if (done := self._run(*words)).returncode != 0:
                raise failed("fetch", done)
        return found

    def push(self, old: str, new: str) -> Move:
        """Move it from `old` to `new`, if it is at `old`; if it is at `new` already, all is well.

        REFUSED: it is at `old` still, and the remote does not take the commit. Raises StoreError if it cannot be asked.
        """
        lease = f"--force-with-lease={self._ref}:{old}"
        done = self._run("push", "--porcelain", "--no-follow-tags", lease, self.remote, f"{new}:{self._ref}")
        if done.returncode == 0 or (now := self.head()) == new:
            return Move(Moving.MOVED)
        if now != old:
            return Move(Moving.STALE, f"{self.name} was moved by others")
        return Move(Moving.REFUSED, one_line(f"{self.name} does not take it: {said_by(done)}")[:1000])

    def _run(self, *words: str) -> Done:
        return run_with_remote(self._git, self.remote, *words)
