"""From a path in any spelling to its one canonical name."""

import os
import stat
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import FILE, Key, Kind, Spec, outside
from commonhold.workspace.files import dotted_names

MAX_LINKS: Final = 40
EntryOf = Callable[[str, str], tuple[str, str]]
RESERVED: Final = frozenset({".git", ".commonhold"})


@dataclass(frozen=True, slots=True)
class Located:
    """A path inside the root: its canonical segments, and the type of the file there."""

    segments: tuple[str, ...]
    status: os.stat_result | None


@dataclass(slots=True)
class _Walk:
    """One walk from the root along a path, following links by hand so that none leads out unseen."""

    root: str
    entry: EntryOf
    raw: str
    todo: deque[str] = field(default_factory=deque)
    done: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    status: os.stat_result | None = None
    links: int = 0

    def run(self) -> Located:
        self.todo.extend(self._relative(self.raw).split("/"))
        while self.todo:
            part = self.todo.popleft()
            self.status = None
            if part in ("", "."):
                continue
            if part == "..":
                if not self.done:
                    raise outside(self.raw)
                self.done.pop()
                self.segments.pop()
                continue
            folder = "/".join((self.root, *self.done))
            name, segment = self.entry(folder, part)
            there = f"{folder}/{name}"
            status = _lstat(there)
            if status is not None and stat.S_ISLNK(status.st_mode):
                self._follow(there)
                continue
            self.done.append(name)
            self.segments.append(segment)
            self.status = status
            if status is not None and stat.S_ISDIR(status.st_mode):
                self._check_own(there)
        if self.status is None:
            self.status = _lstat("/".join((self.root, *self.done)))
        return Located(tuple(self.segments), self.status)

    def _relative(self, path: str) -> str:
        if not path.startswith("/"):
            return path
        if path == self.root or path.startswith(self.root + "/"):
            return path[len(self.root) :].lstrip("/")
        real = os.path.realpath(os.path.dirname(path))
        if real == self.root or real.startswith(self.root + "/"):
            return os.path.join(real[len(self.root) :].lstrip("/"), os.path.basename(path))
        raise outside(self.raw)

    def _check_own(self, folder: str) -> None:
        """Check that a folder with a state of its own is entered there only. Raises InputError `PATH_RESERVED`.

        Otherwise two states over one file would both grant it.
        """
        if any(_lstat(f"{folder}/{name}") for name in RESERVED):
            raise InputError(
                Code.PATH_RESERVED,
                f"the path {self.raw!r} lies in a repository of its own, {folder!r}",
                hint="work on it from inside that folder (or with -C), where its own state is used",
                fields={"path": self.raw, "repository": folder},
            )

    def _follow(self, link: str) -> None:
        self.links += 1
        if self.links > MAX_LINKS:
            raise InputError(
                Code.PATH_INVALID,
                f"the path {self.raw!r} goes through more than {MAX_LINKS} links",
                hint="name the file itself",
                fields={"path": self.raw},
            )
        target = os.readlink(link)
        if target.startswith("/"):
            target = self._relative(target)
            self.done.clear()
            self.segments.clear()
        self.todo.extendleft(reversed(target.split("/")))


@dataclass(frozen=True, slots=True)
class Locator:
    """Maps names in the working tree at `root` to their keys.

    `entry(folder, name)` returns the spelling of `name` on the disk and in keys; `defines(key)` whether a region
    exists.
    """

    root: str
    entry: EntryOf
    defines: Callable[[Key], bool]

    def locate(self, spec: Spec) -> Key:
        """Return the canonical key. An existing path takes precedence, then a module by its dotted name.

        Raises InputError `PATH_OUTSIDE`, `PATH_RESERVED`, `PATH_INVALID`, `NOT_A_FILE`, and `REGION_AMBIGUOUS` for a
        dotted name of several modules.
        """
        if spec.scheme != FILE:
            return spec.key()
        for literal in spec.literals:
            there = self._there(literal.raw_path)
            if there is not None:
                return self._at(literal, there)
        place = self._walk(spec.raw_path)
        in_module = self.in_module(spec) if spec.is_plain and place.status is None else None
        return in_module or self._at(spec, place)

    def path_of(self, raw: str) -> str:
        """Return the path that keys use for a file as the disk, git or a program names it; links are followed.

        Raises InputError `PATH_OUTSIDE`, `PATH_RESERVED`, `PATH_INVALID`.
        """
        return "/".join(self._walk(raw).segments)

    def in_module(self, spec: Spec) -> Key | None:
        """Return the key of a plain text read as a dotted name, or None. Raises InputError `REGION_AMBIGUOUS`."""
        found = dotted_names.key_of(spec, self._file_at)
        if found and found.is_region and dotted_names.ends_like_a_file(spec) and not self.defines(found):
            return None
        return found

    def _at(self, spec: Spec, place: Located) -> Key:
        reserved = next((part for part in place.segments if part.casefold() in RESERVED), None)
        if reserved is not None:
            raise InputError(
                Code.PATH_RESERVED,
                f"the path {spec.raw_path!r} lies in {reserved!r}, which belongs to git or to Commonhold itself",
                hint="name a file of the project; git's own files are changed by git commands only",
                fields={"path": spec.raw_path},
            )
        is_folder = _is_folder(spec, place)
        if is_folder and spec.names:
            raise _no_file(spec.raw_path, "is a folder, which has no regions")
        return Key(FILE, place.segments, spec.names, is_folder)

    def _walk(self, raw: str) -> Located:
        check_nul(raw)
        return _Walk(self.root, self.entry, raw).run()

    def _there(self, raw: str) -> Located | None:
        """Return the file at a path that may have been meant; None if there is none, or none that could be used."""
        try:
            place = self._walk(raw)
        except InputError:
            return None
        return place if place.status is not None else None

    def _file_at(self, raw: str) -> tuple[str, ...] | None:
        place = self._there(raw)
        return place.segments if place and place.status and stat.S_ISREG(place.status.st_mode) else None


def check_nul(path: str) -> None:
    """Raise InputError `PATH_INVALID` for a path that the system could not even look up."""
    if "\0" in path:
        message = f"the path {path!r} has the character NUL, which no path can have"
        raise InputError(Code.PATH_INVALID, message, hint="leave the character out", fields={"path": path})


def _is_folder(spec: Spec, place: Located) -> bool:
    wants_folder = spec.raw_path.endswith("/") or spec.kind is Kind.FOLDER or not place.segments
    if place.status is None:
        return wants_folder
    if stat.S_ISDIR(place.status.st_mode):
        return True
    if wants_folder:
        raise _no_file(spec.raw_path, "is a file, not a folder")
    if not stat.S_ISREG(place.status.st_mode):
        raise _no_file(spec.raw_path, "is neither a file nor a folder")
    return False


def _no_file(path: str, why: str) -> InputError:
    return InputError(
        Code.NOT_A_FILE,
        f"{path!r} {why}",
        hint="name a regular file, or a folder with a final /",
        fields={"path": path},
    )


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise InputError(
            Code.PATH_INVALID,
            f"the path {path!r} cannot be looked up: {fault.strerror}",
            hint="check the name and the permissions of its folders",
            fields={"path": path},
        ) from fault
