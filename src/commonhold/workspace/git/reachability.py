"""Which commits are part of which branch."""

from collections.abc import Mapping, Sequence
from typing import Final

from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.refs import BRANCHES, full_ref
from commonhold.workspace.git.history import no_commit_yet, one_line
from commonhold.workspace.git.process import Git

_PATIENCE_SECONDS: Final = 60.0
_MAIN: Final = ("main", "master")


class GitRevisions:
    """The revisions of the repository of one working tree; the implementation of the port Revisions."""

    def __init__(self, git: Git) -> None:
        """Ask `git`."""
        self._git = git

    def branch(self) -> str:
        """Return the name of the branch that is checked out; empty if none is."""
        done = self._git.run("symbolic-ref", "--quiet", "--short", "HEAD", timeout_seconds=_PATIENCE_SECONDS)
        return done.stdout.decode("utf-8", "surrogateescape").strip() if done.returncode == 0 else ""

    def commit_of(self, revision: str) -> str:
        """Return the full hash of the commit that a revision names. Raises InputError `REVISION_UNKNOWN`."""
        found = self._commit(revision)
        if found is None:
            if revision in ("HEAD", self.branch() or "HEAD"):
                raise no_commit_yet(revision)
            raise InputError(
                Code.REVISION_UNKNOWN,
                f"git knows no commit {revision[:100]!r}",
                hint="name a branch, a tag or a commit that this repository has",
                fields={"revision": revision[:100]},
            )
        return found

    def branch_ref(self, name: str) -> str:
        """Return the full name of the ref of a local branch. Raises InputError `REVISION_UNKNOWN`."""
        ref = full_ref(name)
        if self._commit(ref) is None:
            if ref == full_ref(self.branch() or "HEAD"):
                raise no_commit_yet(name)
            raise InputError(
                Code.REVISION_UNKNOWN,
                f"there is no local branch {name[:100]!r}",
                hint="`git branch` lists the local branches; name one of them with --onto",
                fields={"revision": name[:100]},
            )
        return ref

    def main_branch(self) -> str:
        """Return `main` or `master`, whichever there is. Raises InputError `REVISION_UNKNOWN`."""
        for name in _MAIN:
            if self._commit(full_ref(name)) is not None:
                return name
        if (name := self.branch()) in _MAIN:
            raise no_commit_yet(name)
        raise InputError(
            Code.REVISION_UNKNOWN,
            f"no branch to land on was named, and there is none called {' or '.join(_MAIN)}",
            hint="name it with --onto BRANCH",
        )

    def unmerged(self, ref: str) -> tuple[str, ...]:
        """Return the names of the local branches with commits that are not part of `ref`."""
        words = ("for-each-ref", f"--no-merged={ref}", "--format=%(refname:short)", BRANCHES)
        done = self._git.run(*words, timeout_seconds=_PATIENCE_SECONDS)
        return tuple(done.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1])

    def title_of(self, commit: str) -> str:
        """Return the first line of a commit's message, without control characters."""
        words = ("log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%s", commit)
        done = self._git.run(*words, timeout_seconds=_PATIENCE_SECONDS)
        return one_line(done.stdout.decode("utf-8", "replace"))

    def reached(self, target: str, commits: Sequence[str]) -> Mapping[str, bool]:
        """Return, for each of `commits` that the repository has, whether it is part of `target`.

        Empty if there is no such target. Two calls of git, however many commits there are.
        """
        tip = self._commit(target)
        known = [] if tip is None else self._known(commits)
        if tip is None or not known:
            return {}
        asked = "".join(f"{each}\n" for each in (*known, f"^{tip}"))
        done = self._git.run("rev-list", "--stdin", given=asked.encode(), timeout_seconds=_PATIENCE_SECONDS)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace")[:300]
            raise StoreError(
                Code.GIT_FAILED,
                f"git could not compare the commits of tasks with {target}: {said}",
                hint="see `git fsck`, then repeat the same call",
            )
        outside = set(done.stdout.decode("ascii").split())
        return {each: each not in outside for each in known}

    def _commit(self, revision: str) -> str | None:
        name = f"{revision}^{{commit}}"
        done = self._git.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", name, timeout_seconds=_PATIENCE_SECONDS
        )
        return done.stdout.decode("ascii").strip() if done.returncode == 0 else None

    def _known(self, commits: Sequence[str]) -> list[str]:
        names = "".join(f"{each}^{{commit}}\n" for each in commits)
        asked = ("cat-file", "--batch-check=%(objecttype)")
        done = self._git.run(*asked, given=names.encode(), timeout_seconds=_PATIENCE_SECONDS)
        kinds = done.stdout.decode("utf-8", "replace").splitlines()
        return [commit for commit, kind in zip(commits, kinds, strict=False) if kind == "commit"]
