"""What two sequences have in common."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from commonhold.merging.align import best, common, increasing

LETTERS = st.text("abc", max_size=12)


def longest(left: str, right: str) -> int:
    lengths = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if one == other else max(lengths[i][j + 1], lengths[i + 1][j])
    return lengths[-1][-1]


@given(LETTERS, LETTERS)
def test_what_is_paired_is_equal_and_in_order(left: str, right: str) -> None:
    pairs = common(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))


@given(st.text("ab", max_size=10), st.text("ab", max_size=10))
def test_what_no_unique_element_anchors_is_paired_as_far_as_can_be(left: str, right: str) -> None:
    doubled = left + left, right + right
    assert len(common(*doubled)) == longest(*doubled)


def test_what_differs_in_too_much_is_paired_at_its_ends_alone() -> None:
    left, right = ["first", *"ab" * 400, "last"], ["first", *"cd" * 400, "last"]
    assert common(left, right) == [(0, 0), (801, 801)]


@given(st.permutations(range(7)))
def test_the_longest_increasing_part_is_found(places: list[int]) -> None:
    pairs = list(enumerate(places))
    found = increasing(pairs)
    chains = (
        part for size in range(8) for part in combinations(pairs, size) if [*part] == sorted(part, key=lambda p: p[1])
    )
    assert set(found) <= set(pairs)
    assert found == sorted(found, key=lambda pair: pair[1])
    assert len(found) == max(map(len, chains))


def test_the_best_pairs_have_the_greatest_score_in_sum() -> None:
    scores = {("a", "x"): 1.0, ("a", "y"): 0.6, ("b", "y"): 0.5, ("b", "x"): 1.2}
    assert best("ab", "xy", lambda one, other: scores[one, other]) == [(0, 0), (1, 1)]
    scores["a", "x"] = 0.1
    assert best("ab", "xy", lambda one, other: scores[one, other]) == [(1, 0)]


def test_nothing_is_paired_where_there_are_too_many() -> None:
    assert best([1] * 200, [1] * 101, lambda _one, _other: 1.0) == []
    assert best([], [1], lambda _one, _other: 1.0) == []
