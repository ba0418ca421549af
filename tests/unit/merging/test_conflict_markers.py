"""Conflict markers: whole lines, both names, and no larger than need be."""

import subprocess
from pathlib import Path

import pytest
from tests.unit.merging.cases import load

from commonhold.merging.conflict_markers import marked
from commonhold.merging.merge import merge
from commonhold.merging.pieces import Clash, Piece
from commonhold.merging.verdict import Reason, Sides, Spot, Unproven

SIDES = Sides("mine", "yours")


def clash(base: bytes, ours: bytes, theirs: bytes) -> Clash:
    return Clash(base, ours, theirs, Reason.BOTH_CHANGED, "")


def test_a_clash_is_widened_to_whole_lines() -> None:
    pieces: list[Piece] = [b"first\nx = f(", clash(b"1", b"2", b"3"), b")  # why\nlast\n"]
    assert marked(pieces, SIDES) == (
        b"first\n<<<<<<< mine\nx = f(2)  # why\n=======\nx = f(3)  # why\n>>>>>>> yours\nlast\n"
    )


def test_two_clashes_on_one_line_are_one_conflict() -> None:
    pieces: list[Piece] = [b"f(", clash(b"1", b"2", b"3"), b", ", clash(b"4", b"5", b"6"), b")\n"]
    assert marked(pieces, SIDES) == b"<<<<<<< mine\nf(2, 5)\n=======\nf(3, 6)\n>>>>>>> yours\n"


def test_two_clashes_on_two_lines_are_two_conflicts() -> None:
    pieces: list[Piece] = [clash(b"", b"1\n", b"2\n"), b"between\n", clash(b"", b"3\n", b"4\n")]
    assert marked(pieces, SIDES) == (
        b"<<<<<<< mine\n1\n=======\n2\n>>>>>>> yours\nbetween\n<<<<<<< mine\n3\n=======\n4\n>>>>>>> yours\n"
    )


def test_clashes_that_follow_each_other_are_one_conflict() -> None:
    pieces: list[Piece] = [b"a\n", clash(b"", b"1\n", b"2\n"), clash(b"", b"3\n", b"4\n"), b"\nz\n"]
    assert marked(pieces, SIDES) == b"a\n<<<<<<< mine\n1\n3\n=======\n2\n4\n>>>>>>> yours\n\nz\n"
    pieces = [clash(b"", b"\n1", b"\n2"), clash(b"", b"\n3", b"\n4"), b"\nz\n"]
    assert marked(pieces, SIDES) == b"\n<<<<<<< mine\n1\n3\n=======\n2\n4\n>>>>>>> yours\nz\n"


def test_what_begins_with_the_end_of_the_line_before_leaves_that_line_out() -> None:
    pieces: list[Piece] = [b"a = 1", clash(b"", b"\nb = 2", b"\nb = 3"), b"\nc = 4\n"]
    assert marked(pieces, SIDES) == b"a = 1\n<<<<<<< mine\nb = 2\n=======\nb = 3\n>>>>>>> yours\nc = 4\n"
    pieces = [b"1", clash(b"", b"\r\n2", b"\r\n3"), b"\r\n4\r\n"]
    assert marked(pieces, SIDES) == b"1\r\n<<<<<<< mine\r\n2\r\n=======\r\n3\r\n>>>>>>> yours\r\n4\r\n"


def test_a_clash_at_the_start_of_a_file_keeps_its_line_end() -> None:
    pieces: list[Piece] = [clash(b"", b"\n2", b"\n3"), b"\n4\n"]
    assert marked(pieces, SIDES) == b"\n<<<<<<< mine\n2\n=======\n3\n>>>>>>> yours\n4\n"


def test_a_side_that_took_an_entry_out_shows_no_separator_of_it() -> None:
    base = b"w = [\n    1,\n    2,\n]\n"
    answer = merge(base, base.replace(b"    1,\n", b""), base.replace(b"    1", b"    # why\n    1"), "a.py")
    assert isinstance(answer, Unproven)
    assert b"[," not in (answer.marked or b"")


def test_a_side_that_has_nothing_shows_nothing() -> None:
    pieces: list[Piece] = [b"a\n", clash(b"b\n", b"", b"c\n"), b"d\n"]
    assert marked(pieces, SIDES) == b"a\n<<<<<<< mine\n=======\nc\n>>>>>>> yours\nd\n"


def test_the_last_line_gets_an_end_before_a_marker() -> None:
    assert marked([clash(b"", b"1", b"2")], SIDES) == b"<<<<<<< mine\n1\n=======\n2\n>>>>>>> yours\n"
    assert marked([clash(b"", b"1", b"2"), b" end"], SIDES) == b"<<<<<<< mine\n1 end\n=======\n2 end\n>>>>>>> yours\n"


def test_markers_end_as_the_lines_do_and_may_be_longer() -> None:
    pieces: list[Piece] = [clash(b"", b"1\r\n", b"2\r\n")]
    assert marked(pieces, Sides("mine", "yours", 9)) == (
        b"<<<<<<<<< mine\r\n1\r\n=========\r\n2\r\n>>>>>>>>> yours\r\n"
    )


def test_where_a_spot_lies_is_told_in_lines_of_each_version() -> None:
    answer = merge(b"a\nb\nc\n", b"new\na\nours\nc\n", b"a\ntheirs\nmore\nc\n", "a.txt")
    assert isinstance(answer, Unproven)
    why = "both sides changed the same lines of text"
    assert answer.spots == (Spot(Reason.BOTH_CHANGED, why, (1, 2), (2, 3), (1, 3)),)


def conflicting_lines(text: bytes) -> int:
    count, is_inside = 0, False
    for line in text.splitlines():
        is_inside = (is_inside or line.startswith(b"<<<<<<<")) and not line.startswith(b">>>>>>>")
        count += is_inside
    return count


REFUSED = [
    "calls_at_one_point",
    "handlers_at_one_point",
    "methods_of_one_name",
    "branches_at_one_point",
    "early_return",
    "match_cases_at_one_point",
    "one_format_string",
    "tuple_entries",
]


@pytest.mark.parametrize("name", REFUSED)
def test_conflicts_are_no_larger_than_those_of_git(name: str, tmp_path: Path) -> None:
    case = load(name)
    paths = [tmp_path / each for each in ("ours", "base", "theirs")]
    for path, text in zip(paths, (case.ours, case.base, case.theirs), strict=True):
        path.write_bytes(text)
    git = subprocess.run(["git", "merge-file", "-p", *paths], check=False, capture_output=True)
    answer = merge(*case.versions, case.path)
    assert git.returncode > 0
    assert isinstance(answer, Unproven)
    assert answer.marked is not None
    assert 0 < conflicting_lines(answer.marked) <= conflicting_lines(git.stdout)


def test_conflicts_are_smaller_than_those_of_git_where_only_a_part_clashes(tmp_path: Path) -> None:
    base = b"import a\nlimit = 1\nwords = [1]\n"
    ours, theirs = (
        b"import a\nimport b\nlimit = 2\nwords = [1, 2]\n",
        b"import a\nimport c\nlimit = 3\nwords = [1, 3]\n",
    )
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_bytes(text)
    command = ["git", "merge-file", "-p", "ours", "base", "theirs"]
    git = subprocess.run(command, check=False, capture_output=True, cwd=tmp_path)
    answer = merge(base, ours, theirs, "a.py", SIDES)
    assert isinstance(answer, Unproven)
    assert answer.marked == (
        b"import a\nimport b\nimport c\n<<<<<<< mine\nlimit = 2\n=======\nlimit = 3\n>>>>>>> yours\nwords = [1, 2, 3]\n"
    )
    assert conflicting_lines(answer.marked) < conflicting_lines(git.stdout)


@pytest.mark.parametrize("size", [3, 9, 30])
def test_markers_have_the_length_that_is_asked_for_and_what_looks_like_one_is_left_alone(size: int) -> None:
    # Built of letters, since no file here may look as if it were left unmerged.
    lookalikes = b"".join(letter * 7 + b" main: a.*b\n" for letter in (b"<", b"|", b"=", b">"))
    lines = marked([clash(b"0\n", b"1\n", b"2\n"), lookalikes], Sides("main: a.*b", "feature", size)).splitlines()
    assert lines[0] == b"<" * size + b" main: a.*b"
    assert lines[2] == b"=" * size
    assert lines[4] == b">" * size + b" feature"
    assert lines[5:] == lookalikes.splitlines()


def test_a_name_that_cannot_be_spelled_is_no_end() -> None:
    assert b"<<<<<<< m?\n" in marked([clash(b"0\n", b"1\n", b"2\n")], Sides("m\udcff", "yours"))
