"""Eight processes commit into one big file and are killed at random: each acknowledged commit is there, once."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Self

import pytest
from tests import warm

import commonhold
from commonhold.kernel.events import Committed

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("stress_worker.py")
WORKERS = 8
COMMITS = int(os.environ.get("COMMONHOLD_STRESS_COMMITS", "8"))
FUNCTIONS = 250
LINES_A_FUNCTION = 12


def big_module() -> str:
    """3,000 lines of functions."""
    body = "".join(f"    value_{line} = {line}\n" for line in range(LINES_A_FUNCTION - 4))
    return "".join(f"def f{number}():\n{body}    return {number}\n\n\n" for number in range(FUNCTIONS))


class Crew:
    """The workers, and the one who kills and restarts them."""

    def __init__(self, root: Path, diaries: Path, seed: int) -> None:
        self.root, self.diaries, self.random = root, diaries, random.Random(seed)
        self.kills = 0
        self.running = {name: self.start(name) for name in (f"w{number}" for number in range(WORKERS))}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.running.values():
            worker.kill()
            worker.communicate()

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Start one worker, or start it again."""
        command = [sys.executable, str(SCRIPT), name, str(COMMITS), str(self.diaries / name)]
        return warm.Warm(command, cwd=self.root, stderr=subprocess.PIPE)

    def kill_one(self) -> None:
        """Kill a random worker and start it again."""
        name = self.random.choice(sorted(self.running))
        worker = self.running[name]
        worker.kill()
        worker.communicate()
        self.kills += worker.returncode == -9
        self.running[name] = self.start(name)

    def reap(self) -> None:
        """Drop the workers that are done."""
        for name, worker in list(self.running.items()):
            if worker.poll() is not None:
                del self.running[name]
                _, errors = worker.communicate()
                assert worker.returncode == 0, errors.decode()

    def work(self, kills_wanted: int) -> None:
        """Let them work and kill them, until all are done."""
        while self.running:
            pause = self.random.uniform(0.2, 0.8)
            try:
                next(iter(self.running.values())).wait(pause)
            except subprocess.TimeoutExpired:
                if self.kills < kills_wanted:
                    self.kill_one()
            self.reap()


@pytest.mark.timeout(1800)
def test_every_acknowledged_commit_is_there_once(tmp_path: Path) -> None:
    root, diaries = tmp_path / "repository", tmp_path / "diaries"
    diaries.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "big.py").write_text(big_module())

    with Crew(root, diaries, seed=COMMITS) as crew:
        crew.work(kills_wanted=COMMITS)

    acknowledged = Counter(
        fact["mark"]
        for diary in diaries.iterdir()
        for fact in map(json.loads, diary.read_text().splitlines())
        if fact.get("outcome") in ("committed", "merged")
    )
    text = (root / "big.py").read_text()
    written = Counter(line.split("'")[1] for line in text.splitlines() if line.startswith("    w"))
    assert len(acknowledged) == WORKERS * COMMITS
    assert written == acknowledged
    assert set(written.values()) == {1}
    assert crew.kills > 0
    with commonhold.open(str(root)) as hold:
        commits = [each for each in hold.log(after=0, limit=100_000) if isinstance(each.event, Committed)]
        assert len(commits) == WORKERS * COMMITS
        assert hold.leases() == ()
    assert [path.name for path in root.iterdir() if path.name != ".git"] == ["big.py"]
