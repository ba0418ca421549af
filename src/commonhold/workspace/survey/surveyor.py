"""Survey a working tree before an action, and find the differences afterwards."""

import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from commonhold.code.regions.region import hash_bytes, hash_of
from commonhold.kernel.options import DEFAULT_MAX_FILE_BYTES
from commonhold.machine import file_stamps
from commonhold.machine.plain_files import opened
from commonhold.workspace.git.process import Git
from commonhold.workspace.survey.listed import listed, listed_among
from commonhold.workspace.survey.watched import Told, Watched

MAX_READ_BYTES: Final = 200_000_000
"""The bytes that one survey reads at most; files beyond that are known by their stamps."""
MOST_SINCE: Final = 1000
"""If more files may have changed since the last full survey, a full survey is made again."""

Keep = Callable[[Sequence[bytes]], object]
"""Stores bytes, so that they can be found again by their hashes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The old state of a file: its content hash, or, if it was not read, its stamp alone."""

    hash: str | None
    stamp: file_stamps.Stamp | None


@dataclass(frozen=True, slots=True)
class Survey:
    """A working tree at one moment.

    At the last full survey, `clean` files had the bytes of git's objects, and the `loose` ones were read. `since` are
    the files that may have changed after that, as they are now (None: no file). So two surveys with the same `clean`
    and `loose` differ at most in `since`.
    """

    clean: Mapping[str, str]
    loose: Mapping[str, Seen]
    since: Mapping[str, Seen | None] = field(default_factory=dict)

    def object_of(self, path: str) -> str | None:
        """The id of the git object with the file's bytes, if nothing newer is known of the file."""
        return None if path in self.since else self.clean.get(path)

    def seen(self, path: str) -> Seen | None:
        """The file as it was surveyed; None if it was not, or does not exist."""
        return self.since[path] if path in self.since else self.loose.get(path)

    def has(self, path: str) -> bool:
        """Whether there is such a file, and it counts."""
        return (path in self.clean or path in self.loose) if path not in self.since else self.since[path] is not None

    def inside(self, folders: Collection[str]) -> Iterator[str]:
        """The files in some folders."""
        places = tuple(f"{folder}/" for folder in folders)
        return (
            (path for path in (*self.clean, *self.loose, *self.since) if path.startswith(places))
            if places
            else iter(())
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs: content hashes before and after, None if there is no file.

    If it `is_unread` (it was too large) no bytes are stored, and nothing but the difference is known.
    """

    path: str
    before: str | None
    after: str | None
    is_unread: bool = False


class Surveyor:
    """Surveys one working tree. If the kernel reports changes, a survey reads only changed files.

    Files that were read are remembered by their stamps, so that a full survey reads little, too.
    """

    def __init__(
        self,
        root: str,
        git: Git | None,
        *,
        ignored: Sequence[str] = (),
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
    ) -> None:
        """Survey the tree at `root`, without the paths that `ignored` names."""
        self._root = root
        self._git = git
        self._ignored = tuple(ignored)
        self._max_file_bytes = max_file_bytes
        self._known: dict[str, Seen] = {}
        self._watched = Watched(root, git, self._ignored)
        self._last: Survey | None = None
        self._linked: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def look(self, keep: Keep) -> Survey:
        """Return the present files; `keep` gets the bytes that git cannot restore. Raises StoreError `GIT_FAILED`."""
        with self._lock:
            last, self._last = self._last, None
            told = self._watched.changed()
            new: list[bytes] = []
            found = self._brought_up(last, told, new) if last and told else None
            self._last = found or self._everything(new)
            if new:
                keep(new)
            return self._last

    def close(self) -> None:
        """Release the kernel's watches. Full surveys still work; idempotent."""
        with self._lock:
            self._watched.close()

    def _everything(self, new: list[bytes]) -> Survey:
        is_watched = self._watched.begin()
        found = listed(self._root, self._git, self._ignored)
        seen = self._looked_at(found.loose, new)
        self._known = {path: each for path, each in seen.items() if each.stamp is not None}
        self._linked = frozenset(_linked(self._root, (*found.clean, *seen)) if is_watched else ())
        return Survey(found.clean, seen)

    def _brought_up(self, last: Survey, told: Told, new: list[bytes]) -> Survey | None:
        """Return the last survey, updated with the files that may have changed since; None if there are too many.

        Files with several links may change without being reported. Only a full survey shows which files share an inode
        with one that has got another link.
        """
        named = {*told.files, *told.restaged, *last.inside(told.gone)}
        if len(named) + len(last.since) + len(self._linked) > MOST_SINCE:
            return None
        if not self._linked.issuperset(_linked(self._root, named)):
            return None
        known = {path for path in named if last.has(path)}
        unsure = [path for path in told.restaged.union(named - known) if self._stamp(path) is not None]
        counted = listed_among(self._root, self._git, self._ignored, unsure) if self._git else frozenset()
        paths = known | counted | self._linked
        seen = self._looked_at(paths.difference(told.restaged - counted), new)
        self._known |= {path: each for path, each in seen.items() if each.stamp is not None}
        since = {**last.since, **{path: seen.get(path) for path in paths}}
        return last if since == last.since else replace(last, since=since)

    def _looked_at(self, paths: Collection[str], new: list[bytes]) -> dict[str, Seen]:
        """Survey some files; the contents of those that are read are added to `new`."""
        now, budget = time.time_ns(), MAX_READ_BYTES
        seen: dict[str, Seen] = {}
        for path in sorted(paths):
            stamp = self._stamp(path)
            known = self._known.get(path)
            if stamp is None:
                continue
            if known is None or known.stamp != stamp:
                content = self._content(path) if stamp[2] <= min(self._max_file_bytes, budget) else None
                if content is None:
                    known = Seen(None, stamp)
                else:
                    known = Seen(hash_bytes(content), file_stamps.settled(stamp, now))
                    new.append(content)
                    budget -= len(content)
            seen[path] = known
        return seen

    def _stamp(self, path: str) -> file_stamps.Stamp | None:
        """Return the stamp of a regular file; None if there is none."""
        try:
            status = os.lstat(f"{self._root}/{path}")
        except OSError:
            return None
        return file_stamps.of_status(status) if stat.S_ISREG(status.st_mode) else None

    def _content(self, path: str) -> bytes | None:
        descriptor = opened(f"{self._root}/{path}", os.O_NOFOLLOW)
        if descriptor is None:
            return None
        with open(descriptor, "rb") as file:
            return file.read()

    def changes(self, before: Survey, after: Survey, keep: Keep) -> tuple[Change, ...]:
        """Return the differences between two surveys, in the order of paths. The bytes before are stored."""
        suspects = sorted(path for path in _suspects(before, after) if _differs(path, before, after))
        was = self._was(before, suspects, keep)
        found = []
        for path in suspects:
            is_unread = (before.has(path) and was[path] is None) or self._is_unread(path, after)
            content = None if is_unread else self._content(path)
            found.append(Change(path, was[path], hash_of(content), is_unread))
        return tuple(change for change in found if change.is_unread or change.before != change.after)

    def _was(self, before: Survey, paths: Iterable[str], keep: Keep) -> dict[str, str | None]:
        """Return the old hashes of files; git is asked for the bytes of those that it has."""
        hashes = {path: seen.hash if (seen := before.seen(path)) else None for path in paths}
        objects = {path: content for path in hashes if (content := before.object_of(path))}
        contents = _checked_out(self._git, objects) if objects and self._git else {}
        if contents:
            keep(tuple(contents.values()))
        return hashes | {path: hash_bytes(content) for path, content in contents.items()}

    def _is_unread(self, path: str, after: Survey) -> bool:
        stamp, seen = self._stamp(path), after.seen(path)
        return (stamp is not None and stamp[2] > self._max_file_bytes) or (seen is not None and seen.hash is None)


def _checked_out(git: Git, objects: Mapping[str, str]) -> dict[str, bytes]:
    """Return the bytes of each object as a checkout would write them to its path, without objects that git lacks.

    That is with the line ends and the filters that the project's attributes ask for.
    """
    with tempfile.TemporaryDirectory(prefix="commonhold-") as folder:
        settings = {"GIT_INDEX_FILE": f"{folder}/index"}
        lines = "".join(f"100644 {content} 0\t{path}\0" for path, content in objects.items())
        git.ask("update-index", "-z", "--index-info", given=lines.encode(), settings=settings)
        # If one object is missing, the others are still wanted.
        git.run("checkout-index", "--all", "--force", f"--prefix={folder}/files/", settings=settings)
        places = {path: Path(folder, "files", path) for path in objects}
        return {path: place.read_bytes() for path, place in places.items() if place.is_file()}


def _linked(root: str, paths: Iterable[str]) -> Iterator[str]:
    """The files that have several links. A plain loop, since it runs over thousands."""
    lstat = os.lstat
    for path in paths:
        try:
            status = lstat(f"{root}/{path}")
            if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
                yield path
        except OSError:  # it is gone: a later file in its place is reported
            continue


def _suspects(before: Survey, after: Survey) -> set[str]:
    """The files that may differ between two looks."""
    found = {*before.since, *after.since}
    if before.clean is not after.clean or before.loose is not after.loose:
        found.update(path for path, _ in before.clean.items() ^ after.clean.items())
        found.update(before.loose, after.loose)
    return found


def _differs(path: str, before: Survey, after: Survey) -> bool:
    """Whether a file may differ: for one that was not read, its stamp decides."""
    if before.object_of(path) or after.object_of(path):
        return before.object_of(path) != after.object_of(path)
    was, now = before.seen(path), after.seen(path)
    if was is None or now is None or was.hash is None or now.hash is None:
        return was != now
    return was.hash != now.hash
