"""Reading and replacing the files of one working tree.

Every step opens folders one by one without following links, so that a link swapped in between check and use leads
nowhere. A replacement is: temporary file beside the target, fsync, rename, fsync of the folder.
"""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import Final

from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError
from commonhold.kernel.files import ChangedUnderneath, Contents, FileState, Journal, Stamp, Write
from commonhold.kernel.keys import Key, Spec, segment_of
from commonhold.kernel.options import DEFAULT_MAX_FILE_BYTES
from commonhold.kernel.ports import Step, no_step
from commonhold.kernel.resource_exhaustion import is_exhaustion
from commonhold.machine.os_errors import code_of
from commonhold.machine.system import process_umask
from commonhold.workspace.files.canonical_paths import Locator, check_nul
from commonhold.workspace.git.worktrees import is_recorded

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_STAGE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_NO_FILE: Final = frozenset({errno.ELOOP, errno.ENXIO})
"""The system's errors for a link that must not be followed, and for a socket."""
_FOREIGN: Final = Stamp("", 0)
_WORDS: Final = {
    errno.ENOSPC: ("the disk is full", "free some space, then repeat the same call"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, then repeat the same call"),
    errno.EACCES: ("this user may not", "fix the permissions, then repeat the same call"),
    errno.EPERM: (
        "the file may not be replaced, or its owner not be kept",
        "fix its owner, permissions or attributes, then repeat the same call",
    ),
    errno.EROFS: ("the file system is read-only", "remount it writable, then repeat the call"),
    errno.ELOOP: ("a link was put in its way", "look at the path, then repeat the same call"),
}
"""The words for the system's errors, and what to do."""
GIT_BUSY: Final = (("rebase-merge", "a rebase"), ("rebase-apply", "a rebase or am"))


class WorkingTree:
    """The files below one root."""

    def __init__(
        self,
        root: str,
        *,
        git_dir: str | None = None,
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
        at_step: Step = no_step,
        umask: int | None = None,
    ) -> None:
        """Work below `root`. `git_dir` is the working tree's own git folder, if it has one; `umask` as of this process.

        `at_step` is called with the name of each step of a commit after the step is done.
        """
        self._root = os.path.realpath(root)
        self._git_dir = git_dir
        self._max_file_bytes = max_file_bytes
        self._at_step = at_step
        self._umask = umask
        self._locator = Locator(self._root, self._entry, self._may_define)

    @cached_property
    def _is_case_blind(self) -> bool:
        return is_case_blind(self._root)

    @cached_property
    def new_file_mode(self) -> int:
        """The permission bits of new files."""
        return 0o666 & ~(process_umask() if self._umask is None else self._umask)

    @property
    def root(self) -> str:
        """The absolute path of the working tree, links followed."""
        return self._root

    def at(self, root: str) -> "WorkingTree":
        """The files of another working tree."""
        return WorkingTree(root, max_file_bytes=self._max_file_bytes, at_step=self._at_step, umask=self._umask)

    def locate(self, spec: Spec) -> Key:
        """Return the canonical key."""
        return self._locator.locate(spec)

    def path_of(self, raw: str) -> str:
        """Return the path that keys use for a file that the disk, git or a program names, in any Unicode form."""
        if raw.isascii():
            return raw
        try:
            return self._locator.path_of(raw)
        except InputError:
            return raw

    def in_module(self, spec: Spec) -> Key | None:
        """Return the key of a plain text read as a dotted name, even if it is also a path; None if it is none."""
        return self._locator.in_module(spec)

    def _may_define(self, key: Key) -> bool:
        """Whether a region is there. A file that cannot be read may have it."""
        # Loaded here: a name seldom may mean a file or a definition of a module.
        from commonhold.code.regions.discover import discover  # noqa: PLC0415
        from commonhold.code.regions.find import lookup  # noqa: PLC0415

        try:
            state = self.load(key.file_path)
            return state is not None and lookup(discover(state.content, key.file_path), key.names) is not None
        except CommonholdError:
            return True

    def check_idle(self) -> None:
        """Raise StoreError `REPOSITORY_BUSY` while a rebase is in progress."""
        for name, what in GIT_BUSY if self._git_dir else ():
            if os.path.isdir(os.path.join(self._git_dir or "", name)):
                raise StoreError(
                    Code.REPOSITORY_BUSY,
                    f"{what} is under way in this working tree, so files may change at any moment; nothing was written",
                    hint="finish or abort it (`git status` says how), then read the regions again and repeat the call",
                    retry_after_seconds=30.0,
                    fields={"root": self._root},
                )

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """The folders above `path` that are not there, outermost first."""
        parts = path.split("/")[:-1]
        above = ("/".join(parts[: count + 1]) for count in range(len(parts)))
        missing = tuple(folder for folder in above if not os.path.isdir(os.path.join(self._root, folder)))
        if missing and os.path.lexists(os.path.join(self._root, missing[0])):
            raise _not_a_folder(missing[0])
        return missing

    def exists(self, path: str) -> bool:
        """Whether anything is at `path`."""
        return os.path.lexists(os.path.join(self._root, path))

    def load(self, path: str) -> FileState | None:
        """Read a whole file; None if it is not there."""
        with _translated(path):
            try:
                with self._folder_of(path) as (folder, name):
                    return self._load_at(path, folder, name)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def _load_at(self, path: str, folder: int, name: str) -> FileState:
        try:
            descriptor = os.open(name, _READ_FLAGS, dir_fd=folder)
        except OSError as fault:
            if fault.errno in _OF_NO_FILE:
                raise _not_regular(path) from fault
            raise
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise _not_regular(path)
        with open(descriptor, "rb", buffering=0) as file:
            if status.st_size > self._max_file_bytes:
                raise self._too_large(path, status.st_size)
            return FileState(file.readall(), stat.S_IMODE(status.st_mode))

    def stage(self, journal: Journal, contents: Contents) -> None:
        """Write every new file beside its place, durably."""
        for index, write in enumerate(journal.writes):
            for made in write.made:
                with _as_seen(made), suppress(FileExistsError):
                    self._make_folder(made)
            if write.after is not None and write.mode_after is not None:
                with _as_seen(write.path):
                    self._stage_one(_stage_name(journal, index), write, contents(write.after), write.mode_after)
                self._at_step(f"staged {write.path}")

    def _make_folder(self, path: str) -> None:
        with self._folder_of(path) as (folder, name):
            os.mkdir(name, dir_fd=folder)
            if self._umask is not None:  # the system has applied that of this process
                made = os.stat(name, dir_fd=folder, follow_symlinks=False)
                os.chmod(name, stat.S_IMODE(made.st_mode) & ~0o777 | 0o777 & ~self._umask, dir_fd=folder)
            os.fsync(folder)

    def _stage_one(self, stage_name: str, write: Write, content: bytes, mode: int) -> None:
        with self._folder_of(write.path) as (folder, _):
            descriptor = os.open(stage_name, _STAGE_FLAGS, 0o600, dir_fd=folder)
            with open(descriptor, "wb", buffering=0):
                rest = memoryview(content)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                if write.source is not None:
                    self._take_over(write.source, descriptor)
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)

    def _take_over(self, source: str, new: int) -> None:
        """Copy the owner and, as far as this user and this disk can, extended attributes (access lists, labels)."""
        with suppress(FileNotFoundError), self._folder_of(source) as (folder, name):
            old = os.open(name, _READ_FLAGS, dir_fd=folder)
            try:
                theirs, ours = os.fstat(old), os.fstat(new)
                if (theirs.st_uid, theirs.st_gid) != (ours.st_uid, ours.st_gid):
                    os.fchown(new, theirs.st_uid, theirs.st_gid)
                if hasattr(os, "listxattr"):
                    with suppress(OSError):
                        for attribute in os.listxattr(old):
                            with suppress(OSError):
                                os.setxattr(new, attribute, os.getxattr(old, attribute))
            finally:
                os.close(old)

    def swap(self, journal: Journal) -> None:
        """Put the staged files in place and remove the deleted ones."""
        for index, write in enumerate(journal.writes):
            with _as_seen(write.path), self._folder_of(write.path) as (folder, name):
                if self.stamp(write.path) != _stamp(write.before, write.mode_before):
                    raise ChangedUnderneath(write.path)
                if write.after is None:
                    os.unlink(name, dir_fd=folder)
                else:
                    os.replace(_stage_name(journal, index), name, src_dir_fd=folder, dst_dir_fd=folder)
            self._at_step(f"swapped {write.path}")

    def flush(self, journal: Journal) -> None:
        """Make the replaced files durable: each folder is flushed once."""
        for path in {os.path.dirname(each.path): each.path for each in journal.writes}.values():
            with _as_seen(path), self._folder_of(path) as (folder, _):
                os.fsync(folder)
            self._at_step(f"flushed beside {path}")

    def may_come_back(self, root: str) -> bool:
        """Return whether another working tree, out of reach now, is not gone for good: git still has it in its records.

        Its disk may not be there just now, or git has not forgotten it yet.
        """
        try:
            is_there = stat.S_ISDIR(os.stat(root).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            is_there = False
        except OSError:
            return True
        return not is_there and is_recorded(root, self._root)

    def undo(self, journal: Journal, contents: Contents) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Undo `stage` and `swap`, at whatever step they stopped."""
        if not os.path.isdir(self._root):
            return (), tuple(write.path for write in journal.writes)
        restored, left, faults = [], [], []
        for index, write in reversed(tuple(enumerate(journal.writes))):
            try:
                self._drop_stage(write.path, _stage_name(journal, index))
                now = self._what_is_there(write.path)
                if now is _FOREIGN:
                    left.append(write.path)
                elif self._was_swapped(write, now):
                    self._restore(journal, replace(write, mode_before=_mode_to_restore(write, now)), contents)
                    restored.append(write.path)
                elif (now.hash if now else None) != write.before:
                    left.append(write.path)
            except (FileNotFoundError, NotADirectoryError):  # another program deletes it just now
                left.append(write.path)
            except StoreError as fault:
                faults.append(fault)
        self._drop_folders(journal)
        if faults:
            raise faults[0]
        return tuple(restored), tuple(left)

    def has_swapped(self, journal: Journal) -> bool:
        """Whether any file has its new content already, so that a reader could see a half-done commit."""
        found = ((write, self._what_is_there(write.path)) for write in journal.writes)
        return any(now is not _FOREIGN and self._was_swapped(write, now) for write, now in found)

    def _what_is_there(self, path: str) -> Stamp | None:
        """Return the stamp at `path`; `_FOREIGN` for anything that no commit made.

        Such are a link, a folder, and a huge or unreadable file.
        """
        try:
            return self.stamp(path)
        except CommonholdError:
            return _FOREIGN

    def _was_swapped(self, write: Write, now: Stamp | None) -> bool:
        """Whether the commit's own result is there. Its mode is compared only if the content did not change."""
        if write.before == write.after:
            return now == _stamp(write.after, write.mode_after)
        return (now.hash if now else None) == write.after

    def _restore(self, journal: Journal, write: Write, contents: Contents) -> None:
        stage_name = f".commonhold-{journal.id}-undo.tmp"
        self._drop_stage(write.path, stage_name)
        for made in self.missing_folders(write.path):
            with _translated(made):
                self._make_folder(made)
        if write.before is not None and write.mode_before is not None:
            with _translated(write.path):
                self._stage_one(stage_name, write, contents(write.before), write.mode_before)
        with _translated(write.path), self._folder_of(write.path) as (folder, name):
            if write.before is None:
                os.unlink(name, dir_fd=folder)
            else:
                os.replace(stage_name, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def _drop_stage(self, path: str, stage_name: str) -> None:
        with _translated(path), suppress(FileNotFoundError, NotADirectoryError), self._folder_of(path) as (folder, _):
            os.unlink(stage_name, dir_fd=folder)
            os.fsync(folder)

    def _drop_folders(self, journal: Journal) -> None:
        for write in journal.writes:
            for made in reversed(write.made):
                with suppress(OSError), self._folder_of(made) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
                    os.fsync(folder)

    def stamp(self, path: str) -> Stamp | None:
        """Return the present stamp of a file; None if it is not there."""
        state = self.load(path)
        return None if state is None else Stamp(hash_bytes(state.content), state.mode)

    def _too_large(self, path: str, size: int) -> InputError:
        return InputError(
            Code.FILE_TOO_LARGE,
            f"{path!r} has {size:,} bytes; at most {self._max_file_bytes:,} are read or written",
            hint="lease it as a whole (acquire) and write it yourself, or raise max_file_bytes in the settings",
            fields={"path": path, "bytes": size},
        )

    def check_size(self, path: str, content: bytes) -> None:
        """Raise InputError `FILE_TOO_LARGE` for content that is over the limit."""
        if len(content) > self._max_file_bytes:
            raise self._too_large(path, len(content))

    @contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        check_nul(path)
        *above, name = path.split("/")
        folder = os.open(self._root, _FOLDER_FLAGS)
        try:
            for part in above:
                inner = os.open(self._disk_name(folder, part), _FOLDER_FLAGS, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder, self._disk_name(folder, name)
        finally:
            os.close(folder)

    def _disk_name(self, folder: int, name: str) -> str:
        if name.isascii():
            return name
        entries = os.listdir(folder)
        return name if name in entries else next((entry for entry in entries if _nfc(entry) == name), name)

    def _entry(self, folder: str, name: str) -> tuple[str, str]:
        """Return the spelling of the entry that `name` means on the disk, and its spelling in keys."""
        if name.isascii() and not self._is_case_blind:
            return name, name
        try:
            entries = os.listdir(folder)
        except OSError as fault:
            if is_exhaustion(fault):
                raise
            return name, _nfc(name)
        if name not in entries:
            fold = str.casefold if self._is_case_blind else str
            wanted = fold(_nfc(name))
            name = min((entry for entry in entries if fold(_nfc(entry)) == wanted), default=name)
        return name, segment_of(name, entries)


def is_case_blind(root: str) -> bool:
    """Whether the disk under `root` ignores case: tested with an existing name."""
    try:
        names = os.listdir(root)
    except OSError:
        return False
    for folder, name in (*((root, name) for name in names), os.path.split(root)):
        other = name.swapcase()
        if other != name and name.isascii():
            return other not in names and _is_same(os.path.join(folder, name), os.path.join(folder, other))
    return False


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


@contextmanager
def _translated(path: str) -> Iterator[None]:
    """Raise StoreError for the system's errors about `path`, but let "not found" through."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as fault:
        why, hint = _WORDS.get(
            fault.errno or 0, (fault.strerror or str(fault), "look at the path, then repeat the call")
        )
        message = f"{path!r} could not be read or written: {why}"
        raise StoreError(code_of(fault), message, hint=hint, fields={"path": path}) from fault


@contextmanager
def _as_seen(path: str) -> Iterator[None]:
    """Raise ChangedUnderneath if a file or a folder that existed has gone."""
    with _translated(path):
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as fault:
            raise ChangedUnderneath(path) from fault


def _stamp(content_hash: str | None, mode: int | None) -> Stamp | None:
    return None if content_hash is None or mode is None else Stamp(content_hash, mode)


def _mode_to_restore(write: Write, now: Stamp | None) -> int | None:
    """Return the old mode, unless the file got another one since."""
    return write.mode_before if now is None or now.mode == write.mode_after else now.mode


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _stage_name(journal: Journal, index: int) -> str:
    return f".commonhold-{journal.id}-{index}.tmp"


def _not_a_folder(path: str) -> InputError:
    return InputError(
        Code.FILE_EXISTS,
        f"{path!r} is there and is no folder, so nothing can be put into it",
        hint="choose another path, or rename or delete that file in a changeset of its own first",
        fields={"path": path},
    )


def _not_regular(path: str) -> InputError:
    return InputError(
        Code.NOT_A_FILE,
        f"{path!r} is not a regular file",
        hint="name a regular file; links, pipes, devices and folders cannot be edited",
        fields={"path": path},
    )
