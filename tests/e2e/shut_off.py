"""`shut_off.py COMMAND…`: the command, in a filter of the kernel that lets no socket be connected, as Codex has it."""

import ctypes
import errno
import os
import platform
import struct
import sys

_NUMBERS = {"x86_64": (42, 52), "aarch64": (203, 205)}  # connect, getpeername
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_REFUSE, _ALLOW = 0x00050000 | errno.EPERM, 0x7FFF0000
_NO_NEW_RIGHTS, _FILTER_CALLS, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def main(command: list[str]) -> None:
    connect, name_of_peer = _NUMBERS[platform.machine()]
    steps = (
        (_LOAD, 0, 0, 0),
        (_EQUAL, 1, 0, connect),
        (_EQUAL, 0, 1, name_of_peer),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    )
    program = _Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((_NO_NEW_RIGHTS, 1, 0, 0, 0), (_FILTER_CALLS, _FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words):
            raise OSError(ctypes.get_errno(), "the kernel filters nothing")
    os.execvp(command[0], command)  # noqa: S606 - to run it is what this is for


if __name__ == "__main__":
    main(sys.argv[1:])
