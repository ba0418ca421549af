"""One side changes the fields of a type, and the other gives or takes them by their places."""

from dataclasses import dataclass

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

Change = tuple[str, str]


@dataclass(frozen=True)
class Program:
    """A file with a type, and two functions behind it; `swapped` exchanges the first two fields of the type."""

    path: str
    text: str
    swapped: Change

    def with_(self, change: Change) -> bytes:
        assert self.text.count(change[0]) == 1, change
        return self.text.replace(*change).encode()

    def is_proven(self, changed: Change, counting: Change) -> bool:
        versions = (self.with_(changed), self.with_(counting))
        found = {type(merge(self.text.encode(), *sides, self.path)) for sides in (versions, versions[::-1])}
        assert len(found) == 1
        return found == {Proven}


KOTLIN = Program(
    "a.kt",
    "data class P(val x: Int, val y: Int)\n\nfun use(p: P): Int {\n    return p.x\n}\n\n"
    "fun other(p: P): Int {\n    return 1\n}\n",
    ("val x: Int, val y: Int", "val y: Int, val x: Int"),
)
CPP = Program(
    "a.cpp",
    "struct P {\n    int x;\n    int y;\n};\n\nint take(P p);\n\nint use() {\n    return 2;\n}\n\n"
    "int other() {\n    return 1;\n}\n",
    ("    int x;\n    int y;\n", "    int y;\n    int x;\n"),
)
GO = Program(
    "a.go",
    "package a\n\ntype P struct {\n\tX int\n\tY int\n}\n\nfunc use() int {\n\treturn 2\n}\n\n"
    "func other() int {\n\treturn 1\n}\n",
    ("\tX int\n\tY int\n", "\tY int\n\tX int\n"),
)
DATACLASS = Program(
    "a.py",
    "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n    y: int\n\n\n"
    "def use(p):\n    return p.x\n\n\ndef other(p):\n    return 1\n",
    ("    x: int\n    y: int\n", "    y: int\n    x: int\n"),
)
MATCHED = Program(
    "a.py",
    'class P:\n    __match_args__ = ("x", "y")\n\n\ndef use(p):\n    return p.x\n\n\ndef other(p):\n    return 1\n',
    ('("x", "y")', '("y", "x")'),
)
TUPLE = Program(
    "a.py",
    "import typing\n\n\nclass P(typing.NamedTuple):\n    x: int\n    y: int\n\n\n"
    "def use(p):\n    return p.x\n\n\ndef other(p):\n    return 1\n",
    ("    x: int\n    y: int\n", "    y: int\n    x: int\n"),
)
CSHARP = Program(
    "a.cs",
    "record P(int X, int Y);\n\nclass A {\n    int Use(P p) {\n        return p.X;\n    }\n\n"
    "    int Other(P p) {\n        return 1;\n    }\n}\n",
    ("int X, int Y", "int Y, int X"),
)
JAVA = Program(
    "A.java",
    "record P(int x, int y) {}\n\nclass A {\n    int use(P p) {\n        return p.x();\n    }\n\n"
    "    int other(Object p) {\n        return 1;\n    }\n}\n",
    ("int x, int y", "int y, int x"),
)
SWIFT = Program(
    "a.swift",
    "typealias P = (x: Int, y: Int)\n\nfunc use(_ p: P) -> Int {\n    return p.x\n}\n\n"
    "func other(_ p: P) -> Int {\n    return 1\n}\n",
    ("(x: Int, y: Int)", "(y: Int, x: Int)"),
)
CASES = Program(
    "a.swift",
    "enum P {\n    case a(Int, String)\n    case b\n}\n\nfunc use(_ p: P) -> Int {\n    return 0\n}\n\n"
    "func other(_ p: P) -> Int {\n    return 1\n}\n",
    ("Int, String", "String, Int"),
)
RUBY = Program(
    "a.rb",
    "P = Struct.new(:x, :y)\n\ndef use(p)\n  p.x\nend\n\ndef other(p)\n  1\nend\n",
    (":x, :y", ":y, :x"),
)
COUNTING = [
    (KOTLIN, ("return 1", "val (a, b) = p\n    return a - b")),
    (KOTLIN, ("return p.x", "for ((a, b) in listOf(p)) println(a - b)\n    return 0")),
    (KOTLIN, ("return 1", "return listOf(p).sumOf { (a, b) -> a - b }")),
    (CPP, ("int other() {\n    return 1;", "P other() {\n    return {3, 4};")),
    (CPP, ("return 1;", "return take({3, 4});")),
    (CPP, ("return 1;", "P p = {3};\n    return p.x;")),
    (CPP, ("return 1;", "P p{.x = 1, .y = 2};\n    return p.x;")),
    (CPP, ("return 1;", "auto [a, b] = P();\n    return a;")),
    (GO, ("return 1", "ps := []P{{3, 4}}\n\treturn ps[0].X")),
    (GO, ("return 1", 'ps := map[string]P{"a": {3, 4}}\n\treturn ps["a"].X')),
    (DATACLASS, ("return 1", "match p:\n        case P(a, b):\n            return a - b\n    return 1")),
    (DATACLASS, ("return 1", "match p:\n        case P(a):\n            return a\n    return 1")),
    (MATCHED, ("return 1", "match p:\n        case P(a, b):\n            return a - b\n    return 1")),
    (TUPLE, ("return 1", "a, b = p\n    return a - b")),
    (TUPLE, ("return 1", "for a, b in [p]:\n        return a - b")),
    (CSHARP, ("return 1;", "var (a, b) = p;\n        return a - b;")),
    (CSHARP, ("return 1;", "return p is P(1, 2) ? 1 : 0;")),
    (JAVA, ("return 1;", "if (p instanceof P(int a, int b)) return a - b;\n        return 1;")),
    (SWIFT, ("return 1", "let (a, b) = p\n    return a - b")),
    (CASES, ("return 1", "if case .a(let a, let b) = p { return a + b.count }\n    return 1")),
    (CASES, ("return 1", "if case let .a(a, b) = p { return a + b.count }\n    return 1")),
    (RUBY, ("  1\n", "  a, b = *p\n  a - b\n")),
]
APART = [
    (KOTLIN, ("val x: Int, val y: Int", "val x: Int, val y: Int, val z: Int = 0"), COUNTING[0][1]),
    (KOTLIN, KOTLIN.swapped, ("return 1", "val a = 2\n    return a")),
    (CPP, ("    int y;\n", "    int y;\n    int z = 0;\n"), ("return 1;", "return take({3});")),
    (GO, GO.swapped, ("return 1", "ps := []P{{X: 3, Y: 4}}\n\treturn ps[0].X")),
    (GO, GO.swapped, ("return 1", "ps := []int{3, 4}\n\treturn ps[0]")),
    (DATACLASS, DATACLASS.swapped, ("return 1", "a, b = 1, 2\n    return a")),
    (TUPLE, TUPLE.swapped, ("return 1", "a, b, c = p, p, p\n    return a")),
    (SWIFT, SWIFT.swapped, ("return 1", "let a = 1\n    return a")),
]


@pytest.mark.parametrize(("program", "counting"), COUNTING, ids=range(len(COUNTING)))
def test_places_that_the_other_side_exchanged_are_not_counted_on(program: Program, counting: Change) -> None:
    assert not program.is_proven(program.swapped, counting)


@pytest.mark.parametrize(("program", "changed", "counting"), APART, ids=range(len(APART)))
def test_a_change_that_moves_no_counted_field_is_joined(program: Program, changed: Change, counting: Change) -> None:
    assert program.is_proven(changed, counting)
