"""Record external changes: those that people and programs other than agents make in agents' working trees."""

import threading
from collections.abc import Callable, Collection, Iterable
from typing import Final

from commonhold.client.session import Commonhold
from commonhold.commits.external.lost_files import BY_GIT
from commonhold.kernel.errors import CommonholdError
from commonhold.workspace.ignore import IsIgnored
from commonhold.workspace.repository import find_repository
from commonhold.workspace.watch import Burst, Watcher

BY_ANYBODY: Final = "by a person, a formatter, another program"
START_SECONDS: Final = 2.0
"""How long the first agent in a tree waits at most for the watcher to start."""

MayWrite = Callable[[str, str], bool]
"""Whether a running command could be writing a path of the working tree at a root: its end records that."""
OpenAsNobody = Callable[[str], Commonhold]


class ExternalChangeMonitor:
    """Watches each working tree from the first time that an agent works there."""

    def __init__(self, open_session: OpenAsNobody, is_ignored: IsIgnored, may_write: MayWrite) -> None:
        """Record changes in sessions without a holder."""
        self._open = open_session
        self._is_ignored = is_ignored
        self._may_write = may_write
        self._watched: dict[str, tuple[Watcher, Commonhold]] = {}
        self._lock = threading.Lock()

    def begin(self, root: str) -> bool:
        """Watch the working tree at `root`, if it is not watched yet, and look for changes made while it was not.

        Return whether watching begins now.
        """
        with self._lock:
            self._forget_what_is_gone()
            if root in self._watched:
                return False
            git_dir = find_repository(root).git_dir
            session = self._open(root)
            watcher = Watcher(
                root,
                git_dir,
                lambda path: self._is_ignored(root, path),
                lambda burst: self._changed(root, session, burst),
            )
            self._watched[root] = watcher, session
            watcher.start()
        watcher.wait_until_watching(START_SECONDS)  # else neither notices changes in between
        try:
            session.record_external_changes(None, intent=BY_ANYBODY)
        except CommonholdError:  # the state is busy, say: the next agent starts again
            with self._lock:
                begun = [self._watched.pop(root)] if root in self._watched else []
            _end(begun)
            raise
        return True

    def look(self) -> None:
        """Forget trees that were removed: a new tree in the same place is another."""
        with self._lock:
            self._forget_what_is_gone()

    def _forget_what_is_gone(self) -> None:
        for root in [root for root, (watcher, _) in self._watched.items() if watcher.way == "ended"]:
            self._watched.pop(root)[1].close()

    def _changed(self, root: str, session: Commonhold, burst: Burst) -> Collection[str]:
        """Record the changes; return the paths that a command could be writing, to be checked again after its end.

        Such a path may have changed just before the command began, or after the survey at its end: then only this
        reports it.
        """
        left = {path for path in burst.paths if self._may_write(root, path)}
        if paths := sorted(burst.paths - left):
            session.record_external_changes(paths, intent=BY_GIT if burst.has_moved_head else BY_ANYBODY)
        return left

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            watched, self._watched = self._watched, {}
        _end(watched.values())


def _end(watched: Iterable[tuple[Watcher, Commonhold]]) -> None:
    for watcher, session in watched:
        watcher.stop()
        session.close()
