"""The laws of a merge, on made-up programs that two sides edited."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.merging.laws import check_candidates, check_laws, check_nothing_lost
from tests.unit.merging.programs import EDITS, PROGRAMS, Lines, compiles, edited, names_of

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

Edits = Sequence[tuple[int, int]]


def versions_of(program: Lines, ours: Edits, theirs: Edits) -> tuple[bytes, bytes, bytes]:
    base, mine, others = program, edited(program, ours, "ours"), edited(program, theirs, "theirs")
    return "".join(base).encode(), "".join(mine).encode(), "".join(others).encode()


@given(PROGRAMS, EDITS, EDITS)
@examples(1.5)
def test_the_laws_hold_and_what_is_proven_has_everything_once(program: Lines, mine: Edits, others: Edits) -> None:
    base, ours, theirs = versions_of(program, mine, others)
    answer = check_laws(base, ours, theirs, "program.py")
    if isinstance(answer, Proven):
        assert compiles(answer.source)
        names = [*names_of("ours", ours), *names_of("theirs", theirs)]
        check_nothing_lost(answer.source, base, ours, theirs, names)


@given(PROGRAMS, EDITS, EDITS)
@examples(0.6)
def test_line_ends_are_kept(program: Lines, mine: Edits, others: Edits) -> None:
    plain = versions_of(program, mine, others)
    answer = merge(*plain, "program.py")
    base, ours, theirs = (text.replace(b"\n", b"\r\n") for text in plain)
    with_returns = merge(base, ours, theirs, "program.py")
    if isinstance(answer, Proven):
        assert with_returns == Proven(answer.source.replace(b"\n", b"\r\n"), answer.notes)
    else:
        assert isinstance(with_returns, Unproven)
        assert answer.marked is not None
        assert with_returns.marked == answer.marked.replace(b"\n", b"\r\n")


@given(program=PROGRAMS, mine=EDITS, others=EDITS, ours_too=st.booleans())
@examples(0.6)
def test_a_file_without_a_last_line_end_gets_none(
    program: Lines, mine: Edits, others: Edits, *, ours_too: bool
) -> None:
    base, ours, theirs = versions_of(program, mine, others)
    base, theirs = base.rstrip(b"\n"), theirs.rstrip(b"\n")
    ours = ours.rstrip(b"\n") if ours_too else ours
    answer = check_laws(base, ours, theirs, "program.py")
    if isinstance(answer, Proven) and ours_too:
        assert not answer.source.endswith(b"\n")


@given(
    PROGRAMS,
    EDITS,
    EDITS,
    st.sampled_from([b"\xef\xbb\xbf", b"# coding: latin-1\nnote = '\xe9'\n", b"#!/bin/python\n"]),
)
@examples(0.6)
def test_what_a_file_begins_with_is_kept(program: Lines, mine: Edits, others: Edits, head: bytes) -> None:
    base, ours, theirs = (head + text for text in versions_of(program, mine, others))
    answer = merge(base, ours, theirs, "program.py")
    if isinstance(answer, Proven):
        assert answer.source.startswith(head)
        assert answer.source.count(head) == 1
        assert compiles(answer.source)


@given(PROGRAMS, EDITS, EDITS)
@examples(0.4)
def test_candidates_are_few_and_past_the_gate(program: Lines, mine: Edits, others: Edits) -> None:
    base, ours, theirs = versions_of(program, mine, others)
    answer = merge(base, ours, theirs, "program.py")
    if isinstance(answer, Unproven):
        check_candidates(answer, base, ours, theirs, "program.py")
