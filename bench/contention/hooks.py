"""Deciding of a hook before an edit, the daemon warm, in a repository of 20,000 files."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench import hooks
from bench.git import record
from bench.reporting import Figure, at_most, quantile

IN_A_FOLDER: Final = 100
SOURCE: Final = "def f{0}(value: int) -> int:\n    return value + {0}\n\n\nclass C{0}:\n    size = {0}\n"


@dataclass(frozen=True)
class Sizes:
    """How many files there are, and how many edits are decided on."""

    files: int = 20_000
    edits: int = hooks.EDITS


QUICK: Final = Sizes(100, 5)


def measure(sizes: Sizes) -> list[Figure]:
    """All figures."""
    with hooks.served(lambda folder: _fill(folder, sizes.files)) as (folder, chosen):
        spent = hooks.deciding(folder, chosen, sizes.edits)
    return [
        Figure("files", sizes.files, "files"),
        at_most("hook before an edit, over HTTP: median", median(spent) * 1e3, "ms", 10),
        Figure("hook before an edit, over HTTP: p99", quantile(spent, 0.99) * 1e3, "ms"),
    ]


def _fill(folder: Path, files: int) -> None:
    for number in range(files):
        place = folder / f"pkg{number // IN_A_FOLDER}"
        place.mkdir(exist_ok=True)
        (place / f"m{number}.py").write_text(SOURCE.format(number))
    record(folder)
