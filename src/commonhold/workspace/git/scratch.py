"""A plain copy of one tree of a repository, without history, in a folder of its own."""

import os

from commonhold.workspace.git.objects import INDEX
from commonhold.workspace.git.process import Git


class TreeCopy:
    """Fills folders with the files of a tree. The user's index and working tree are not touched."""

    def __init__(self, git: Git, tree: str) -> None:
        """Copy `tree`, a tree or commit that `git` knows."""
        self._git = git
        self._tree = tree

    def __call__(self, folder: str) -> None:
        """Put the files into an empty `folder`. The index that git needs for it is left beside the folder."""
        settings = {INDEX: f"{folder}.index"}
        self._git.ask("read-tree", self._tree, settings=settings)
        self._git.ask("checkout-index", "--all", f"--prefix={folder}{os.sep}", settings=settings)
