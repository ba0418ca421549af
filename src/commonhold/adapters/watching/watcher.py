"""A thread that says which files of a working tree became other, and when HEAD moved."""

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from commonhold.adapters import stamps
from commonhold.adapters.watching.noticing import Notified, Polled, Source
from commonhold.adapters.watching.snapshot import IsIgnored, Snapshot
from commonhold.domain.errors import CommonholdError

# Every move of HEAD is written to its log, also where the file itself stays as it is (a commit on a branch).
_HEAD: Final = ("HEAD", "logs/HEAD")


@dataclass(frozen=True, slots=True)
class Burst:
    """Changes that followed each other closely.

    `paths` count from the root, with `/`, and are of files that are there, or were. `has_moved_head`: git went to
    another commit meanwhile, so that many of them may be its doing.
    """

    paths: frozenset[str]
    has_moved_head: bool = False


Changed = Callable[[Burst], Collection[str] | None]
"""Does what follows from a burst; gives those of its paths that are to be told again."""


class Watcher:
    """Watches the working tree at `root` until it is stopped, or the tree is gone.

    Ignored paths, links, and what git keeps are left out.

    What is told has changed, or may have: whoever is told compares contents. Where the system cannot watch any more
    folders, they are looked at again and again, a second apart.
    """

    def __init__(self, root: str, git_dir: str | None, is_ignored: IsIgnored, changed: Changed) -> None:
        """Call `changed` from a thread of this watcher, one burst after the other.

        Where it raises CommonholdError all its paths are told again with the next burst. Where `is_ignored` does, the
        path is a concern.
        """
        self._root = root
        self._git_dir = git_dir
        self._asked = is_ignored
        self._changed = changed
        self._snapshot = Snapshot(root, self._is_ignored)
        self._head = self._head_now()
        self._source: Source = Polled()
        self._watched: frozenset[str] = frozenset()
        self._untold: set[str] = set()
        self._stop, self._ready = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._live, name="commonhold-watcher", daemon=True)

    def start(self) -> None:
        """Begin. What changes before it is watching is not told."""
        self._thread.start()

    def wait_until_watching(self, timeout_seconds: float) -> bool:
        """Wait until changes are seen; whether it came to that."""
        return self._ready.wait(timeout_seconds)

    @property
    def way(self) -> Literal["notified", "polled", "ended"]:
        """How changes are seen: the system tells, or one looks; ended: not at all (any more)."""
        if not self._thread.is_alive():
            return "ended"
        return "polled" if isinstance(self._source, Polled) else "notified"

    def stop(self) -> None:
        """End, and wait for a callback that is under way."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _live(self) -> None:
        self._snapshot.look_at_all()
        self._follow()
        self._ready.set()
        try:
            while not self._stop.is_set() and self._is_there():
                hints = self._source.wait(self._stop)
                if not self._stop.is_set():
                    self._tell(self._found(hints))
        finally:
            self._source.close()

    def _found(self, hints: Collection[str] | None) -> set[str]:
        """The files that became other, by what the system says, or by looking everywhere."""
        named = set(self._inside(hints or ()))
        was_there = {path for path in named if self._snapshot.has(path)}
        folders = {path.rpartition("/")[0] for path in named}
        found = self._snapshot.look_at_all() if hints is None else self._snapshot.look(folders)
        found |= self._follow()
        # Twice in a tick leaves the stamp as it was: what the system names has changed whatever its stamp says.
        return found | was_there | {path for path in named if self._snapshot.has(path)}

    def _inside(self, hints: Iterable[str]) -> Iterator[str]:
        for hint in hints:
            path = os.path.relpath(hint, self._root)
            if self._is_ours(hint) and path != os.curdir:
                yield path

    def _is_ours(self, hint: str) -> bool:
        return self._git_dir is None or not hint.startswith(f"{self._git_dir}/")

    def _follow(self) -> set[str]:
        """Watch the folders that there are now; what changed before they were watched.

        That is looked for in all of them: of the others, too, nobody tells any more what changed a moment ago.
        """
        found: set[str] = set()
        while self._is_there() and (folders := self._snapshot.folders) != self._watched:
            if source := self._source_of(folders):
                self._source.close()
                self._source, self._watched = source, folders
            found |= self._snapshot.look_at_all()
        return found

    def _is_there(self) -> bool:
        """Whether there is a tree to be looked at: of one that is gone the root would be looked for without end."""
        return os.access(self._root, os.R_OK | os.X_OK)

    def _source_of(self, folders: Iterable[str]) -> Source | None:
        """Who tells of these folders; None where they are others already."""
        places = [os.path.join(self._root, folder).rstrip("/") for folder in folders]
        try:
            return Notified.of([*places, *self._git_folders()]) or Polled()
        except (FileNotFoundError, PermissionError):
            return None

    def _git_folders(self) -> Iterator[str]:
        for folder in (self._git_dir, self._git_dir and os.path.join(self._git_dir, "logs")):
            if folder and os.path.isdir(folder):
                yield folder

    def _is_ignored(self, path: str) -> bool:
        try:
            return self._asked(path)
        except (CommonholdError, OSError):  # git fails for a moment, say: that must not end the watching
            return False

    def _head_now(self) -> list[stamps.Stamp | None]:
        return [stamps.at(os.path.join(self._git_dir, name)) for name in _HEAD] if self._git_dir else []

    def _tell(self, found: Iterable[str]) -> None:
        head = self._head_now()
        self._untold |= {path for path in found if not self._is_ignored(path)}
        if self._untold or head != self._head:
            with suppress(CommonholdError, OSError):  # the state is busy, or full: it is told again
                self._untold = set(self._changed(Burst(frozenset(self._untold), head != self._head)) or ())
                self._head = head
