"""A real file system in user space, of any type by name: an empty folder, served by a thread of this process."""

import ctypes
import errno
import os
import select
import stat
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

_IN: Final = struct.Struct("<IIQQ")
_OUT: Final = struct.Struct("<IiQ")
_INIT_OUT: Final = struct.Struct("<IIIIHHIIHHI7I")
_ATTR_OUT: Final = struct.Struct("<QII6Q10I")
_GETATTR, _INIT = 3, 26
_ERRORS: Final = {1: errno.ENOENT}
_SILENT: Final = frozenset({2, 36, 42})
_PROTOCOL: Final = (7, 31)
_LONGEST: Final = 1 << 20
_DETACH: Final = 2


@contextmanager
def mounted(place: Path, kind: str) -> Iterator[Path]:
    """Mount at `place` what the system calls `kind`, such as `fuse.sshfs`; its root alone can be looked at."""
    if os.geteuid() or not Path("/dev/fuse").exists():
        pytest.skip("only root can mount a file system, and only where there is /dev/fuse")
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"elsewhere:/", os.fsencode(place), kind.encode(), ctypes.c_ulong(0), options):
        raise OSError(ctypes.get_errno(), "mount")
    is_over, end = os.pipe()
    thread = threading.Thread(target=_serve, args=(device, is_over), daemon=True)
    thread.start()
    try:
        yield place
    finally:
        libc.umount2(os.fsencode(place), _DETACH)
        os.close(end)
        thread.join()
        os.close(is_over)
        os.close(device)


def _serve(device: int, is_over: int) -> None:
    """Serve until somebody says so: whoever has mounts of its own may keep this one for longer."""
    while is_over not in select.select([device, is_over], [], [])[0]:
        try:
            request = os.read(device, _LONGEST)
        except OSError:
            return
        _, operation, number, _ = _IN.unpack_from(request)
        if operation not in _SILENT:
            error, body = _answer(operation)
            os.write(device, _OUT.pack(_OUT.size + len(body), -error, number) + body)


def _answer(operation: int) -> tuple[int, bytes]:
    if operation == _INIT:
        return 0, _INIT_OUT.pack(*_PROTOCOL, 0, 0, 0, 0, 1 << 16, 1, 0, 0, 0, *[0] * 7)
    if operation == _GETATTR:
        return 0, _ATTR_OUT.pack(1, 0, 0, 1, *[0] * 5, 0, 0, 0, stat.S_IFDIR | 0o700, 2, 0, 0, 0, 512, 0)
    return _ERRORS.get(operation, errno.ENOSYS), b""
