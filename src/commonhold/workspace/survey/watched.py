"""The files of a working tree that may have changed since the last survey, as the kernel reports them.

A report only says which paths to read, never their content. If the report may be incomplete (a queue that overflowed, a
folder that cannot be watched, other ignore rules) everything must be read again.
"""

import os
import stat
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.keys import can_be_named
from commonhold.machine import file_stamps
from commonhold.workspace.files.canonical_paths import RESERVED
from commonhold.workspace.folder_watch import Changes, FolderWatch
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore.own import IGNORE_FILE, OwnRules
from commonhold.workspace.scan.git_rules import not_ignored
from commonhold.workspace.scan.listing import IGNORING, inside

_ATTRIBUTES: Final = ".gitattributes"
_DECIDING: Final = frozenset({IGNORING, IGNORE_FILE, _ATTRIBUTES, *RESERVED})
"""Names of files that decide which files count, and how git checks out its objects."""
_OF_GIT: Final = ("info/exclude", "info/attributes", "info/sparse-checkout", "config", "config.worktree")
_FROM_FILE: Final = "file:"
_ABSENT: Final[file_stamps.Stamp] = (0, 0, 0, 0)

Ground = tuple[tuple[str, file_stamps.Stamp | None], ...]
"""The files that git's rules come from, with their stamps; None for a stamp that a later change may not alter."""


@dataclass(frozen=True, slots=True)
class Told:
    """The files that may have changed, and the folders that are gone, with all in them.

    For the files in `restaged` git's index has changed: whether they count may have changed.
    """

    files: frozenset[str]
    gone: frozenset[str]
    restaged: frozenset[str]


class Watched:
    """Watches the folders of one working tree that git does not ignore. Not safe for threads: callers take turns."""

    def __init__(self, root: str, git: Git | None, patterns: Sequence[str]) -> None:
        """Watch nothing yet, and nothing at all without git. `patterns` leave out more than git does."""
        self._root = root
        self._git = git
        self._own = OwnRules(root, patterns)
        self._watch = FolderWatch(root)
        self._folders: set[str] = set()
        self._ignored: set[str] = set()
        self._inner: set[str] = set()
        self._ground: Ground = ()
        self._index = ""
        self._staged: frozenset[bytes] = frozenset()
        self._is_closed = False
        self.is_begun = False
        """Whether every change since `begin` will be reported, or the report said to be incomplete."""

    def begin(self) -> bool:
        """Watch all folders that count, unless they are watched already; return whether they are watched now.

        Call it before a full survey: changes during that survey are reported. Raises StoreError `GIT_FAILED`.
        """
        # Git cannot list the folders of files that the project counts although git ignores them.
        if self.is_begun or self._git is None or self._is_closed or self._own.has_exceptions():
            return self.is_begun
        self._watch.close()
        self._folders, self._ignored, self._inner = set(), set(), set()
        index = os.fsdecode(self._git.ask("rev-parse", "--git-path", "index")).rstrip("\n")
        self._index = os.path.relpath(os.path.join(self._root, index), self._root)
        self._ground = _ground(_places(self._git))
        if self._watch.begin([os.path.dirname(self._index)]):
            self._folders.add(os.path.dirname(self._index))
            self._staged = _staged(self._git)
            self.is_begun = self._follow([""], _parents(map(_path_of, self._staged))) is not None
        return self.is_begun

    def changed(self) -> Told | None:
        """Return the possible changes since the last call; None if anything may have changed. Raises as `begin`."""
        told = self._watch.changes() if self.is_begun else None
        self.is_begun = False  # until this has succeeded nothing is relied on: those reports will not come again
        if told is None or self._git is None or any(path.rpartition("/")[2] in _DECIDING for path in told.files):
            return None
        now = _ground(place for place, _ in self._ground)
        if any(stamp is None for _, stamp in now) or now != self._ground:
            return None
        restaged = frozenset[str]()
        if self._index in told.files:
            before, self._staged = self._staged, _staged(self._git)
            restaged = frozenset(map(_path_of, before ^ self._staged))
        below = self._below_new(told)
        # A file of git's in an unwatched folder, which git ignores, must be watched from now on.
        unwatched = {path.rpartition("/")[0] for path in restaged}.difference(self._folders)
        if below is None or any(_is_folder(f"{self._root}/{folder}") for folder in unwatched):
            return None
        self.is_begun = True
        folder = f"{os.path.dirname(self._index)}/"
        files = (path for path in told.files if not path.startswith(folder) and self._is_ours(path))
        return Told(frozenset((*files, *below)), told.gone, frozenset(filter(can_be_named, restaged)))

    def _is_ours(self, path: str) -> bool:
        """Whether a key can name the path, and it is not in a repository inside of this one."""
        return can_be_named(path) and path.rpartition("/")[0] not in self._inner

    def _below_new(self, told: Changes) -> list[str] | None:
        """Return the files in new folders; None if these cannot be watched."""
        if told.gone:
            self._folders = {path for path in self._folders if not _is_in_any(path, told.gone)}
            self._inner = {path for path in self._inner if not _is_in_any(path, told.gone)}
        git_folder = os.path.dirname(self._index)
        came = [
            path
            for path in told.files.difference(self._folders, self._ignored)
            if path.rpartition("/")[0] != git_folder and self._is_ours(path) and _is_folder(f"{self._root}/{path}")
        ]
        return self._follow(self._entered(came, frozenset()), frozenset()) if came else []

    def _follow(self, level: Collection[str], sure: Collection[str]) -> list[str] | None:
        """Watch these folders and those in them; return their files. `sure` are folders that count anyway."""
        found: list[str] = []
        while level:
            # First they are watched, then read: changes in between are reported.
            if not self._watch.begin(self._folders.union(level)):
                return None
            self._folders.update(level)
            below: list[str] = []
            for folder in level:
                try:
                    files, folders = self._listed(folder)
                except OSError:  # it has gone, or may not be read
                    return None
                found += files
                below += folders
            level = self._entered(below, sure)
        return found

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        """The files and the folders in a folder; nothing of a repository inside of this one."""
        files: list[str] = []
        folders: list[str] = []
        with os.scandir(f"{self._root}/{folder}") as entries:
            for entry in entries:
                if entry.name in RESERVED:
                    if folder:
                        self._inner.add(folder)
                        return [], []
                elif can_be_named(entry.name):
                    kind = folders if entry.is_dir(follow_symlinks=False) else files
                    kind.append(inside(folder, entry.name))
        return files, folders

    def _entered(self, folders: Collection[str], sure: Collection[str]) -> list[str]:
        """Those of some folders in which something may count."""
        asked = [path for path in folders if path not in sure]
        counted = not_ignored(self._git, asked) if self._git else []
        self._ignored.update(set(asked).difference(counted))
        return [*(path for path in folders if path in sure), *counted]

    def close(self) -> None:
        """Stop watching for good; idempotent."""
        self._is_closed, self.is_begun = True, False
        self._watch.close()


def _parents(paths: Iterable[str]) -> frozenset[str]:
    """The folders around some files."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def _is_in_any(path: str, folders: Collection[str]) -> bool:
    """Whether a path is one of some folders, or in one."""
    while path:
        if path in folders:
            return True
        path = path.rpartition("/")[0]
    return False


def _is_folder(place: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(place).st_mode)
    except OSError:
        return False


def _staged(git: Git) -> frozenset[bytes]:
    """Return the entries of git's index: the object of each file."""
    return frozenset(git.ask("ls-files", "-z", "--stage").split(b"\0")[:-1])


def _path_of(entry: bytes) -> str:
    return os.fsdecode(entry.partition(b"\t")[2])


def _places(git: Git) -> list[str]:
    """Return the files behind git's decisions, beside index and working tree: all files of rules and settings."""
    asked = [word for name in _OF_GIT for word in ("--git-path", name)]
    own = os.fsdecode(git.ask("rev-parse", *asked)).splitlines()
    # Each setting comes with its file, and then with its own name.
    told = os.fsdecode(git.run("config", "--list", "--show-origin", "--name-only", "-z").stdout).split("\0")
    files = {each.removeprefix(_FROM_FILE) for each in told[::2] if each.startswith(_FROM_FILE)}
    home = os.path.expanduser("~")
    of_user = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    named = (git.line("config", "--type=path", "--get", f"core.{name}File") for name in ("excludes", "attributes"))
    usual = (os.path.join(of_user, name) for name in ("config", "ignore", "attributes"))
    others = (*sorted(files), os.path.join(home, ".gitconfig"), "/etc/gitconfig", *usual, *filter(None, named))
    return list(dict.fromkeys(os.path.join(git.root, place) for place in (*own, *others)))


def _ground(places: Iterable[str]) -> Ground:
    now = time.time_ns()
    return tuple((place, _stamp(place, now)) for place in places)


def _stamp(place: str, now_nanoseconds: int) -> file_stamps.Stamp | None:
    found = file_stamps.behind([place])[0]
    return _ABSENT if found is None else file_stamps.settled(found, now_nanoseconds)
