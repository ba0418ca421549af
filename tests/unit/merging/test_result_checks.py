"""What the gate lets through, and what it finds."""

import pytest
from tests.unit.merging.elements import element

from commonhold.merging.result_checks import doubled_names, fault_in, miscounted
from commonhold.merging.verdict import Reason

BASE, OURS, THEIRS = b"a = 1\nb = 1\nc = 1\n", b"a = 2\nb = 1\nc = 1\n", b"a = 1\nb = 1\nc = 3\n"
VERSIONS = BASE, OURS, THEIRS
MERGED = b"a = 2\nb = 1\nc = 3\n"


def test_a_merge_that_has_both_edits_passes() -> None:
    assert miscounted(MERGED, VERSIONS) == []
    assert fault_in(MERGED, VERSIONS, "a.py") is None


@pytest.mark.parametrize(
    ("merged", "wrong"),
    [
        (b"a = 2\nb = 1\nc = 1\n", [b"3"]),
        (b"a = 2\nc = 3\n", [b"1", b"b"]),
        (b"a = 2\na = 2\nb = 1\nc = 3\n", [b"2", b"a"]),
        (b"a = 2\nb = 1\nc = 3\nd = 4\n", [b"4", b"d"]),
        (b"a = 2\nb = 1\nc = 3\nb = 1\n", [b"b"]),
        (BASE, [b"1", b"2", b"3"]),
    ],
    ids=["an edit lost", "a line lost", "an edit doubled", "a line made up", "a line doubled", "nothing merged"],
)
def test_what_is_lost_or_doubled_is_counted(merged: bytes, wrong: list[bytes]) -> None:
    assert miscounted(merged, VERSIONS) == wrong
    fault = fault_in(merged, VERSIONS, "a.py")
    assert fault is not None
    assert fault.reason is Reason.GATE
    assert "lose or repeat" in fault.why


def test_the_same_edit_of_both_sides_may_stand_once_or_twice() -> None:
    versions = b"a\n", b"a\nb\n", b"b\na\n"
    assert miscounted(b"a\nb\n", versions) == miscounted(b"b\na\nb\n", versions) == []
    assert miscounted(b"a\n", versions) == miscounted(b"b\nb\na\nb\n", versions) == [b"b"]


def test_commas_may_come_and_go() -> None:
    assert (
        miscounted(b"f(\n  a,\n  b,\n  c,\n)\n", (b"f(\n  a\n)\n", b"f(\n  a,\n  b\n)\n", b"f(\n  a,\n  c\n)\n")) == []
    )


def test_a_move_is_no_loss() -> None:
    assert miscounted(b"b\nc\na\nd\n", (b"a\nb\nc\n", b"b\nc\na\n", b"a\nb\nc\nd\n")) == []


@pytest.mark.parametrize("merged", [b"a = 2\nb = (1\nc = 3\n", b"a = 2\n b = 1\nc = 3\n", b"return\n"])
def test_what_is_not_sound_is_named(merged: bytes) -> None:
    fault = fault_in(merged, VERSIONS, "a.py")
    assert fault is not None
    assert fault.reason is Reason.GATE
    assert "not be sound" in fault.why


def test_a_merge_may_have_the_fault_that_a_side_has() -> None:
    broken = tuple(text.replace(b"b", b"b(") for text in VERSIONS)
    assert fault_in(MERGED.replace(b"b", b"b("), (broken[0], broken[1], broken[2]), "a.py") is None


@pytest.mark.parametrize(
    ("merged", "versions", "names"),
    [
        ("def f(): ...\ndef f(): ...\n", ["def f(): ...\n"] * 3, [b"f"]),
        ("def f(): ...\ndef f(): ...\n", ["def f(): ...\ndef f(): ...\n", "def f(): ...\n", ""], []),
        ("class A:\n    def f(self): ...\n    def f(self): ...\n", ["class A:\n    def f(self): ...\n"] * 3, [b"A.f"]),
        (
            "class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\n",
            ["class A:\n    def f(self): ...\n"] * 3,
            [],
        ),
        ("def f():\n    def g(): ...\n    def g(): ...\n", ["def f():\n    def g(): ...\n"] * 3, []),
        ("@a\ndef f(): ...\n@b\ndef f(): ...\n", ["@a\ndef f(): ...\n", "@b\ndef f(): ...\n", ""], [b"f"]),
    ],
    ids=["in a module", "as before", "in a class", "in two classes", "in a function", "decorated"],
)
def test_a_name_that_is_defined_more_often_than_in_any_version(
    merged: str, versions: list[str], names: list[bytes]
) -> None:
    assert doubled_names(element(merged), [element(each) for each in versions]) == names
