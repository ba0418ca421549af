"""How long we take to start: commands that look, and the first hook after its daemon was killed."""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import mkdtemp

from bench.reporting import Figure, at_most, report
from commonhold.client import hook_program
from commonhold.workspace import daemon_files

ROUNDS = 40
KILLS = 10
MOST_TIMES = 4.0
MOST_SECONDS = 0.5
REST_SECONDS = 3.0
"""So long a daemon is left in peace after its first hook: what its successor needs is loaded then."""
LOOKS = {"leases": (), "status": (), "regions": ("a.py",), "show": ("a.py#one",)}
SOURCE = "import os\n\n\ndef one():\n    return os.sep\n\n\nclass Box:\n    def grow(self):\n        return 2\n"
ENTRY = (sys.executable, "-c", "from commonhold.cli.main import run; run()")
BARE = (sys.executable, "-c", "pass")

Spent = tuple[float, float]
"""Seconds on the wall, and of a processor."""


@contextmanager
def repository() -> Iterator[Path]:
    """One with a file and a lease."""
    folder = Path(mkdtemp(prefix="commonhold-bench-"))
    try:
        subprocess.run(["git", "init", "--quiet", folder], check=True)  # noqa: S603, S607
        (folder / "a.py").write_text(SOURCE)
        commonhold(folder, "off", "acquire", "a.py#one", "--agent", "bench")
        yield folder
    finally:
        rmtree(folder)


def commonhold(folder: Path, daemon: str, *words: str) -> None:
    """Run a command, with or without a daemon."""
    environment = {**os.environ, "COMMONHOLD_DAEMON": daemon}
    subprocess.run([*ENTRY, *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def spent(command: tuple[str, ...], folder: Path, daemon: str) -> Spent:
    """What running a command takes."""
    environment = {**os.environ, "COMMONHOLD_DAEMON": daemon}
    begun = time.perf_counter()
    child = subprocess.Popen(  # noqa: S603
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime


def against_python(folder: Path, daemon: str, rounds: int) -> Iterator[Figure]:
    """Each command against an interpreter that does nothing, in turn, so that noise hits both."""
    where = "with a daemon" if daemon == "on" else "without a daemon"
    for name, words in LOOKS.items():
        command = (*ENTRY, name, *words)
        pairs = [(spent(command, folder, daemon), spent(BARE, folder, daemon)) for _ in range(rounds)]
        yield Figure(f"{name}, {where}, wall", median(ours[0] for ours, _ in pairs) * 1e3, "ms")
        yield _ratio(f"{name}, {where}: wall against python -c pass", pairs, 0)
        yield _ratio(f"{name}, {where}: processor against python -c pass", pairs, 1)


def _ratio(name: str, pairs: list[tuple[Spent, Spent]], place: int) -> Figure:
    """Of all that was spent on both: a processor's time is counted in steps that are longer than Python's start."""
    ours, bare = (sum(pair[side][place] for pair in pairs) for side in (0, 1))
    return at_most(name, ours / bare, "times", MOST_TIMES)


def hook(folder: Path) -> float:
    """Seconds that a hook takes."""
    payload = f'{{"session_id": "s1", "cwd": "{folder}", "hook_event_name": "Notification", "message": "x"}}'.encode()
    words = [sys.executable, "-I", "-S", hook_program.__file__, "claude", daemon_files.http_address(_state(folder))]
    begun = time.perf_counter()
    subprocess.run(words, input=payload, check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - begun


def after_a_kill(folder: Path, kills: int, rest_seconds: float) -> Iterator[Figure]:
    """A hook whose daemon was killed just before, and one whose daemon lives."""
    hook(folder)
    time.sleep(rest_seconds)
    warm, killed = [], []
    for _ in range(kills):
        warm.append(hook(folder))
        pid = daemon_files.pid(_state(folder))
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        killed.append(hook(folder))
    yield Figure("a hook", median(warm), "s")
    yield at_most("a hook whose daemon was killed", median(killed), "s", MOST_SECONDS)
    yield at_most("a hook whose daemon was killed, the slowest", max(killed), "s", MOST_SECONDS)


def _state(folder: Path) -> str:
    return str(folder / ".git/commonhold")


def measured(rounds: int, kills: int, rest_seconds: float) -> Iterator[Figure]:
    """All figures."""
    with repository() as folder:
        yield from against_python(folder, "off", rounds)
        commonhold(folder, "on", "daemon", "start")
        try:
            yield from against_python(folder, "on", rounds)
            yield from after_a_kill(folder, kills, rest_seconds)
        finally:
            commonhold(folder, "on", "daemon", "stop")


def main() -> None:
    """Measure all, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--kills", type=int, default=KILLS)
    chosen = parser.parse_args()
    report("starting", [*measured(chosen.rounds, chosen.kills, REST_SECONDS)])


if __name__ == "__main__":
    main()
