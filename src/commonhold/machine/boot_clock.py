"""The store's clock: time since boot, which no one can set. Reading it loads next to nothing."""

import time

BOOT_ID = "/proc/sys/kernel/random/boot_id"
# Counts through suspend; macOS calls the clock that does so CLOCK_MONOTONIC.
CLOCK = "CLOCK_BOOTTIME" if hasattr(time, "CLOCK_BOOTTIME") else "CLOCK_MONOTONIC"
_CLOCK_ID = getattr(time, CLOCK)
_known: list[str] = []


def epoch() -> str:
    """Return an id of this boot of the machine."""
    if not _known:
        _known.append(_boot_id())
    return _known[0]


def ticks() -> float:
    """Seconds since boot."""
    return time.clock_gettime(_CLOCK_ID)


def _boot_id() -> str:
    try:
        with open(BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:  # macOS
        import subprocess  # noqa: PLC0415 - loaded here, since Linux tells without it

        command = ("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid")
        return subprocess.run(command, check=True, capture_output=True, text=True, env={}).stdout.strip()
