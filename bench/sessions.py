"""Managed sessions: from the queue to the agent's first output, log lines, and the throughput of the queue.

`make bench-sessions ARGS="--docker 10"`. Workspaces are git worktrees; agents are lines of shell, without a sandbox,
and with `--docker` in containers as well.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import commonhold
from bench.reporting import Figure, at_most, quantile, report
from commonhold.kernel.managed_session import ManagedSessionRecord, Sandbox

_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
_NOW = "date +%s.%N"
_PATIENCE_SECONDS = 300.0


@dataclass(frozen=True)
class Sizes:
    """How many sessions are started one by one, at once, and through a queue of four places; the lines of a log.

    `docker` sessions are started one by one in containers, and then a burst, unless it is 0.
    """

    alone: int = 10
    docker: int = 0
    burst: int = 20
    queued: int = 40
    lines: int = 200
    files: int = 1000


QUICK = Sizes(alone=1, burst=2, queued=2, lines=5, files=5)


class Bench:
    """A repository with a daemon."""

    def __init__(self, root: Path, hold: commonhold.Commonhold) -> None:
        """Start sessions by `hold` in the repository at `root`."""
        self.root, self.hold = root, hold

    def limit(self, running: int) -> None:
        """Let so many sessions run at once; the daemon reads that at its next look."""
        (self.root / "commonhold.toml").write_text(f"max_sessions = {running}\nmax_reviews = 10000\n")

    def start(self, line: str, sandbox: Sandbox = Sandbox.NONE) -> str:
        """Queue an agent that is a line of shell."""
        agent = f"{line}; : {{prompt_file}}"
        (view,) = self.hold.start_managed_session("bench", agent=agent, sandbox=sandbox).sessions
        return view.record.id

    def ended(self, sessions: Sequence[str]) -> list[ManagedSessionRecord]:
        """Wait until none of the sessions waits or runs; return them."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until:
            records = [view.record for view in self.hold.managed_sessions(*sessions).sessions]
            if all(each.state not in ("queued", "running") for each in records):
                return records
            time.sleep(0.05)
        raise TimeoutError(f"sessions did not end within {_PATIENCE_SECONDS:g} s")

    def printed(self, session: str) -> float:
        """Return the time that the agent of an ended session printed as its first line."""
        log = self.root / ".git/commonhold/sessions" / session / "1.log"
        return float(log.read_text().splitlines()[0])


def measure(sizes: Sizes) -> list[Figure]:
    """Measure all of it in a repository of its own."""
    with _opened(sizes.files) as bench:
        bench.limit(sizes.burst)
        bench.ended([bench.start("true")])  # the first one of a repository makes folders
        alone = [_waited(bench, 1)[0] for _ in range(sizes.alone)]
        plain = [_worktree_and_agent(bench.root, number) for number in range(sizes.alone)]
        burst = _waited(bench, sizes.burst)
        contained = [_waited(bench, 1, Sandbox.DOCKER)[0] for _ in range(sizes.docker)]
        contained_burst = _waited(bench, sizes.burst, Sandbox.DOCKER) if sizes.docker else []
        delays = _delays(bench, sizes.lines)
        bench.limit(4)
        begun = time.perf_counter()
        bench.ended([bench.start("true") for _ in range(sizes.queued)])
        through = sizes.queued / (time.perf_counter() - begun)
    return [
        *_first_outputs("queue to first output", alone, burst, 1.0),
        Figure("git worktree add and the same agent, by hand: median", median(plain), "s"),
        Figure("one session beside git worktree add and the agent", median(alone) / median(plain), "times"),
        Figure("one at a time beside all at once", median(alone) * sizes.burst / max(burst), "times"),
        *(_first_outputs("docker: queue to first output", contained, contained_burst, 3.0) if contained else ()),
        at_most("delay of a log line: median", median(delays) * 1e3, "ms", 100.0),
        Figure("delay of a log line: 95th percentile", quantile(delays, 0.95) * 1e3, "ms"),
        Figure("sessions through a queue of four places", through, "sessions/s"),
    ]


def _first_outputs(name: str, alone: Sequence[float], burst: Sequence[float], goal: float) -> list[Figure]:
    return [
        at_most(f"{name}, one session: median", median(alone), "s", goal),
        Figure(f"{name}, {len(burst)} at once: median", median(burst), "s"),
        Figure(f"{name}, {len(burst)} at once: last", max(burst), "s"),
    ]


def _waited(bench: Bench, count: int, sandbox: Sandbox = Sandbox.NONE) -> list[float]:
    """Return the seconds from the start of each of `count` sessions to its agent's first output."""
    begun = {}
    for _ in range(count):
        at = time.time()
        begun[bench.start(_NOW, sandbox)] = at
    bench.ended([*begun])
    return [bench.printed(session) - at for session, at in begun.items()]


def _worktree_and_agent(root: Path, number: int) -> float:
    """Return the seconds that the same takes without Commonhold."""
    at, place = time.time(), root.parent / f"plain-{number}"
    _git(root, "worktree", "add", "--quiet", "-b", f"plain-{number}", str(place))
    done = subprocess.run(["/bin/sh", "-c", _NOW], cwd=place, check=True, capture_output=True, text=True)  # noqa: S603
    return float(done.stdout) - at


def _delays(bench: Bench, lines: int) -> list[float]:
    """Return the seconds from each line that an agent prints to its arrival in `commonhold session logs -f`."""
    session = bench.start(f"for i in $(seq {lines}); do {_NOW}; sleep 0.05; done")
    while not bench.hold.managed_sessions(session).sessions[0].record.attempt:
        time.sleep(0.01)
    words = (sys.executable, "-m", "commonhold", "session", "logs", "-f", session)
    delays: list[float] = []
    with subprocess.Popen(words, cwd=bench.root, stdout=subprocess.PIPE) as reader:  # noqa: S603
        assert reader.stdout is not None
        delays.extend(time.time() - float(line) for line in reader.stdout)
    bench.ended([session])
    # Those printed before the reader was there have waited for it.
    return delays[lines // 4 :]


@contextmanager
def _opened(files: int) -> Iterator[Bench]:
    with TemporaryDirectory(prefix="commonhold-bench-") as folder:
        root = Path(folder) / "work"
        root.mkdir()
        _git(root, "init", "--quiet")
        for number in range(files):
            (root / f"file{number}.txt").write_text(f"{number}\n" * 20)
        _git(root, "add", "--all")
        _git(root, "commit", "--quiet", "--message", "begin")
        os.environ["COMMONHOLD_WORKSPACES"] = str(Path(folder) / "workspaces")
        try:
            with commonhold.open(str(root), agent="bench", daemon=True) as hold:
                yield Bench(root, hold)
        finally:
            del os.environ["COMMONHOLD_WORKSPACES"]
            command = (sys.executable, "-m", "commonhold", "daemon", "stop")
            subprocess.run(command, cwd=root, check=True, capture_output=True)  # noqa: S603


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *_WHO, *words], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607


def main() -> None:
    """Measure as much as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.sessions", description=__doc__)
    for name in ("alone", "docker", "burst", "queued", "lines", "files"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Sizes, name))
    report("sessions", measure(Sizes(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
