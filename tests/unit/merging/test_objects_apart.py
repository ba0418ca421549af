"""One side writes a part of an object, and the other uses the object at another point of the same function."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Reason, Unproven

# Two points of one function, and whether what the sides put there meets.
BODY = "    {0}a = 1{1}\n@    {0}b = 2{1}\n    {0}c = 3{1}\n%"
APART = {
    "python": ("a.py", "def f(thing, x):\n" + BODY.format("", "") + "    return x\n", ""),
    "javascript": ("a.js", "function f(thing, x) {\n" + BODY.format("let ", ";") + "    return x;\n}\n", ";"),
    "java": (
        "A.java",
        "class A {\n  int f(T thing) {\n" + BODY.format("int ", ";") + "    return 1;\n  }\n}\n",
        ";",
    ),
    "kotlin": ("a.kt", "fun f(thing: T, x: Int): Int {\n" + BODY.format("val ", "") + "    return x\n}\n", ""),
    "swift": ("a.swift", "func f(thing: T, x: Int) -> Int {\n" + BODY.format("let ", "") + "    return x\n}\n", ""),
    "scala": ("a.scala", "object A {\n  def f(thing: T): Int = {\n" + BODY.format("val ", "") + "    c\n  }\n}\n", ""),
    "csharp": (
        "a.cs",
        "class A {\n  int F(T thing) {\n" + BODY.format("int ", ";") + "    return 1;\n  }\n}\n",
        ";",
    ),
}


@pytest.mark.parametrize("language", APART)
@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("thing.size = 1", "thing.go()", Reason.INTERFERES),
        ("thing.size = 1", "keep(thing)", Reason.INTERFERES),
        ("thing.size = 1", "thing.size = 2", Reason.INTERFERES),
        ("thing.size = 1", "thing.name = 2", None),
        ("thing.size = 1", "other.go()", None),
        ("go()", "come()", None),
    ],
)
def test_statements_at_two_points_of_one_function(language: str, one: str, other: str, reason: Reason | None) -> None:
    path, frame, end = APART[language]
    base, mine = (frame.replace("@", new).replace("%", "") for new in ("", f"    {one}{end}\n"))
    theirs = frame.replace("@", "").replace("%", f"    {other}{end}\n")
    answer = merge(base.encode(), mine.encode(), theirs.encode(), path)
    if reason is None:
        assert isinstance(answer, Proven)
    else:
        assert isinstance(answer, Unproven)
        assert {spot.reason for spot in answer.spots} == {reason}
