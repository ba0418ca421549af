"""One side declares how to call a function by overloads, the other changes the function itself."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Reason, Unproven

BASE = """import typing


def edit(text, width=1):
    first = 1
    return text


def rest():
    return 1
"""
OVERLOADS = """@typing.overload
def edit(text: int, width: int = 1) -> int: ...


@typing.overload
def edit(text: str, width: int = 1) -> str: ...


"""
OURS = BASE.replace("def edit", f"{OVERLOADS}def edit").replace("return text", "return +text")


def test_the_body_below_new_overloads_is_merged() -> None:
    theirs = BASE.replace("first = 1", "first = 2")
    expected = OURS.replace("first = 1", "first = 2").encode()
    for pair in ((OURS, theirs), (theirs, OURS)):
        answer = merge(BASE.encode(), pair[0].encode(), pair[1].encode(), "a.py")
        assert isinstance(answer, Proven)
        assert answer.source == expected


@pytest.mark.parametrize("head", ["def edit(text, width=1, height=2)", "def edit(text, width=1) -> int"])
def test_new_overloads_of_a_function_whose_head_changed_are_not_proven(head: str) -> None:
    theirs = BASE.replace("def edit(text, width=1)", head)
    for pair in ((OURS, theirs), (theirs, OURS)):
        answer = merge(BASE.encode(), pair[0].encode(), pair[1].encode(), "a.py")
        assert isinstance(answer, Unproven)
        assert Reason.INTERFERES in {each.reason for each in answer.spots}


def test_a_call_that_passes_names_with_two_stars_misplaces_nothing() -> None:
    base = "def build(text, width=1):\n    return text\n\n\ndef rest(more):\n    return more\n"
    ours = base.replace("width=1", "width=1, height=2")
    theirs = base.replace("width=1", "width=1, depth=3")
    for call, is_proven in (("build(1, **more)", True), ("build(1, *more)", False), ("build(1, 2, 3)", False)):
        using = theirs.replace("return more", f"return {call}")
        answer = merge(base.encode(), ours.encode(), using.encode(), "a.py")
        assert isinstance(answer, Proven) is is_proven
