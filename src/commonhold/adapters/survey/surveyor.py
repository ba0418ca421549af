"""Looking at a working tree before something is done to it, and finding afterwards what differs."""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.adapters.git.running import Git
from commonhold.adapters.index import stamps
from commonhold.adapters.plain_files import opened
from commonhold.adapters.survey.checked_out import checked_out
from commonhold.adapters.survey.listed import Listed, listed
from commonhold.app.options import DEFAULT_MAX_FILE_BYTES
from commonhold.regions.region import hash_bytes, hash_of

MAX_READ_BYTES: Final = 200_000_000
"""So much is read at one look; files beyond that are told by their stamps."""

Keep = Callable[[Sequence[bytes]], object]
"""Keeps bytes, so that they can be had again by their hashes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was: its content hash, or, where it was not read, its stamp alone."""

    hash: str | None
    stamp: stamps.Stamp | None


@dataclass(frozen=True, slots=True)
class Survey:
    """A working tree at one moment: `clean` files have the bytes of git's objects; the others were looked at."""

    clean: Mapping[str, str]
    loose: Mapping[str, Seen]


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs: content hashes before and after, None where there is no file.

    Of one that `is_unread` (it was too large) no bytes are kept, and nothing but that it differs is known.
    """

    path: str
    before: str | None
    after: str | None
    is_unread: bool = False


class Surveyor:
    """Surveys one working tree. What it has read it remembers by stamps, so that most looks read little."""

    def __init__(
        self,
        root: str,
        git: Git | None,
        *,
        ignored: Sequence[str] = (),
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
    ) -> None:
        """Survey the tree at `root`, without what `ignored` names."""
        self._root = root
        self._git = git
        self._ignored = tuple(ignored)
        self._max_file_bytes = max_file_bytes
        self._known: dict[str, Seen] = {}
        self._lock = threading.Lock()

    def look(self, keep: Keep) -> Survey:
        """What the files are now; `keep` gets what git could not give back. Raises StoreError `GIT_FAILED`."""
        with self._lock:
            found = listed(self._root, self._git, self._ignored)
            new: list[bytes] = []
            seen = self._looked_at(found, new)
            if new:
                keep(new)
            self._known = {path: each for path, each in seen.items() if each.stamp is not None}
            return Survey(found.clean, seen)

    def _looked_at(self, found: Listed, new: list[bytes]) -> dict[str, Seen]:
        """What is to be known of the loose files; the contents of those that are read are added to `new`."""
        now, budget = time.time_ns(), MAX_READ_BYTES
        seen: dict[str, Seen] = {}
        for path in sorted(found.loose):
            stamp = self._stamp(path)
            known = self._known.get(path)
            if stamp is None:
                continue
            if known is None or known.stamp != stamp:
                content = self._content(path) if stamp[2] <= min(self._max_file_bytes, budget) else None
                known = _seen(content, stamp, now)
                if content is not None:
                    new.append(content)
                    budget -= len(content)
            seen[path] = known
        return seen

    def _stamp(self, path: str) -> stamps.Stamp | None:
        """The stamp of a regular file; None where there is none."""
        try:
            status = os.lstat(f"{self._root}/{path}")
        except OSError:
            return None
        return stamps.of_status(status) if stat.S_ISREG(status.st_mode) else None

    def _content(self, path: str) -> bytes | None:
        descriptor = opened(f"{self._root}/{path}", os.O_NOFOLLOW)
        if descriptor is None:
            return None
        with open(descriptor, "rb") as file:
            return file.read()

    def changes(self, before: Survey, after: Survey, keep: Keep) -> tuple[Change, ...]:
        """What differs between two looks, in the order of paths. The bytes before are kept."""
        paths = _paths(before)
        suspects = [path for path in sorted(paths | _paths(after)) if _differs(path, before, after)]
        was = self._was(before, suspects, keep)
        found = []
        for path in suspects:
            is_unread = (path in paths and was.get(path) is None) or self._is_unread(path, after)
            content = None if is_unread else self._content(path)
            found.append(Change(path, was.get(path), hash_of(content), is_unread))
        return tuple(change for change in found if change.is_unread or change.before != change.after)

    def _was(self, before: Survey, paths: Iterable[str], keep: Keep) -> dict[str, str | None]:
        """The hashes that files had; git is asked for the bytes of those that it has."""
        objects = {path: before.clean[path] for path in paths if path in before.clean}
        contents = checked_out(self._git, objects) if objects and self._git else {}
        if contents:
            keep(tuple(contents.values()))
        hashes = {path: seen.hash for path, seen in before.loose.items()}
        return hashes | {path: hash_bytes(content) for path, content in contents.items()}

    def _is_unread(self, path: str, after: Survey) -> bool:
        stamp, seen = self._stamp(path), after.loose.get(path)
        return (stamp is not None and stamp[2] > self._max_file_bytes) or (seen is not None and seen.hash is None)


def _seen(content: bytes | None, stamp: stamps.Stamp, now: int) -> Seen:
    return Seen(None, stamp) if content is None else Seen(hash_bytes(content), stamps.settled(stamp, now))


def _paths(survey: Survey) -> set[str]:
    return {*survey.clean, *survey.loose}


def _differs(path: str, before: Survey, after: Survey) -> bool:
    """Whether a file may differ: of one that was not read, its stamp tells."""
    if path in before.clean or path in after.clean:
        return before.clean.get(path) != after.clean.get(path)
    was, now = before.loose.get(path), after.loose.get(path)
    if was is None or now is None or was.hash is None or now.hash is None:
        return was != now
    return was.hash != now.hash
