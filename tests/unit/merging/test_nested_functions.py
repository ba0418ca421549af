"""A function inside a statement: one side changed what happens in it, the other came to call it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.merging.changed_rows import places_of, rows_with
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Reason, Unproven

SCRIPT = """function tools() {
  return {
    low(n) {
      return check(n);
    },
    filled() {
      return check(1);
    },
  };
}
"""
ENTRIES = """export const tools = {
  low: (n) => check(n),
  filled: () => check(1),
};
"""
FACTORY = """def tools():
    def low(n):
        return check(n)

    def filled():
        return check(1)

    return low, filled
"""
INNER = """def tools():
    class Inner:
        def low(self, n):
            return check(n)

        def filled(self):
            return check(1)

    return Inner
"""
LITERAL = """package tools

var tools = Tools{
	Low:    func(n int) int { return check(n) },
	Filled: func() int { return check(1) },
}
"""
CALLED = {
    "methods of an object, JavaScript": ("file.js", SCRIPT, "this.low(1)"),
    "methods of an object, TypeScript": ("file.ts", SCRIPT, "this.low(1)"),
    "functions as entries, JavaScript": ("file.js", ENTRIES, "tools.low(1)"),
    "functions as entries, TypeScript": ("file.ts", ENTRIES, "tools.low(1)"),
    "functions of a function, Python": ("file.py", FACTORY, "low(1)"),
    "methods of a class in a function, Python": ("file.py", INNER, "self.low(1)"),
    "functions as fields, Go": ("file.go", LITERAL, "tools.Low(1)"),
}


def changed(text: str) -> str:
    return text.replace("check(n)", "check(n + 1)")


@pytest.mark.parametrize("case", CALLED)
def test_a_changed_function_that_the_other_side_newly_calls_is_not_proven(case: str) -> None:
    path, base, call = CALLED[case]
    ours, theirs = changed(base).encode(), base.replace("check(1)", call).encode()
    for sides in ((ours, theirs), (theirs, ours)):
        answer = merge(base.encode(), *sides, path)
        assert isinstance(answer, Unproven)
        assert {each.reason for each in answer.spots} == {Reason.INTERFERES}


@pytest.mark.parametrize("case", CALLED)
def test_two_changed_functions_that_do_not_call_each_other_are_proven(case: str) -> None:
    path, base, _ = CALLED[case]
    ours, theirs = changed(base).encode(), base.replace("check(1)", "check(2)").encode()
    answer = merge(base.encode(), ours, theirs, path)
    assert isinstance(answer, Proven)
    assert b"+ 1" in answer.source
    assert b"check(2)" in answer.source


def test_a_call_from_before_is_no_new_dependence() -> None:
    base = FACTORY.replace("check(1)", "low(1)")
    answer = merge(base.encode(), changed(base).encode(), base.replace("low(1)", "low(2)").encode(), "file.py")
    assert isinstance(answer, Proven)


@given(st.lists(st.sampled_from([b"low", b"lo", b"l", b" ", b".", b"\n", b"\xc3\xa9", b"_1"])).map(b"".join))
def test_words_are_found_where_they_stand_alone(source: bytes) -> None:
    words = {b"low", b"l", b"l.w", b"_1"}
    expected = [each.start() for each in re.finditer(rb"\w+", source) if each[0] in words]
    assert places_of(source, words) == expected
    assert list(rows_with(source, words).rows) == sorted({source.count(b"\n", 0, at) for at in expected})
