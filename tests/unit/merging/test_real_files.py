"""The laws of a merge, on modules of the standard library that two sides edited near each other."""

import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.merging.laws import check_candidates, check_laws, check_nothing_lost
from tests.unit.merging.programs import EDITS, compiles, edited, names_of

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

SMALLEST, LARGEST = 500, 12_000
NEAR = 12


@cache
def modules() -> Sequence[bytes]:
    found = (path.read_bytes() for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")))
    return [text for text in found if SMALLEST <= len(text) <= LARGEST and text.isascii()]


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    source = draw(st.sampled_from(modules()))
    lines = tuple(source.decode().splitlines(keepends=True))
    start = draw(st.integers(0, len(lines) - 1))
    near, around = lines[start : start + NEAR], (lines[:start], lines[start + NEAR :])
    ours, theirs = ("".join(edited(near, draw(EDITS), tag, around)).encode() for tag in ("ours", "theirs"))
    return source, ours, theirs


def test_there_are_real_files() -> None:
    assert len(modules()) >= 20


@given(versions())
@examples(0.4)
def test_the_laws_hold_on_real_files(edits: tuple[bytes, bytes, bytes]) -> None:
    base, ours, theirs = edits
    answer = check_laws(base, ours, theirs, "module.py")
    if isinstance(answer, Proven):
        assert compiles(answer.source)
        names = [*names_of("ours", ours), *names_of("theirs", theirs)]
        check_nothing_lost(answer.source, base, ours, theirs, names)


@given(versions())
@examples(0.12)
def test_candidates_for_real_files_are_few_and_past_the_gate(edits: tuple[bytes, bytes, bytes]) -> None:
    answer = merge(*edits, "module.py")
    if isinstance(answer, Unproven):
        check_candidates(answer, *edits, "module.py")
