"""A thread that reports changed files of a working tree, and moves of HEAD."""

import os
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from commonhold.kernel.errors import CommonholdError
from commonhold.machine import file_stamps
from commonhold.workspace.watch.notifiers import Notified, Polled, Source
from commonhold.workspace.watch.snapshot import IsIgnored, Snapshot

# Every move of HEAD is written to its log, also if the file itself stays as it is (a commit on a branch).
_HEAD: Final = ("HEAD", "logs/HEAD")
BLIND_SECONDS: Final = 1.0
"""How long to wait for the system to have files to open again."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Changes that followed each other closely.

    `paths` count from the root, with `/`, and are of files that are there, or were. `has_moved_head`: git went to
    another commit meanwhile, so that it may have caused many of them.
    """

    paths: frozenset[str]
    has_moved_head: bool = False


Changed = Callable[[Burst], Collection[str] | None]
"""Handles a burst; returns those of its paths that must be reported again."""


class Watcher:
    """Watches the working tree at `root` until it is stopped, or the tree is gone.

    Ignored paths, links, and git's own files are left out.

    Reported paths have changed, or may have: the receiver compares contents. If the system cannot watch any more
    folders, they are polled, a second apart.
    """

    def __init__(self, root: str, git_dir: str | None, is_ignored: IsIgnored, changed: Changed) -> None:
        """Call `changed` from a thread of this watcher, one burst after the other.

        If it raises CommonholdError all its paths are reported again with the next burst. If `is_ignored` does, the
        path is not ignored.
        """
        self._root = root
        self._git_dir = git_dir
        self._asked = is_ignored
        self._changed = changed
        self._snapshot = Snapshot(root, self._is_ignored)
        self._head = self._head_now()
        self._source: Source = Polled()
        self._watched: frozenset[str] = frozenset()
        self._noticed: set[str] = set()
        self._untold: set[str] = set()
        self._is_blind = True
        self._stop, self._ready = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._live, name="commonhold-watcher", daemon=True)

    def start(self) -> None:
        """Start. Changes before it is watching are not reported."""
        self._thread.start()

    def wait_until_watching(self, timeout_seconds: float) -> bool:
        """Wait until changes are noticed; return whether they are."""
        return self._ready.wait(timeout_seconds)

    @property
    def way(self) -> Literal["notified", "polled", "ended"]:
        """How changes are noticed: by the system's reports, or by polling; ended: not at all (any more)."""
        if not self._thread.is_alive():
            return "ended"
        return "polled" if isinstance(self._source, Polled) else "notified"

    def stop(self) -> None:
        """Stop, and wait for a running callback."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _live(self) -> None:
        try:
            while not self._stop.is_set() and self._is_there():
                hints = None if self._is_blind else self._source.wait(self._stop)
                if not self._stop.is_set():
                    self._look(hints)
        finally:
            self._ready.set()
            self._source.close()

    def _look(self, hints: Collection[str] | None) -> None:
        """Report the changed files. If the system has no file to open left, wait, and read all after that."""
        try:
            self._notice(hints)
        except OSError:
            self._is_blind = True
            self._stop.wait(BLIND_SECONDS)
            return
        found, self._noticed, self._is_blind = self._noticed, set(), False
        if self._ready.is_set():
            self._tell(found)
        self._ready.set()

    def _notice(self, hints: Collection[str] | None) -> None:
        """Note the changed files, by the system's hints, or by reading everything."""
        named: set[str] = set()
        for hint in hints or ():
            path = os.path.relpath(hint, self._root)
            is_of_git = self._git_dir is not None and hint.startswith(f"{self._git_dir}/")
            if not is_of_git and path != os.curdir:
                named.add(path)
        was_there = {path for path in named if self._snapshot.has(path)}
        folders = {path.rpartition("/")[0] for path in named}
        self._noticed |= was_there
        self._noticed |= self._snapshot.look_at_all() if hints is None else self._snapshot.look(folders)
        self._follow()
        # Two changes in a tick leave the stamp as it was: a path that the system names has changed whatever its stamp
        # says.
        self._noticed |= {path for path in named if self._snapshot.has(path)}

    def _follow(self) -> None:
        """Watch the present folders; note the changes from before they were watched.

        All of them are read: for the old ones, too, the report of a recent change may have been lost with the old
        source.
        """
        while self._is_there() and (folders := self._snapshot.folders) != self._watched:
            if source := self._source_of(folders):
                self._source.close()
                self._source, self._watched = source, folders
            self._noticed |= self._snapshot.look_at_all()

    def _is_there(self) -> bool:
        """Whether the tree exists: the root of one that is gone would be searched for without end."""
        return os.access(self._root, os.R_OK | os.X_OK)

    def _source_of(self, folders: Iterable[str]) -> Source | None:
        """Return the source for these folders; None if the folders have changed already."""
        places = [os.path.join(self._root, folder).rstrip("/") for folder in folders]
        git_folders = (self._git_dir, os.path.join(self._git_dir, "logs")) if self._git_dir else ()
        places += filter(os.path.isdir, git_folders)
        try:
            return Notified.of(places) or Polled()
        except (FileNotFoundError, PermissionError):
            return None

    def _is_ignored(self, path: str) -> bool:
        try:
            return self._asked(path)
        except (CommonholdError, OSError):  # git fails for a moment, say: that must not end the watch
            return False

    def _head_now(self) -> list[file_stamps.Stamp | None]:
        return [file_stamps.at(os.path.join(self._git_dir, name)) for name in _HEAD] if self._git_dir else []

    def _tell(self, found: Iterable[str]) -> None:
        head = self._head_now()
        self._untold |= {path for path in found if not self._is_ignored(path)}
        if self._untold or head != self._head:
            with suppress(CommonholdError, OSError):  # the state is busy, or full: the paths are reported again
                self._untold = set(self._changed(Burst(frozenset(self._untold), head != self._head)) or ())
                self._head = head
