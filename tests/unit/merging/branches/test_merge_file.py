"""One file: proven, verified or refused; how candidates are tried, and how few."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.merging.branches.candidate_verification import Failed, Passed, Trial, try_choices
from commonhold.merging.branches.merge_file import after, merge_file
from commonhold.merging.branches.verification import CheckResult
from commonhold.merging.verdict import Candidate, Proven, Reason, Sides, Spot, Unproven, Verdict

SPOT = Spot(Reason.BOTH_CHANGED, "both", (1, 2), (1, 3), (1, 4))
FOUR, FIVE = b"LIMIT = 4\n", b"LIMIT = 5\n"


class Judge:
    """A check that passes what it is told to, and remembers what it saw and how long it was given."""

    name = "judge"

    def __init__(self, is_right: Callable[[Mapping[str, bytes]], bool]) -> None:
        self.is_right = is_right
        self.seen: list[Mapping[str, bytes]] = []
        self.given: list[float] = []

    def passes(self, contents: Mapping[str, bytes | None], timeout_seconds: float) -> CheckResult:
        there = {path: content for path, content in contents.items() if content is not None}
        self.seen.append(there)
        self.given.append(timeout_seconds)
        return CheckResult(self.is_right(there), f"looked at {len(self.seen)}")


def trial(judge: Judge, most: int = 24, seconds: float = 300.0, step: float = 0.0) -> Trial:
    """A trial whose clock goes on by `step` seconds each time that it is looked at."""
    ticks = count()
    return Trial(judge, lambda: next(ticks) * step, most, seconds)


def candidates(*sources: bytes) -> Callable[[], Iterator[Candidate]]:
    return lambda: (Candidate(source, f"as {source!r}") for source in sources)


def doubtful(*sources: bytes) -> Callable[..., Unproven]:
    return lambda *_: Unproven((SPOT,), b"marked", candidates(*sources))


def never_asked(_: Mapping[str, bytes]) -> bool:
    pytest.fail("what is proven, or has no candidate, needs no check")


def test_what_one_side_changed_is_proven_without_a_check() -> None:
    merged = merge_file(b"x = 1\n", b"x = 2\n", b"x = 1\n", "a.py", trial=trial(Judge(never_asked)))
    assert (merged.verdict, merged.source, merged.trial) == (Verdict.PROVEN, b"x = 2\n", None)


def test_two_literals_for_one_are_refused_with_both_sides_names() -> None:
    merged = merge_file(b"LIMIT = 3\n", FOUR, FIVE, "a.py", sides=Sides("mine", "yours"))
    assert (merged.verdict, merged.source, merged.trial) == (Verdict.REFUSED, None, None)
    assert merged.spots
    assert merged.marked is not None
    assert all(part in merged.marked for part in (b"<<<<<<< mine", FOUR, FIVE, b">>>>>>> yours"))


def test_notes_are_handed_on() -> None:
    merged = merge_file(b"", b"1", b"2", "a.py", merge=lambda *_: Proven(b"12", ("joined",)))
    assert (merged.notes, merged.how) == (("joined",), "")


def test_without_a_check_no_candidate_is_chosen() -> None:
    merged = merge_file(b"", b"1", b"2", "a.py", merge=doubtful(b"12", b"21"))
    assert (merged.verdict, merged.source, merged.marked) == (Verdict.REFUSED, None, b"marked")


def test_the_first_that_passes_is_chosen_and_none_after_it_is_tried() -> None:
    judge = Judge(lambda contents: contents["a.py"] in (b"21", b"22"))
    merged = merge_file(b"", b"1", b"2", "a.py", trial=trial(judge), merge=doubtful(b"12", b"21", b"22"))
    assert (merged.verdict, merged.source, merged.how) == (Verdict.VERIFIED, b"21", "as b'21'")
    assert merged.spots == (SPOT,)
    assert isinstance(merged.trial, Passed)
    assert (merged.trial.check, merged.trial.tried) == ("judge", 2)
    assert judge.seen == [{"a.py": b"12"}, {"a.py": b"21"}]


def test_where_none_passes_the_refusal_says_so_and_what_was_printed_about_the_likeliest() -> None:
    judge = Judge(lambda _: False)
    merged = merge_file(b"", b"1", b"2", "a.py", trial=trial(judge), merge=doubtful(b"12", b"21"))
    assert (merged.verdict, merged.marked) == (Verdict.REFUSED, b"marked")
    assert isinstance(merged.trial, Failed)
    assert (merged.trial.tried, merged.trial.tail) == (2, "looked at 1")
    assert "2 candidates failed" in merged.trial.why


def test_without_candidates_the_check_is_not_run() -> None:
    merged = merge_file(b"", b"1", b"2", "a.py", trial=trial(Judge(never_asked)), merge=doubtful())
    assert isinstance(merged.trial, Failed)
    assert "no candidate" in merged.trial.why


def test_the_same_text_is_tried_once() -> None:
    judge = Judge(lambda _: False)
    merge_file(b"", b"1", b"2", "a.py", trial=trial(judge), merge=doubtful(b"12", b"12", b"21"))
    assert [each["a.py"] for each in judge.seen] == [b"12", b"21"]


def test_no_more_are_tried_than_allowed() -> None:
    judge = Judge(lambda contents: contents["a.py"] == b"9")
    sources = [str(number).encode() for number in range(10)]
    merged = merge_file(b"", b"", b"", "a.py", trial=trial(judge, most=9), merge=doubtful(*sources))
    assert merged.verdict is Verdict.REFUSED
    assert len(judge.seen) == 9


def test_endless_candidates_end() -> None:
    judge = Judge(lambda _: False)
    endless = Unproven((SPOT,), None, lambda: (Candidate(str(n).encode(), "") for n in count()))
    assert merge_file(b"", b"1", b"2", "a", trial=trial(judge, most=5), merge=lambda *_: endless).source is None
    assert len(judge.seen) == 5


def test_each_try_is_given_the_time_that_is_left_and_then_it_is_over() -> None:
    judge = Judge(lambda _: False)
    merged = merge_file(
        b"", b"1", b"2", "a.py", trial=trial(judge, seconds=10, step=4), merge=doubtful(b"1", b"2", b"3", b"4")
    )
    assert judge.given == [6, 2]
    assert isinstance(merged.trial, Failed)
    assert "time" in merged.trial.why


def test_settled_files_are_there_for_the_check() -> None:
    judge = Judge(lambda _: True)
    found = try_choices({"a": candidates(b"1")}, {"b": b"2"}, trial(judge))
    assert isinstance(found, Passed)
    assert judge.seen == [{"a": b"1", "b": b"2"}]


@pytest.mark.parametrize("is_right", [True, False])
def test_what_is_all_settled_has_to_pass_as_it_is(*, is_right: bool) -> None:
    judge = Judge(lambda _: is_right)
    found = try_choices({}, {"b": b"2"}, trial(judge))
    assert isinstance(found, Passed if is_right else Failed)
    assert len(judge.seen) == 1


def test_a_candidate_can_be_put_before_the_others() -> None:
    assert [each.source for each in after(Candidate(b"0", ""), candidates(b"1"))()] == [b"0", b"1"]
    assert [each.source for each in after(None, candidates(b"1"))()] == [b"1"]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_all_choices_are_tried_once_the_likeliest_first(sizes: list[int]) -> None:
    judge = Judge(lambda _: False)
    files = {str(at): candidates(*(bytes([rank]) for rank in range(size))) for at, size in enumerate(sizes)}
    try_choices(files, {}, trial(judge, most=1000))
    ranks = [tuple(content[0] for content in each.values()) for each in judge.seen]
    assert sorted(ranks) == sorted(product(*map(range, sizes)))
    assert [sum(each) for each in ranks] == sorted(map(sum, ranks))


def test_many_files_with_candidates_do_not_take_for_ever() -> None:
    judge = Judge(lambda contents: contents["7"] == b"2")
    files = {str(at): candidates(*(b"%d" % rank for rank in range(1, 20))) for at in range(300)}
    found = try_choices(files, {}, trial(judge, most=400))
    assert isinstance(found, Passed)
    assert [path for path, each in found.choice.items() if each.source != b"1"] == ["7"]


def test_the_order_of_files_makes_no_difference_to_what_is_found() -> None:
    right = {"a": b"2", "b": b"1", "c": b"2"}
    for order in permutations(right):
        files = {name: candidates(b"1", b"2") for name in order}
        found = try_choices(files, {}, trial(Judge(right.__eq__)))
        assert isinstance(found, Passed)
        assert {path: each.source for path, each in found.choice.items()} == right
