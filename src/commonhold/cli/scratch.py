"""The copy in which a check runs: a fresh copy of HEAD, with the candidate in it."""

import os
import time
from pathlib import Path

from commonhold.merging.branches.candidate_verification import Trial
from commonhold.workspace.checks import CommandCheck, nothing_else
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.scratch import TreeCopy
from commonhold.workspace.repository import find_repository


def trial_of_tree(root: str, tree: str, command: str, seconds: float) -> Trial:
    """Return the trial of candidates in copies of `tree`, which the repository around `root` has."""
    return Trial(CommandCheck(command, TreeCopy(Git(root), tree), worktree=root), time.monotonic, seconds=seconds)


def trial_of_file(place: str, command: str, seconds: float) -> tuple[str, Trial]:
    """Return the path of the file at `place` in its project, and the trial of candidates for it in copies of HEAD.

    In no git repository, or in one without a commit, a copy has the candidate alone in it.
    """
    folder = Path(place).parent.resolve()
    nearest = next(each for each in (folder, *folder.parents) if each.is_dir())
    repository = find_repository(str(nearest))
    path = os.path.relpath(folder / Path(place).name, repository.root)
    if repository.git_dir is not None and Git(repository.root).line("rev-parse", "--verify", "--quiet", "HEAD"):
        return path, trial_of_tree(repository.root, "HEAD", command, seconds)
    return path, Trial(CommandCheck(command, nothing_else), time.monotonic, seconds=seconds)
