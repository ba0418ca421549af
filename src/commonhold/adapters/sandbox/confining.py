"""One way to say what a command may write, whatever the kernel offers for it."""

import os
import sys

from . import kernel, landlock, mounts

MASKED, LANDLOCK, NOTHING = "landlock and mounts", "landlock", "none"


def confine(protected: list[str], writable: list[str], masked: list[str]) -> None:
    """Write nothing below `protected` but what is `writable`, and of that nothing that is `masked`. Raises OSError.

    What is writable inside of what is masked stays writable.
    It is for this process, which has one thread, and all that it becomes and starts; there is no way back.
    """
    if masked:
        inside = tuple(f"{path}/" for path in masked)
        mounts.mask(masked, [path for path in writable if path.startswith(inside)], mounts.ways(writable, masked))
    landlock.restrict(protected, writable)


def tell() -> None:
    """Try all of it, print how much works here, and end this process, which is spoilt."""
    sys.stdout.write(_offered())
    sys.stdout.flush()
    os._exit(0)


def _offered() -> str:
    if not landlock.version():
        return NOTHING
    try:
        mounts.mask(["/"], [], [])
        found = MASKED
    except OSError:
        found = LANDLOCK
    try:
        landlock.restrict(["/"], [])
    except OSError:
        return NOTHING
    return found


def end_with_parent(signal: int) -> None:
    """Let this process get `signal` when its parent dies."""
    kernel.end_with_parent(signal)
