"""Limits of memory and processor time for all processes of a session, by control groups of Linux, version 1 or 2."""

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.managed_session import ManagedSession

CGROUPS: Final = Path("/sys/fs/cgroup")
_OURS: Final = "commonhold"
_PERIOD: Final = 100_000
"""Microseconds in which a group may use its share of processor time."""
_TRIES: Final = 20
_ENTER: Final = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
_PEAKS: Final = ("memory.peak", "memory.max_usage_in_bytes")
_EVENTS: Final = ("memory.events", "memory.oom_control")


@dataclass(frozen=True, slots=True)
class Limits:
    """The control groups of a session: one in version 2, one for each controller in version 1; perhaps none."""

    groups: tuple[Path, ...] = ()
    memory_bytes: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The words that begin a command, so that it enters the groups before anything of it runs."""
        return tuple(word for group in self.groups for word in ("/bin/sh", "-c", _ENTER, str(group)))

    @property
    def kills(self) -> int:
        """How many processes the kernel has killed because the group was out of memory."""
        counts = (line.split() for group in self.groups for line in _read(group, _EVENTS).splitlines())
        return sum(int(count[1]) for count in counts if count[0] == "oom_kill")

    @property
    def told(self) -> str:
        """The limit and the highest use of memory, in words."""
        peaks = [int(text) for group in self.groups if (text := _read(group, _PEAKS))]
        return memory_told(self.memory_bytes, max(peaks, default=0))


def memory_told(limit_bytes: int, peak_bytes: int) -> str:
    """Return a limit of memory and the highest use of it, in words."""
    return f"its limit is {limit_bytes >> 20} MiB, its peak was {peak_bytes >> 20} MiB"


def limits_of(session: ManagedSession, name: str, root: Path = CGROUPS) -> Limits:
    """Make the groups of a session, below `commonhold/NAME`. Raises StoreError `SANDBOX_FAILED`."""
    memory, quota = str(session.memory_bytes), int(session.cpus * _PERIOD)
    wanted: dict[Path, str] = {}
    if (root / "cgroup.controllers").is_file():
        group = root / _OURS / name
        if session.memory_bytes:
            wanted |= {group / "memory.max": memory, group / "memory.swap.max": "0"}
        if quota:
            wanted[group / "cpu.max"] = f"{quota} {_PERIOD}"
    else:
        if session.memory_bytes:
            group = root / "memory" / _OURS / name
            wanted |= {group / "memory.limit_in_bytes": memory, group / "memory.memsw.limit_in_bytes": memory}
        if quota:
            group = root / "cpu" / _OURS / name
            wanted |= {group / "cpu.cfs_period_us": str(_PERIOD), group / "cpu.cfs_quota_us": str(quota)}
    made = Limits(tuple(dict.fromkeys(place.parent for place in wanted)), session.memory_bytes)
    try:
        for group in made.groups:
            _make(group, root)
        for place, value in wanted.items():
            if place.exists() or "sw" not in place.name:  # a kernel without swap accounting has no swap limit
                place.write_text(value)
    except OSError as fault:
        remove_limits(name, root)
        raise StoreError(
            Code.SANDBOX_FAILED,
            f"the limits of the session cannot be set: {fault.strerror}: {fault.filename}",
            hint="start it without --memory and --cpus, or let the daemon run as a user who may make control groups",
        ) from fault
    return made


def remove_limits(name: str, root: Path = CGROUPS) -> None:
    """Remove the groups of a session, which no process is in any more, and our own group above them with the last."""
    for above in (root, root / "memory", root / "cpu"):
        for group in (above / _OURS / name, above / _OURS):
            with suppress(OSError):
                group.rmdir()


def _make(group: Path, root: Path) -> None:
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):  # another session has just removed the group above, as its last
            group.parent.mkdir(exist_ok=True)
            if (root / "cgroup.controllers").is_file():
                for above in (root, group.parent):
                    (above / "cgroup.subtree_control").write_text("+memory +cpu")
            group.mkdir(exist_ok=True)
            return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(group))


def _read(group: Path, names: tuple[str, ...]) -> str:
    return next((text for name in names if os.path.lexists(group / name) for text in [(group / name).read_text()]), "")
