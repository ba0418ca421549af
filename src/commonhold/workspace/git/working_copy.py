"""A copy of the present working tree, without ignored files."""

import os
import shutil
from contextlib import suppress

from commonhold.workspace.git.process import Git


class WorkingCopy:
    """Fills folders with the files that git tracks or would track, as they are on disk. Links are copied as links."""

    def __init__(self, git: Git) -> None:
        """Copy the working tree of `git`."""
        self._git = git

    def __call__(self, folder: str) -> None:
        """Put the files into an empty `folder`; a file that disappears meanwhile is left out."""
        listed = self._git.ask("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for path in sorted(set(filter(None, listed.split(b"\0")))):
            name = os.fsdecode(path)
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with suppress(FileNotFoundError, IsADirectoryError):
                shutil.copy2(os.path.join(self._git.root, name), target, follow_symlinks=False)
