"""The paths of the sockets of a repository's daemon; finding them loads nothing beyond any Python's own modules."""

import os
import stat

from commonhold.kernel.errors import Code, StoreError

SOCKET = "daemon.sock"
HTTP_SOCKET = "http.sock"
MAX_ADDRESS_BYTES = 100
"""An address of a socket has at most 103 bytes on macOS and 107 on Linux."""


def address(state_folder: str) -> str:
    """Return the address of the socket: in the state folder, or, if that is too long, in a user's private folder."""
    return _short(os.path.join(state_folder, SOCKET), state_folder, ".sock")


def http_address(state_folder: str) -> str:
    """The address of the socket that speaks HTTP, found in the same way."""
    return _short(os.path.join(state_folder, HTTP_SOCKET), state_folder, ".http.sock")


def _short(path: str, state_folder: str, ending: str) -> str:
    if len(os.fsencode(path)) <= MAX_ADDRESS_BYTES:
        return path
    import hashlib  # noqa: PLC0415 - loaded here, since few addresses are too long

    name = hashlib.sha256(os.fsencode(state_folder)).hexdigest()[:16]
    return os.path.join(_private_folder(), name + ending)


def _private_folder() -> str:
    """Return a folder that only this user can enter. Raises StoreError `STORE_UNSAFE` if another user's is there."""
    folder = f"/tmp/commonhold-{os.geteuid()}"  # noqa: S108 - made private and checked below; a short path is the point
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise StoreError(
                Code.STORE_UNSAFE,
                f"{folder} is not a private folder of this user",
                hint="remove it, or put the repository at a shorter path",
            ) from None
    return folder
