"""Races for one task through git: clones that claim it at the same moment. `make bench-claims ARGS="--races 200"`."""

import argparse
import random
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.reporting import Figure, judged, quantile, report
from commonhold.machine.system import RandomIds, SystemClock
from commonhold.tasks.claim_files import TTL_SECONDS
from commonhold.tasks.claim_memory import ClaimMemory
from commonhold.tasks.claiming import Claimed, Claims, Surroundings
from commonhold.tasks.claims_ref import DEFAULT_REF, GitClaims
from commonhold.workspace.git.process import Git

_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
_shared: dict[str, Barrier] = {}


@dataclass(frozen=True)
class Sizes:
    """How many clones race, and how often."""

    clones: int = 8
    races: int = 200


QUICK = Sizes(3, 2)


def measure(sizes: Sizes) -> list[Figure]:
    """Race, and count winners: as the remote states them, and as the clones believe."""
    with TemporaryDirectory(prefix="commonhold-bench-") as folder:
        root = Path(folder)
        bare = _remote(root)
        clones = [_clone(bare, root / f"clone{number}") for number in range(sizes.clones)]
        context = get_context("fork")
        barrier = context.Barrier(sizes.clones)
        with ProcessPoolExecutor(sizes.clones, context, _join, (barrier,)) as pool:
            refs = [f"{DEFAULT_REF}-{number}" for number in range(sizes.races)]
            races = [[*pool.map(partial(_race, ref=ref), clones)] for ref in refs]
        bad = sum(not _is_right(bare, ref, race) for ref, race in zip(refs, races, strict=True))
        pushes = [_push_seconds(clones[0], number) for number in range(min(sizes.races, 20))]
    spent = [seconds for race in races for _, seconds in race]
    return [
        Figure("races", len(races), "races"),
        Figure("clones in a race", sizes.clones, "clones"),
        Figure("races without exactly one winner", bad, "races", judged("0", is_met=not bad)),
        Figure("a claim in a race: median", median(spent) * 1e3, "ms"),
        Figure("a claim in a race: 95th percentile", quantile(spent, 0.95) * 1e3, "ms"),
        Figure("a plain push, alone: median", median(pushes) * 1e3, "ms"),
    ]


def _join(barrier: Barrier) -> None:
    _shared["barrier"] = barrier


def _race(clone: Path, ref: str) -> tuple[bool, float]:
    """Claim the task when all are ready; whether this clone won, and the seconds it took."""
    clock = SystemClock()
    around = Surroundings(clock.now, RandomIds().new, time.sleep, random.random, str)
    memory = ClaimMemory(str(clone / ".git" / "commonhold"), "origin", ref)
    claims = Claims(GitClaims(Git(str(clone)), "origin", ref), memory, around, clone.name)
    _shared["barrier"].wait()
    begun = time.perf_counter()
    with memory.alone():
        found = claims.claim(None, TTL_SECONDS)
    return isinstance(found, Claimed), time.perf_counter() - begun


def _is_right(bare: Path, ref: str, race: Sequence[tuple[bool, float]]) -> bool:
    """Whether one clone won, and the remote has its lock and one claim in its history."""
    lock = _git(bare, "show", f"{ref}:current_tasks/one.lock")
    winners = [f"clone{number}" for number, (has_won, _) in enumerate(race) if has_won]
    made = int(_git(bare, "rev-list", "--count", ref))
    return made == 1 and len(winners) == 1 and f"agent: {winners[0]}\n" in lock


def _remote(root: Path) -> Path:
    bare, seed = root / "origin.git", root / "seed"
    _git(root, "init", "--quiet", "--bare", "-b", "main", str(bare))
    _git(root, "clone", "--quiet", str(bare), str(seed))
    (seed / "tasks" / "pending").mkdir(parents=True)
    (seed / "tasks" / "pending" / "one.yml").write_text("title: The only one\n")
    _git(seed, "add", "--all")
    _git(seed, "commit", "--quiet", "--message", "A task")
    _git(seed, "push", "--quiet", "origin", "HEAD:main")
    return bare


def _clone(bare: Path, folder: Path) -> Path:
    _git(bare.parent, "clone", "--quiet", f"file://{bare}", str(folder))
    return folder


def _push_seconds(clone: Path, number: int) -> float:
    begun = time.perf_counter()
    _git(clone, "push", "--quiet", "origin", f"HEAD:refs/bench/{number}")
    return time.perf_counter() - begun


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *_WHO, *words], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603, S607
    return done.stdout


def main() -> None:
    """Race as often as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.claims", description=__doc__)
    parser.add_argument("--races", type=int, default=Sizes.races)
    parser.add_argument("--clones", type=int, default=Sizes.clones)
    chosen = parser.parse_args()
    report("claims", measure(Sizes(chosen.clones, chosen.races)))


if __name__ == "__main__":
    main()
