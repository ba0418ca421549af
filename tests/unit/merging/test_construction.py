"""A type that one side makes again is not proven beside a change of how it is made, in whatever language."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

# A file, what ours replaces by what, and what theirs puts in at `@`.
MADE = {
    "dataclass": (
        "a.py",
        "§dataclass\nclass P:\n    x: int\n\n\ndef f():\n    return 1\n@",
        ("    x: int\n", "    x: int\n    y: int\n"),
        "\n\ndef g():\n    return P(1)\n",
    ),
    "named tuple": (
        "a.py",
        "class P(NamedTuple):\n    x: int\n\n\ndef f():\n    return 1\n@",
        ("    x: int\n", "    x: int\n    y: int\n"),
        "\n\ndef g():\n    return P(1)\n",
    ),
    "pydantic": (
        "a.py",
        "class P(BaseModel):\n    x: int\n\n\ndef f():\n    return 1\n@",
        ("    x: int\n", "    x: int\n    y: int\n"),
        "\n\ndef g():\n    return P(x=1)\n",
    ),
    "python": (
        "a.py",
        "class P:\n    def __init__(self, x):\n        self.x = x\n\n\ndef f():\n    return 1\n@",
        ("self, x", "self, x, y"),
        "\n\ndef g():\n    return P(1)\n",
    ),
    "java": (
        "A.java",
        "class P {\n    P(int x) {}\n\n    int f() { return 1; }\n@}\n",
        ("int x", "int x, int y"),
        "\n    P g() { return new P(1); }\n",
    ),
    "record": (
        "A.java",
        "record P(int x) {\n    int f() { return 1; }\n@}\n",
        ("int x", "int x, int y"),
        "\n    P g() { return new P(1); }\n",
    ),
    "lombok": (
        "A.java",
        "§AllArgsConstructor\nclass P {\n    int x;\n\n    int f() { return 1; }\n@}\n",
        ("    int x;\n", "    int x;\n    int y;\n"),
        "\n    P g() { return new P(1); }\n",
    ),
    "rust": (
        "a.rs",
        "struct P {\n    x: u8,\n}\n\nfn f() {}\n@",
        ("    x: u8,\n", "    x: u8,\n    y: u8,\n"),
        "\nfn g() {\n    let p = P { x: 1 };\n}\n",
    ),
    "go": (
        "a.go",
        "package p\n\ntype P struct {\n\tX int\n}\n\nfunc f() {}\n@",
        ("\tX int\n", "\tX int\n\tY int\n"),
        "\nfunc g() P {\n\treturn P{1}\n}\n",
    ),
    "typescript": (
        "a.ts",
        "class P {\n  constructor(x: number) {}\n}\n\nfunction f() {}\n@",
        ("x: number", "x: number, y: number"),
        "\nfunction g() {\n  return new P(1);\n}\n",
    ),
    "csharp": (
        "a.cs",
        "class P\n{\n    P(int x) {}\n\n    int F() { return 1; }\n@}\n",
        ("int x", "int x, int y"),
        "\n    P G() { return new P(1); }\n",
    ),
    "kotlin": (
        "a.kt",
        "class P(val x: Int)\n\nfun f() = 1\n@",
        ("val x: Int", "val x: Int, val y: Int"),
        "\nfun g() = P(1)\n",
    ),
    "swift": (
        "a.swift",
        "struct P {\n    var x: Int\n}\n\nfunc f() {}\n@",
        ("    var x: Int\n", "    var x: Int\n    var y: Int\n"),
        "\nfunc g() -> P {\n    return P(x: 1)\n}\n",
    ),
    "scala": (
        "a.scala",
        "case class P(x: Int)\n\nobject O {\n  def f = 1\n@}\n",
        ("x: Int", "x: Int, y: Int"),
        "\n  def g = P(1)\n",
    ),
    "php": (
        "a.php",
        "<?php\nclass P {\n    function __construct($x) {}\n}\n\nfunction f() {}\n@",
        ("$x", "$x, $y"),
        "\nfunction g() {\n    return new P(1);\n}\n",
    ),
    "ruby": (
        "a.rb",
        "class P\n  def initialize(x)\n  end\nend\n\ndef f\n  1\nend\n@",
        ("(x)", "(x, y)"),
        "\ndef g\n  P.new(1)\nend\n",
    ),
    "cpp": (
        "a.cpp",
        "class P {\n    P(int x);\n};\n\nvoid f() {}\n@",
        ("int x", "int x, int y"),
        "\nvoid g() {\n    new P(1);\n}\n",
    ),
}
FREE = {
    "with a default": (
        "a.py",
        "§dataclass\nclass P:\n    x: int\n\n\ndef f():\n    return 1\n@",
        ("    x: int\n", "    x: int\n    y: int = 0\n"),
        "\n\ndef g():\n    return P(1)\n",
    ),
    "fields named": (
        "a.go",
        "package p\n\ntype P struct {\n\tX int\n}\n\nfunc f() {}\n@",
        ("\tX int\n", "\tX int\n\tY int\n"),
        "\nfunc g() P {\n\treturn P{X: 1}\n}\n",
    ),
}


def merged(case: tuple[str, str, tuple[str, str], str]) -> Proven | Unproven:
    path, text, (old, new), added = case
    base, ours, theirs = (
        each.replace("§", "@").encode()
        for each in (text.replace("@", ""), text.replace(old, new).replace("@", ""), text.replace("@", added))
    )
    return merge(base, ours, theirs, path)


@pytest.mark.parametrize("name", MADE)
def test_a_type_made_anew_beside_a_change_of_how_it_is_made_is_not_proven(name: str) -> None:
    answer = merged(MADE[name])
    assert isinstance(answer, Unproven)
    assert any("P" in spot.why for spot in answer.spots)


@pytest.mark.parametrize("name", FREE)
def test_what_can_be_made_as_before_is_proven(name: str) -> None:
    assert isinstance(merged(FREE[name]), Proven)


def test_a_file_outside_of_the_project_is_merged_too() -> None:
    base = b"use std::fmt;\n\nfn a() {}\n"
    ours, theirs = (base.replace(b"fmt;\n", b"fmt;\nuse std::%s;\n" % name) for name in (b"io", b"rc::Rc"))
    assert isinstance(merge(base, ours, theirs, "/elsewhere/a.rs"), Proven)
