"""Names that are there without a region of their own are never taken for new."""

import pytest

from commonhold.code.regions.discover import discover
from commonhold.code.regions.find import find, lost, reserve
from commonhold.kernel.errors import InputError
from commonhold.kernel.keys import parse

NEW = "new"
TOGETHER = {
    "a.py": (
        "import a, b.c\nfrom m import d as e, f\nx = y = 1\n(p, q), *r = z\nn: int\ndef h(i): j = 1\nk(w=1)\n",
        {"a": "@header", "b": "@header", "c": NEW, "d": NEW, "e": "@header", "f": "@header", "m": NEW, "x": "@header"}
        | {"y": "@header", "p": "@header", "q": "@header", "r": "@header", "z": NEW, "n": "@header", "i": NEW, "j": NEW}
        | {"w": NEW, "k": NEW, "h": "h"},
    ),
    "members.py": (
        "class C:\n    x = y = 1\n    def m(self): z = 1\n",
        {"C.x": "C.@header", "C.y": "C.@header", "y": NEW, "C.z": NEW},
    ),
    "a.js": (
        (
            "import m, {a as b, c} from 'm';\n"
            "const f = () => { let i; return 1 }, g = (j) => { return 2 };\nlet x = 1, {y, z: w} = v;\n"
        ),
        {
            "f": "f",
            "g": "f",
            "i": NEW,
            "j": NEW,
            "x": "@header",
            "y": "@header",
            "m": "@header",
            "a": NEW,
            "b": "@header",
        }
        | {"c": "@header", "v": NEW, "w": "@header", "z": NEW},
    ),
    "line.js": ("function a() { var x; } function b() {}\n", {"a": "@header", "b": "@header", "x": NEW}),
    "a.ts": (
        "export const f = () => { return 1 }, g = (x: number) => { return 2 };\n",
        {"f": "f", "g": "f", "x": NEW},
    ),
    "a.go": (
        (
            "package a\n\nvar (\n\tx = 1\n\ty = 2\n)\n\nconst A, B = 1, 2\n\n"
            "var T struct{ p, q int }\n\ntype U struct {\n\tr, s int\n}\n"
        ),
        {
            "x": "@header",
            "y": "@header",
            "A": "@header",
            "B": "@header",
            "p": NEW,
            "U.r": "U.@header",
            "U.s": "U.@header",
        },
    ),
    "a.c": (
        "int x, *y, z[2];\nstruct A {\n    int a, b;\n} p, *q;\nint f(int i), g(void);\n",
        {"x": "@header", "y": "@header", "z": "@header", "p": "A", "q": "A", "a": NEW, "A.a": "A.@header"}
        | {"A.b": "A.@header", "f": "@header", "g": "@header", "i": NEW},
    ),
    "A.java": ("class A {\n    int x, y = z;\n}\n", {"A.x": "A.@header", "A.y": "A.@header", "x": NEW, "A.z": NEW}),
    "a.cs": ("class A {\n    int x, y;\n}\n", {"A.x": "A.@header", "A.y": "A.@header"}),
    "a.rs": ("use a::{b, c as d};\nstatic X: i32 = 1;\n", {"b": "@header", "c": NEW, "d": "@header", "X": "@header"}),
    "a.kt": ("val (a, b) = pair\nval c = 1\n", {"a": "@header", "b": "@header", "c": "@header", "pair": NEW}),
    "a.swift": ("var x = 1, y = 2\n", {"x": "@header", "y": "@header"}),
    "a.php": (
        "<?php\nconst A = 1, B = 2;\nclass C {\n    public $a = 1, $b = 2;\n}\n",
        {"A": "@header", "B": "@header", "C.a": "C.@header", "C.b": "C.@header"},
    ),
}


def reserved(path: str, text: str, name: str) -> str:
    source = discover(text.encode(), path)
    key = reserve(source, parse(f"{path}#{name}").key().names)
    return key.qualname if key in source.by_key else NEW


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, (_, names) in TOGETHER.items() for name in names])
def test_what_one_statement_defines_is_one_region_for_each_name(path: str, name: str) -> None:
    text, names = TOGETHER[path]
    assert reserved(path, text, name) == names[name]


def test_a_region_answers_to_each_of_its_names() -> None:
    source = discover(TOGETHER["a.js"][0].encode(), "a.js")
    first, second = (find(source, parse(f"a.js#{name}").key().names) for name in "fg")
    assert first is second


def test_a_header_is_leased_for_its_names_and_not_shown_as_one() -> None:
    source = discover(b"x = y = 1\n", "a.py")
    with pytest.raises(InputError, match="has no region 'y'"):
        find(source, parse("a.py#y").key().names)


LOST = {
    "lines that end with carriage returns": ("a.py", "import a\rdef f():\r    return 1\rdef g():\r    return 2\r"),
    "in another language": ("a.js", "function f() {\r return 1 // x\r}\rfunction g() {\r return 2\r}\r"),
    "unbalanced conditions": (
        "a.c",
        "#if A\nint f(void) {\n#else\nint f(int x) {\n return 1;\n}\n#endif\nint g(void) {\n return 2;\n}\n",
    ),
    "an open bracket": ("b.py", "def f(:\n    return 1\n\ndef g():\n    return 2\n"),
    "inside of a class": ("c.py", "class g:\n    def f(:\n        return 1\n"),
    "syntax newer than the grammar": ("d.py", "class Box[T = (]:\n    pass\n\n\ndef f(:\n  pass\n\ndef g(): pass\n"),
}


@pytest.mark.parametrize("case", LOST)
def test_a_name_in_a_file_that_the_parser_lost_leases_the_file(case: str) -> None:
    path, text = LOST[case]
    source = discover(text.encode(), path)
    for name in ("f", "g", "g.f"):
        names = parse(f"{path}#{name}").key().names
        if not any(region.key.names == names for region in source.regions):
            assert reserve(source, names) == source.file.key
            assert lost(source, names)


def test_a_name_that_does_not_stand_in_it_is_new_all_the_same() -> None:
    source = discover(b"def f(:\n    return 1\n", "b.py")
    names = parse("b.py#h").key().names
    assert lost(source, names) is None
    assert reserve(source, names).qualname == "h"
