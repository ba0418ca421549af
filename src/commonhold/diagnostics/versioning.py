"""Git: its version, the repository, its working trees, and unfinished operations in it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from commonhold.diagnostics.finding import Finding, fail, ok, warn
from commonhold.workspace.files.working_tree import GIT_BUSY
from commonhold.workspace.git.merge_driver_settings import DRIVER, interpreter_of
from commonhold.workspace.git.process import ask
from commonhold.workspace.repository import Repository

_UNDER_WAY: Final = {
    **dict(GIT_BUSY),
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "BISECT_LOG": "a bisection",
}
_STOPS_COMMITS: Final = frozenset(dict(GIT_BUSY))


def git(repository: Repository | None) -> Iterator[Finding]:
    """Yield all checks of git."""
    answer = ask("--version")
    if answer is None:
        yield warn("git", "not found", "install git; without it only plain folders can be worked on")
    else:
        yield ok("git", answer)
    if repository is None:
        return
    if repository.git_dir is None:
        yield ok("repository", f"{repository.root}, a plain folder (no git)", root=repository.root)
        return
    root, git_dir = repository.root, Path(repository.git_dir)
    yield ok("repository", f"{root}, of user {os.stat(root).st_uid}", root=root, git_dir=str(git_dir))
    lines = (ask("-C", root, "worktree", "list", "--porcelain") or "").splitlines()
    trees = [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")]
    yield ok("worktrees", f"{len(trees)}, sharing one state", worktrees=trees)
    yield _merge_driver(root)
    found = [name for name in _UNDER_WAY if (git_dir / name).exists()]
    if _STOPS_COMMITS & set(found):
        mend = "finish or abort it (`git status` says how): commits are refused until then"
        yield fail("git activity", f"{_UNDER_WAY[found[0]]} is under way", mend)
    elif found:
        yield warn("git activity", f"{_UNDER_WAY[found[0]]} is under way", "finish or abort it: `git status` says how")
    else:
        yield ok("git activity", "none under way")


def _merge_driver(root: str) -> Finding:
    driver = ask("-C", root, "config", DRIVER)
    if not driver:
        return ok("merge driver", "not installed: git merges by itself")
    program = interpreter_of(driver)
    if not os.access(program, os.X_OK):
        found = f"the program that git would call, {program}, does not exist"
        return warn("merge driver", found, "commonhold install git (or: commonhold uninstall git)")
    return ok("merge driver", "git merges with commonhold", driver=driver)
