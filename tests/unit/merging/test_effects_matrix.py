"""Two statements that the sides add at one point of a body: every kind beside every kind, in every language.

`make test` takes every third pair, others in each language; `make stress` takes all.
"""

from itertools import combinations_with_replacement

import pytest
from tests.effort import is_stress
from tests.unit.merging.statements import KINDS, SAMPLES, Sample

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

ONE, OTHER = "alpha", "omega"
APART = 3


def cells(kind: str, name: str) -> tuple[set[str], set[str]]:
    """What a statement of a kind reads and changes."""
    reads, changes = KINDS[kind]
    return {*reads.replace("%", name).split()}, {*changes.replace("%", name).split()}


def meet(some: set[str], others: set[str]) -> bool:
    """Whether two sets share a cell; `all` are the cells that are no variables of the function."""
    return bool(some & others) or any(
        "all" in first and any("." in each or "[" in each for each in second)
        for first, second in ((some, others), (others, some))
    )


def commute(kind: str, other: str) -> bool:
    """The right answer, by the table: whether nobody can see in which order two statements are run."""
    (reads, changes), (others_read, others_change) = cells(kind, ONE), cells(other, OTHER)
    if "leave" in changes | others_change:
        return "comment" in (kind, other)
    return not (meet(changes, others_read | others_change) or meet(others_change, reads))


def outcome(sample: Sample, kind: str, other: str) -> bool:
    first, second = (
        sample.frame.replace("@", f"    {sample.statements[each].replace('%', name)}\n")
        for each, name in ((kind, ONE), (other, OTHER))
    )
    base = sample.frame.replace("@", "").encode()
    answer = merge(base, first.encode(), second.encode(), sample.path)
    assert isinstance(merge(base, second.encode(), first.encode(), sample.path), Proven) is isinstance(answer, Proven)
    return isinstance(answer, Proven)


def is_chosen(language: str, *pair: str) -> bool:
    """Whether a pair is one of those that are tried: of every kind some in each language."""
    places = [[*KINDS].index(kind) for kind in pair]
    return is_stress() or (sum(places) + [*SAMPLES].index(language)) % APART == 0


@pytest.mark.parametrize("language", SAMPLES)
def test_statements_at_one_point_are_joined_if_nobody_can_see_their_order(language: str) -> None:
    sample = SAMPLES[language]
    pairs = [pair for pair in combinations_with_replacement(sample.statements, 2) if is_chosen(language, *pair)]
    assert {kind for pair in pairs for kind in pair} == set(sample.statements)
    wrong = {
        f"{kind} beside {other}": "joined" if found else "refused"
        for kind, other in pairs
        if (found := outcome(sample, kind, other)) is not commute(kind, other)
    }
    assert not wrong
