"""Contended commits while clients and the daemon are killed at random: what is lost, and what is there twice.

Only processes of this bench are killed: its clients, and the daemon of its own repository.
"""

import json
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.contention import client, crew
from bench.contention.package import lay_out
from bench.contention.served import daemon, repository
from bench.reporting import Figure, judged

KEYS: Final = tuple(f"pkg/m0.py#f0_{number}" for number in range(4))
"""Few, and the same for all: clients overtake one another."""
TOKEN: Final = re.compile(r"# (k\d+x\d+_\d+)$", re.MULTILINE)
SEED: Final = 13
_PATIENCE_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Sizes:
    """For `seconds` a client or the daemon is killed, and another takes its place, every `pause` seconds or so.

    `daemons`: what part of the kills are of the daemon.
    """

    clients: int = 8
    seconds: float = 60.0
    pause: float = 0.7
    daemons: float = 0.2


QUICK: Final = Sizes(clients=2, seconds=3.0, pause=1.0, daemons=0.5)


def _name(number: int, life: int) -> str:
    """Return the name of a client in one of its lives; its tokens begin with it."""
    return f"k{number}x{life}"


class Siege:
    """The clients, and who is killed when."""

    def __init__(self, root: Path, acks: Path, sizes: Sizes) -> None:
        """Have clients commit in `root`; what is acknowledged to them goes into the folder `acks`."""
        self._root = root
        self._acks = acks
        self._sizes = sizes
        self._chance = random.Random(SEED)  # noqa: S311 - the same each time
        self._lives: Counter[int] = Counter()
        self._members: dict[int, subprocess.Popen[str]] = {}
        self.killed: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def lay(self) -> None:
        """Kill for as long as was asked, then let those that live end their commits."""
        try:
            for number in range(self._sizes.clients):
                self._start(number)
            self._wait_until_all_commit()
            until = time.monotonic() + self._sizes.seconds
            while time.monotonic() < until:
                time.sleep(self._chance.uniform(0.5, 1.5) * self._sizes.pause)
                self._kill()
            for each in self._members.values():
                self._finish(each)
        finally:
            for each in self._members.values():
                each.kill()
                each.wait()

    def _start(self, number: int) -> None:
        self._lives[number] += 1
        name = _name(number, self._lives[number])
        task = client.Task(str(self._root), name, ("note",), KEYS, crew.ENDLESS, str(self._acks / name))
        self._members[number] = started = crew.start(task)
        assert started.stdin is not None
        started.stdin.write("\n")
        started.stdin.flush()

    def _wait_until_all_commit(self) -> None:
        """Wait until each client was acknowledged an edit, however long they take to start: nothing is lost before."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while not all(map(self._has_committed, self._members)):
            assert all(each.poll() is None for each in self._members.values()), "a client failed"
            if time.monotonic() > until:
                raise TimeoutError(f"some clients committed nothing within {_PATIENCE_SECONDS:g} s")
            time.sleep(0.02)

    def _has_committed(self, number: int) -> bool:
        acks = self._acks / _name(number, self._lives[number])
        return acks.exists() and acks.stat().st_size > 0

    def _kill(self) -> None:
        if self._chance.random() < self._sizes.daemons:
            with suppress(LookupError, ProcessLookupError):
                os.kill(daemon(self._root), signal.SIGKILL)
                self.killed["daemon"] += 1
            return
        number = self._chance.choice(list(self._members))
        self._members[number].kill()
        with self._members[number]:
            pass
        self.killed["client"] += 1
        self._start(number)

    def _finish(self, member: subprocess.Popen[str]) -> None:
        """Ask a client to stop, and hear from it what it was refused."""
        said, _ = member.communicate()
        assert member.returncode == 0, "a client failed"
        tally = client.Tally(**json.loads(said.splitlines()[-1]))
        self.refused.update(tally.refused)


def measure(sizes: Sizes) -> list[Figure]:
    """All figures."""
    with repository(lay_out) as root:
        acks = root.parent / "acks"
        acks.mkdir()
        siege = Siege(root, acks, sizes)
        siege.lay()
        there = Counter(TOKEN.findall((root / "pkg/m0.py").read_text()))
        acknowledged = [token for file in sorted(acks.iterdir()) for token in file.read_text().split()]
    return list(_figures(siege, there, acknowledged))


def _figures(siege: Siege, there: Counter[str], acknowledged: list[str]) -> Iterator[Figure]:
    lost = sum(not there[token] for token in acknowledged)
    doubled = sum(count > 1 for count in there.values())
    busy = siege.refused["REPOSITORY_BUSY"]
    yield Figure("clients killed", siege.killed["client"], "kills")
    yield Figure("daemons killed", siege.killed["daemon"], "kills")
    yield Figure("acknowledged", len(acknowledged), "edits")
    yield Figure("made, but not acknowledged to a client that was killed", len(there) - len(acknowledged), "edits")
    yield Figure("lost", lost, "edits", judged("0", is_met=not lost))
    yield Figure("doubled", doubled, "edits", judged("0", is_met=not doubled))
    yield Figure("REPOSITORY_BUSY", busy, "calls", judged("0", is_met=not busy))
    yield Figure("other refusals and errors, tried again", sum(siege.refused.values()) - busy, "calls")
