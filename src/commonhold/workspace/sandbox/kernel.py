"""Calls of Linux that Python does not offer."""

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)

Word = int | bytes | ctypes.Structure | None


def call(number: int, *words: Word) -> int:
    """Make a system call; structures are passed by their address. Raises OSError."""
    given = (ctypes.byref(word) if isinstance(word, ctypes.Structure) else _plain(word) for word in words)
    return _checked(_LIBC.syscall(ctypes.c_long(number), *given))


def mount(source: bytes | None, target: bytes, flags: int) -> None:
    """Mount without a type or options. Raises OSError."""
    _checked(_LIBC.mount(source, target, None, ctypes.c_ulong(flags), None))


def unshare(flags: int) -> None:
    """Leave namespaces. Raises OSError."""
    _checked(_LIBC.unshare(ctypes.c_int(flags)))


def _plain(word: int | bytes | None) -> object:
    return ctypes.c_long(word) if isinstance(word, int) else ctypes.c_char_p(word)


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
