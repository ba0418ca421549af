"""The folder of a repository's state: made at the first use, and never a second time by one session."""

import errno
import os
import weakref
from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.machine.os_errors import code_of

Identity = tuple[int, int]
"""The device and the inode of a file: another file at the same path has another identity."""
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def identity_of(status: os.stat_result) -> Identity:
    """Return the identity of this file, to recognize another one at the same path."""
    return status.st_dev, status.st_ino


def identity_at(path: str) -> Identity | None:
    """Return the identity of the file at `path`, links followed; None if there is none, or it cannot be read."""
    try:
        return identity_of(os.stat(path))
    except OSError:
        return None


class _OpenFolder:
    """A folder that is held open, so that its inode stays its own: a deleted one that is open lends it to no other."""

    def __init__(self, descriptor: int) -> None:
        """Close `descriptor` with the last reference to this object."""
        weakref.finalize(self, os.close, descriptor)


_open_folders: Final[weakref.WeakValueDictionary[Identity, _OpenFolder]] = weakref.WeakValueDictionary()
"""One for all sessions of this process that use the same folder: a daemon has a session for each agent."""


class StateFolder:
    """The state folder of one repository, as one session knows it.

    A session that has used the folder refuses any other at its path: a second state would grant the first one's leases
    again. So it makes the folder only if it has used none, and only inside the folder that it found.
    """

    def __init__(self, path: str, above: Identity | None = None) -> None:
        """Name the folder. `above` is the folder that it must be made in; None if any will do, parents included."""
        self.path = path
        self._above = above
        self._used: Identity | None = None
        self._open: _OpenFolder | None = None

    def make(self) -> None:
        """Make the folder if this session has used none yet, and use it.

        Raises StoreError `STORE_UNSAFE` if the folder that the session used, or the one around it, is gone or was
        replaced, `STORE_READ_ONLY` if nothing can be seen there any more, and OSError if it cannot be made.
        """
        if self._used is None and not os.path.isdir(self.path):
            self._make()
        self.use()

    def use(self) -> None:
        """Use the folder that is there, if any.

        Raises StoreError: `STORE_UNSAFE` unless it is the one used before, `STORE_READ_ONLY` if that cannot be seen.
        """
        if self._used is None:
            self._hold()
        elif self._seen() != self._used:
            raise replaced()

    def _seen(self) -> Identity | None:
        """The identity of the folder at this path now."""
        try:
            return identity_of(os.stat(self.path))
        except PermissionError as fault:  # the folder may well be in its old place
            raise unusable(self.path, fault) from fault
        except OSError:
            return None

    def _hold(self) -> None:
        """Remember the present folder, if any, and hold it open if this user may."""
        try:
            descriptor = os.open(self.path, _FOLDER_FLAGS)
        except OSError:
            self._used = identity_at(self.path)
            return
        self._used = identity_of(os.fstat(descriptor))
        self._open = _open_folders.get(self._used)
        if self._open is None:
            self._open = _open_folders[self._used] = _OpenFolder(descriptor)
        else:
            os.close(descriptor)

    def _make(self) -> None:
        if self._above is None:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            return
        parent, name = os.path.split(self.path)
        try:
            above = os.open(parent, _FOLDER_FLAGS)
        except FileNotFoundError as fault:
            raise _moved(parent) from fault
        try:
            if identity_of(os.fstat(above)) != self._above:
                raise _moved(parent)
            os.mkdir(name, 0o700, dir_fd=above)
        except FileExistsError:
            if not os.path.isdir(self.path):  # else another session was quicker
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.path) from None
        finally:
            os.close(above)


def replaced() -> StoreError:
    """Return the refusal of a session whose state folder, or the files in it, are not in place any more."""
    return StoreError(
        Code.STORE_UNSAFE,
        "the state folder was replaced or deleted while this session was using it",
        hint="put the folder back and repeat the call, or restart this session; stop all sessions"
        " before moving or restoring a state",
    )


def unusable(folder: str, fault: OSError) -> StoreError:
    """Return the refusal of a session that the system denies the use of its state folder."""
    code = Code.DISK_FULL if code_of(fault) is Code.DISK_FULL else Code.STORE_READ_ONLY
    return StoreError(
        code,
        f"the state folder {folder!r} cannot be used: {fault.strerror}",
        hint="make it a folder that this user can write, with space left, or run as the user who owns the repository",
        fields={"folder": folder},
    )


def _moved(parent: str) -> StoreError:
    return StoreError(
        Code.STORE_UNSAFE,
        f"{parent}, which the state belongs in, was moved, deleted or replaced while this session was using it",
        hint="put it back and repeat the call, or restart the session",
        fields={"folder": parent},
    )
