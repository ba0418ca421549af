"""The machine's clock and its source of names."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from commonhold.kernel.clock import Now
from commonhold.machine import boot_clock

_BEGAN: Final = 19
"""The field with the start time in a process's file of facts, counted from behind its name."""


class SystemClock:
    """Time since boot, which no one can set; another boot is another epoch."""

    def now(self) -> Now:
        """The present instant."""
        return Now(boot_clock.epoch(), boot_clock.ticks(), time.time())


class RandomIds:
    """Ids of 64 random bits after a readable prefix."""

    def new(self, prefix: str) -> str:
        """A fresh id, such as `lease-3f09c1d27be48a56`."""
        return f"{prefix}-{os.urandom(8).hex()}"


def named(pid: int) -> str:
    """Return an id of a process that no later one shares: its number and its start time; empty if unknown."""
    try:
        told = Path("/proc", str(pid), "stat").read_bytes()
        return f"{pid}:{int(told.rpartition(b')')[2].split()[_BEGAN])}"
    except (OSError, ValueError, IndexError):
        return ""


def is_running(process: str) -> bool:
    """Whether the process that an agent's hook has named so is running, as far as is known."""
    pid = process.partition(":")[0]
    return pid.isdecimal() and named(int(pid)) == process


def process_umask() -> int:
    """The bits that new files of this process lack."""
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    # Elsewhere it can only be read by setting it; other threads must not make files meanwhile.
    current = os.umask(0o077)
    os.umask(current)
    return current
