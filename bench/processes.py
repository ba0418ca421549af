"""What the operating system knows of a process and of all below it (Linux's `/proc`)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TICKS: Final = os.sysconf("SC_CLK_TCK")
MEGABYTE: Final = 1024.0
_USER: Final = 11
"""Where four times begin in `stat`, behind the name: user, system, and the same of children that have ended."""


def family(pid: int) -> Iterator[int]:
    """The process and all below it that live."""
    yield pid
    for task in _listed(f"/proc/{pid}/task"):
        for child in _read(f"/proc/{pid}/task/{task}/children").split():
            yield from family(int(child))


def cpu_seconds(pid: int) -> float:
    """The processor time, user and system, of the process and of all below it, those that have ended included."""
    return sum(_spent(each) for each in family(pid))


def memory_megabytes(pid: int) -> float:
    """The memory of the process and of all below it; what they share is counted once (`Pss`)."""
    total = 0.0
    for each in family(pid):
        text = _read(f"/proc/{each}/smaps_rollup")
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / MEGABYTE


def descriptors(pid: int) -> int:
    """How many descriptors the process and all below it have open."""
    return sum(len(_listed(f"/proc/{each}/fd")) for each in family(pid))


def _spent(pid: int) -> float:
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[_USER : _USER + 4])) / TICKS


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:  # the process has ended
        return ""


def _listed(path: str) -> list[str]:
    try:
        return [each.name for each in Path(path).iterdir()]
    except OSError:  # the process has ended
        return []
