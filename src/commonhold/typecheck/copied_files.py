"""Checking files that are in no working tree: those of a commit, in a copy of their own."""

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping
from typing import Final

from commonhold.code.type_checkers import TypeReport
from commonhold.kernel.errors import StoreError
from commonhold.typecheck.checker import ServerChecker
from commonhold.typecheck.checkers import Checkers
from commonhold.typecheck.comparison import Patience
from commonhold.typecheck.server_programs import locate
from commonhold.typecheck.servers import SERVERS

Fill = Callable[[str], None]
"""Make the copy in an empty folder. Raises OSError or StoreError."""

# A server that is asked only once must read the project first, and no later call profits from that.
PATIENCE: Final = Patience(60.0, 30.0)
# Installed packages are in no commit, and without them imported names have no types.
_INSTALLED: Final = (".venv", "node_modules")


class CopyCheckers:
    """All known checkers. The copy is made once an installed one has to check files of its languages."""

    def __init__(self, fill: Fill, worktree: str) -> None:
        """Let `fill` make the copy; installed packages are those of the working tree at `worktree`."""
        self._fill, self._worktree = fill, worktree
        self._environment = dict(os.environ)
        self._scratch = ""
        self._checkers: Checkers | None = None

    def compare(
        self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
    ) -> TypeReport:
        """Return their complaints about these files once the changes are made, less those before."""
        concerned = (server for server in SERVERS if any(map(server.language_of, changes)))
        if self._checkers is None and any(locate(server, self._environment) for server in concerned):
            try:
                self._checkers = self._checkers_in(self._copy())
            except (OSError, StoreError) as fault:
                self.close()
                return TypeReport(why=f"types were not compared: there is no copy to look at ({fault}); fix that first")
        # If there is none, each says so before it looks at any file.
        return (self._checkers or self._checkers_in(self._worktree)).compare(changes, also, confined)

    def close(self) -> None:
        """End the processes, and delete the copy; idempotent."""
        if self._checkers is not None:
            self._checkers.close()
            self._checkers = None
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = ""

    def _checkers_in(self, root: str) -> Checkers:
        return Checkers([ServerChecker(server, root, self._environment, patience=PATIENCE) for server in SERVERS])

    def _copy(self) -> str:
        self._scratch = os.path.realpath(tempfile.mkdtemp(prefix="commonhold-types-"))
        root = os.path.join(self._scratch, "copy")
        os.mkdir(root)
        self._fill(root)
        for name in _INSTALLED:
            there = os.path.join(self._worktree, name)
            if os.path.isdir(there) and not os.path.lexists(os.path.join(root, name)):
                os.symlink(os.path.realpath(there), os.path.join(root, name))
        return root
