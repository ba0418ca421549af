"""The demo, several times in a row: whether each run ends well, and the work of how many agents is done."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bench.reporting import Figure, at_least, judged

GOALS: Final[Mapping[int, float]] = {3: 2.8, 8: 6.5, 20: 15.0}
"""By how many agents: how many agents' work they should do."""


@dataclass(frozen=True)
class Sizes:
    """`runs` of the demo with each number of agents; `think` in seconds."""

    agents: Sequence[int] = tuple(GOALS)
    runs: int = 3
    edits: int = 12
    think: float = 2.0


QUICK: Final = Sizes((2,), 1, 2, 0.05)


def measure(sizes: Sizes) -> list[Figure]:
    """All figures."""
    return [figure for agents in sizes.agents for figure in _with(agents, sizes)]


def _with(agents: int, sizes: Sizes) -> Iterator[Figure]:
    ran = [_run(agents, sizes) for _ in range(sizes.runs)]
    failed = sum(status != 0 for status, _ in ran)
    policies = [report["policies"] for _, report in ran]
    speeds = {name: [each[name]["speedup_vs_one_agent"] for each in policies] for name in policies[0]}
    label = f"{agents} agents"
    yield Figure(f"{label}: runs", sizes.runs, "runs")
    yield Figure(f"{label}: ended with another exit code than 0", failed, "runs", judged("0", is_met=not failed))
    for name, found in speeds.items():
        if name != "commonhold":
            yield Figure(f"{label}, {name}: times one agent's speed", median(found), "")
    goal = GOALS.get(agents, 0.0)
    yield at_least(f"{label}, commonhold: times one agent's speed", median(speeds["commonhold"]), "", goal)
    yield at_least(f"{label}, commonhold: the slowest run", min(speeds["commonhold"]), "", goal)
    ahead = min(ours / theirs for ours, theirs in zip(speeds["commonhold"], speeds["file"], strict=True))
    yield Figure(f"{label}: against file leases, the worst run", ahead, "ratio", judged("> 1", is_met=ahead > 1))
    for name in speeds:
        missing = sum(each[name]["edits"] - each[name]["applied"] for each in policies)
        lost = sum(each[name]["lost_updates"] for each in policies)
        yield Figure(f"{label}, {name}: edits not applied", missing, "edits")
        yield Figure(f"{label}, {name}: lost updates", lost, "edits")


def _run(agents: int, sizes: Sizes) -> tuple[int, dict[str, Any]]:
    options = ["--agents", str(agents), "--edits", str(sizes.edits), "--think", str(sizes.think)]
    command = [sys.executable, "-m", "commonhold", "demo", "--json", "--plain", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this interpreter
    assert done.stdout, f"the demo gave no report: {done.stderr[-500:]}"
    report: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, report
