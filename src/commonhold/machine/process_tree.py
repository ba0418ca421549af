"""All processes that a process has started, however they were started, as /proc shows them; empty without /proc."""

import ctypes
import os
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
_PAUSE_SECONDS: Final = 0.05
_KILL_ROUNDS: Final = 100
"""How often whatever is left is killed. While the machine stands still time passes, but no process can end."""
_PROC: Final = Path("/proc")


def become_subreaper() -> bool:
    """Make this process the parent of all its orphaned descendants, on Linux. Return whether it is."""
    with suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    return False


def descendants(pid: int) -> tuple[int, ...]:
    """Return the living processes below `pid`, its children first. Zombies have ended."""
    children: dict[int, list[int]] = {}
    ended = set()
    for each, parent, state in _processes():
        children.setdefault(parent, []).append(each)
        if state in "ZX":
            ended.add(each)
    found, open_ones = [], [pid]
    while open_ones:
        below = children.get(open_ones.pop(0), [])
        found += [each for each in below if each not in ended]
        open_ones += below
    return tuple(found)


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 if it has ended."""
    return next((parent for _, parent, _ in _process(str(pid))), 0)


def with_variable(name: str, prefix: str) -> tuple[int, ...]:
    """Return the processes of this user whose environment has a variable with a value that begins with `prefix`."""
    wanted = f"\0{name}={prefix}".encode()
    found = []
    for pid, _, state in _processes():
        with suppress(OSError):
            if state not in "ZX" and wanted in b"\0" + (_PROC / str(pid) / "environ").read_bytes():
                found.append(pid)
    return tuple(found)


def kill_with_variable(name: str, prefix: str) -> None:
    """Kill those processes, and the ones that they start meanwhile, for about five seconds at most."""
    for _ in range(_KILL_ROUNDS):
        found = with_variable(name, prefix)
        if not found:
            break
        for pid in found:
            end_process(pid, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)


def end_descendants(
    grace_seconds: float, child: int, spared: Collection[int], signals: Sequence[int] = (signal.SIGTERM,)
) -> None:
    """End all processes below this one: by the signals, each to all of them, and by SIGKILL after the grace.

    A process that a signal reaches may start another meanwhile, so this looks again until there is none, or for about
    five seconds more. `spared` processes, and those below them, are left alone. For `child` see `collect_orphans`.
    """
    signalled: set[int] = set()
    until = time.monotonic() + grace_seconds
    rounds = 0
    while rounds < _KILL_ROUNDS and (left := _below_this(spared)):
        is_over = time.monotonic() >= until
        rounds += is_over
        for pid in left:
            if is_over or pid not in signalled:
                signalled.add(pid)
                for number in (signal.SIGKILL,) if is_over else signals:
                    end_process(pid, number)
        time.sleep(_PAUSE_SECONDS)
        collect_orphans(child)


def end_process(pid: int, number: int) -> None:
    """Send a signal to a process, if it is still there and this user may."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _below_this(spared: Collection[int]) -> tuple[int, ...]:
    kept = {below for each in spared for below in (each, *descendants(each))}
    return tuple(each for each in descendants(os.getpid()) if each not in kept)


def collect_orphans(child: int) -> None:
    """Collect the exit statuses of orphans below this process. The caller collects that of its `child` itself."""
    for pid, parent, state in _processes():
        if parent == os.getpid() and state == "Z" and pid != child:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _processes() -> Iterator[tuple[int, int, str]]:
    """Yield the id, the parent and the state of every process."""
    with suppress(OSError):
        for name in os.listdir(_PROC):
            if name.isdigit():
                yield from _process(name)


def _process(name: str) -> Iterator[tuple[int, int, str]]:
    """Yield the same of the process with this number, unless it is gone."""
    with suppress(OSError):
        # The name of the program stands in parentheses, and may hold anything.
        state, parent, *_ = (_PROC / name / "stat").read_text(errors="replace").rpartition(") ")[2].split()
        yield int(name), int(parent), state
