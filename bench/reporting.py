"""How a bench says what it saw."""

import json
import math
import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

FOLDER = Path("build/bench")


@dataclass(frozen=True)
class Figure:
    """One measured value; `goal` says in words what it should be."""

    name: str
    value: float
    unit: str
    goal: str = ""


def report(name: str, figures: Sequence[Figure]) -> None:
    """Print a table and write `build/bench/NAME.json`: the figures, and when and on what they were measured."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    result = {"measured": circumstances(), "figures": [asdict(each) for each in figures]}
    (FOLDER / f"{name}.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    width = max(len(each.name) for each in figures)
    print(f"\n{name}")
    for each in figures:
        print(f"  {each.name:<{width}}  {each.value:>10.3f} {each.unit:<12} {each.goal}")


def circumstances() -> dict[str, str | int]:
    """Today, the commit that is measured ("-dirty": with changes that are in none), the cores, and Python's version."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    described = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)  # noqa: S603 - git
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": described.stdout.strip() or "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }


def at_least(name: str, value: float, unit: str, limit: float) -> Figure:
    """A figure that should be `limit` or more; its goal says whether it is."""
    return Figure(name, value, unit, judged(f"≥ {limit:g}", is_met=value >= limit))


def at_most(name: str, value: float, unit: str, limit: float) -> Figure:
    """A figure that should be `limit` or less; its goal says whether it is."""
    return Figure(name, value, unit, judged(f"≤ {limit:g}", is_met=value <= limit))


def judged(goal: str, *, is_met: bool) -> str:
    """The goal, and whether it is met."""
    return f"{goal}: {'met' if is_met else 'missed'}"


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all values (0.99: 99 %) do not exceed. Raises ValueError where there is none."""
    if not values:
        raise ValueError("nothing was measured")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes once."""
    start = perf_counter()
    work()
    return perf_counter() - start


def paired_ratio(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    """(median seconds of ours, of theirs, median of ours / theirs), measured in turn so that noise hits both."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return (
        median(mine for mine, _ in pairs),
        median(other for _, other in pairs),
        median(mine / other for mine, other in pairs),
    )
