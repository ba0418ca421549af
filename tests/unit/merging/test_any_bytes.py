"""Whatever the bytes and whatever their path: an answer, the same in every process, with everything of both sides."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.code.regions.modules import ANY_BYTES
from tests.unit.merging.cases import NAMES, load
from tests.unit.merging.laws import check_laws

from commonhold.merging import merge as merging
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Reason, Unproven

PATHS = st.sampled_from(["a.py", "a.pyi", "CHANGES.md", "docs/history.rst", "a.txt", "Makefile", "a.json", "a.bin", ""])
ROOT = Path(__file__).parents[3]


@given(ANY_BYTES, ANY_BYTES, ANY_BYTES, PATHS)
@examples(1.2)
def test_any_bytes_have_an_answer(base: bytes, ours: bytes, theirs: bytes, path: str) -> None:
    check_laws(base, ours, theirs, path)


@given(st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"d", b"e\n"]), max_size=8), st.data(), PATHS)
@examples(1.5)
def test_lines_that_are_cut_and_pasted_have_an_answer(lines: list[bytes], data: st.DataObject, path: str) -> None:
    def version() -> bytes:
        start = data.draw(st.integers(0, len(lines)))
        end = data.draw(st.integers(start, len(lines)))
        return b"".join([*lines[:start], data.draw(st.sampled_from([b"", b"x\n", b"y\n"])), *lines[end:]])

    check_laws(b"".join(lines), version(), version(), path)


@pytest.mark.parametrize("text", [b"\0", b"a = 1\0\n"])
def test_binary_files_are_refused_and_cannot_be_marked(text: bytes) -> None:
    answer = merge(text, text + b"1", text + b"2", "a.py")
    assert isinstance(answer, Unproven)
    assert [spot.reason for spot in answer.spots] == [Reason.BINARY]
    assert answer.marked is None
    assert list(answer.candidates()) == []


def test_what_is_too_large_to_look_at_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MAX_BYTES", 10)
    answer = merge(b"base\n" * 4, b"ours\n" * 4, b"theirs\n" * 4, "a.txt")
    assert isinstance(answer, Unproven)
    assert [spot.reason for spot in answer.spots] == [Reason.TOO_LARGE]
    assert answer.marked is None


def test_code_that_is_too_large_to_look_into_is_merged_by_lines_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MAX_CODE_BYTES", 10)
    answer = merge(b"a = 1\nb = 1\nc = 1\n", b"a = 2\nb = 1\nc = 1\n", b"a = 1\nb = 1\nc = 3\n", "a.py")
    assert isinstance(answer, Unproven)
    assert [spot.reason for spot in answer.spots] == [Reason.TOO_LARGE]
    assert answer.marked == marks(b"a = 2\n", b"a = 1\n") + b"b = 1\n" + marks(b"c = 1\n", b"c = 3\n")
    assert list(answer.candidates()) == []


def test_code_that_is_nested_too_deeply_is_merged_by_lines_and_refused() -> None:
    deep = b"x = " + b"(" * 5_000 + b"1" + b")" * 5_000 + b"\n"
    answer = merge(deep, deep.replace(b"1", b"2"), deep.replace(b"1", b"3"), "a.py")
    assert isinstance(answer, Unproven)
    assert {spot.reason for spot in answer.spots} >= {Reason.TOO_LARGE}


def test_code_with_a_syntax_error_is_merged_by_lines_and_refused() -> None:
    answer = merge(b"a = 1\nb = 1\nc = (\n", b"a = 2\nb = 1\nc = (\n", b"a = 1\nb = 1\nc = [\n", "a.py")
    assert isinstance(answer, Unproven)
    assert [spot.reason for spot in answer.spots] == [Reason.NOT_SOUND]
    assert answer.marked == marks(b"a = 2\n", b"a = 1\n") + b"b = 1\n" + marks(b"c = (\n", b"c = [\n")


def marks(ours: bytes, theirs: bytes) -> bytes:
    return b"<<<<<<< ours\n" + ours + b"=======\n" + theirs + b">>>>>>> theirs\n"


@pytest.mark.parametrize("path", ["a.txt", "history.rst", "script"])
def test_the_language_does_not_depend_on_the_side(path: str) -> None:
    check_laws(b"", b"#!/usr/bin/python\nx = 1\n", b"words\n", path)


def test_what_both_sides_import_has_one_place_among_others() -> None:
    check_laws(b"run()\n", b"import a\nimport m\nrun()\n", b"import b\nimport m\nrun()\n", "a.py")


def test_a_file_that_both_sides_made_is_refused_where_it_differs() -> None:
    answer = merge(b"", b"def f(): return 1\n", b"def f(): return 2\n", "a.py")
    assert isinstance(answer, Unproven)
    assert {spot.reason for spot in answer.spots} == {Reason.ORDER_MATTERS}


def digest() -> str:
    """What all cases come to, candidates and all, in one word."""
    answers = []
    for name in NAMES:
        case = load(name)
        answer = merge(*case.versions, case.path)
        answers.append(repr(answer))
        if isinstance(answer, Unproven):
            answers.append(repr(list(answer.candidates())))
    return hashlib.sha256("\n".join(answers).encode()).hexdigest()


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_answers_the_same(seed: str) -> None:
    command = [sys.executable, "-c", "from tests.unit.merging.test_any_bytes import digest; print(digest())"]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    told = subprocess.run(
        command, check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    )
    assert told.stdout.strip() == digest()
