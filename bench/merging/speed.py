"""How long a proven merge of about 1,000 lines takes, against `ast.parse` and `compile` of the merged text."""

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.merging.samples import Sample, of_one_function, of_two_functions
from bench.reporting import Figure, at_most, paired_ratio, report
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

ROUNDS = 5


@dataclass(frozen=True)
class Measured:
    """Milliseconds of a merge, of reading the merged text, and their ratio."""

    ours: float
    python: float
    ratio: float


def measure() -> None:
    """Measure edits of two functions, and of one."""
    figures: list[Figure] = []
    for name, samples in (("two functions", of_two_functions()), ("one function", of_one_function())):
        figures += _figures(name, samples)
    report("merging-speed", figures)


def _figures(name: str, samples: Sequence[Sample]) -> list[Figure]:
    found = [measured for each in samples if (measured := _measured(each))]
    figures = [Figure(f"{name}: proven of {len(samples)} files", len(found), "files")]
    if not found:
        return figures
    return [
        *figures,
        Figure(f"{name}: merge", median(each.ours for each in found), "ms"),
        Figure(f"{name}: ast.parse and compile", median(each.python for each in found), "ms"),
        at_most(f"{name}: merge against both", median(each.ratio for each in found), "ratio", 2),
    ]


def _measured(sample: Sample) -> Measured | None:
    answer = merge(sample.base, sample.ours, sample.theirs, sample.name)
    if not isinstance(answer, Proven):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs, ratio = paired_ratio(
            lambda: merge(sample.base, sample.ours, sample.theirs, sample.name),
            lambda: (ast.parse(answer.source), compile(answer.source, sample.name, "exec", dont_inherit=True)),
            ROUNDS,
        )
    return Measured(mine * 1e3, theirs * 1e3, ratio)
