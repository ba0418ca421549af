"""The gate of every language but Python: what is new, what was there, what a parser of its own says."""

import pytest

from commonhold.code.regions.syntax import problem_in

SOUND = {
    "a.js": b"function f() { return 1; }\n",
    "a.tsx": b"const a = <p>{1}</p>;\n",
    "a.go": b"package a\n\nfunc f() {}\n",
    "a.rs": b"fn f() {}\n",
    "A.java": b"class A { void m() {} }\n",
    "a.kt": b"fun f() {\n}\n",
    "a.scala": b"object A { def f = 1 }\n",
    "a.swift": b"func f() {}\n",
    "a.c": b"int f(void) { return 1; }\n",
    "a.cpp": b"class A { void m() {} };\n",
    "a.cs": b"class A { void M() {} }\n",
    "a.rb": b"def f\n  1\nend\n",
    "a.php": b"<?php\nfunction f() {}\n",
    "a.sh": b"f() {\n  echo 1\n}\n",
    "a.sql": b"SELECT 'a';\n",
    "a.json": b'{"a": [1, 2]}\n',
    "a.jsonc": b'{"a": 1} // why\n',
    "a.ipynb": b'{"cells": []}\n',
    "a.yaml": b"a: &x !custom\n  - 1\nb: *x\n",
    "a.toml": b"a = 1\n[b]\n",
    "a.css": b"a { b: c }\n",
    "a.html": b"<p>x</p>\n",
    "a.md": b"# x\n",
    "a.txt": b"x (\n",
}
BROKEN = {
    "a.js": b"function f() { return (1; }\n",
    "a.tsx": b"const a = <p>{1</p>;\n",
    "a.go": b"package a\n\nfunc f( {}\n",
    "a.rs": b"fn f() {\n",
    "A.java": b"class A { void m( {} }\n",
    "a.kt": b"fun f( {\n}\n",
    "a.scala": b"object A { def f = ( }\n",
    "a.swift": b"func f( {}\n",
    "a.c": b"int f(void { return 1; }\n",
    "a.cpp": b"class A { void m( {} };\n",
    "a.cs": b"class A { void M( {} }\n",
    "a.rb": b"def f\n  (1\nend\n",
    "a.php": b"<?php\nfunction f( {}\n",
    "a.sh": b"f() {\n  echo $(\n",
    "a.sql": b"SELECT 'a;\n",
    "a.json": b'{"a": [1, 2,]}\n',
    "a.jsonc": b'{"a": [}\n',
    "a.ipynb": b'{"cells": [}\n',
    "a.yaml": b"a: [1\nb: 2\n",
    "a.toml": b"a = \n",
    "a.css": b"a { b: c\n",
    "a.html": b"<p attr='x>y</p>\n",
}


@pytest.mark.parametrize("path", sorted(SOUND))
def test_what_is_sound_has_no_problem(path: str) -> None:
    assert problem_in(SOUND[path], path) is None


@pytest.mark.parametrize("path", sorted(BROKEN))
def test_what_is_broken_has_one_that_says_where(path: str) -> None:
    source = BROKEN[path]
    for before in (None, SOUND[path], b"", b"\n"):
        problem = problem_in(source, path, before)
        assert problem is not None
        assert problem.code == "SYNTAX"
        assert problem.message.startswith("line ")
        assert 0 <= problem.span[0] <= problem.span[1] <= len(source)


@pytest.mark.parametrize("path", sorted(BROKEN))
def test_what_was_broken_before_may_stay(path: str) -> None:
    source = BROKEN[path]
    assert problem_in(source, path, source) is None


def test_one_error_more_is_one_too_many() -> None:
    before = b"int a;\nMACRO(x) @\nint f(void) { return 1; }\n"
    assert problem_in(before, "a.c") is not None
    assert problem_in(before.replace(b"1", b"2"), "a.c", before) is None
    assert problem_in(before.replace(b"MACRO(x) @", b"MACRO(y) @"), "a.c", before) is None
    found = problem_in(before.replace(b"return 1;", b"return (1;"), "a.c", before)
    assert found is not None
    assert found.message.startswith("line 3,")


def test_an_error_that_moves_to_another_line_is_a_new_one() -> None:
    before = b"int a(int { }\nint b;\nint c(void) { return 1; }\n"
    after = b"int a(int x) { }\nint b;\nint c(void { return 1; }\n"
    assert problem_in(after, "a.c", before) is None
    kept = b"int a(int { }\nint b;\nint c(void { return 1; }\n"
    found = problem_in(kept, "a.c", before)
    assert found is not None


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.json", b"[" * 100_000),
        ("a.toml", b"a = " + b"[" * 100_000),
        ("a.yaml", b"[" * 2_000),
        ("a.json", b'{"a": ' + b"9" * 10_000 + b"}"),
        ("a.json", b"\xff"),
        ("a.toml", b"\xff"),
        ("a.yaml", b"\xff"),
        ("a.yaml", b"a: \x01\n"),
        ("a.js", b"\xff"),
    ],
)
def test_nothing_is_too_much(path: str, source: bytes) -> None:
    problem = problem_in(source, path)
    assert problem is None or problem.code == "SYNTAX"
    assert (problem is None) is (b"999" in source)


def test_bytes_that_were_no_text_before_are_not_judged() -> None:
    assert problem_in(b"f(\xe9);\n", "a.js", b"g(\xe9);\n") is None
    assert problem_in(b"f(\xe9);\n", "a.js", b"g();\n") is not None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"a: *gone\n", "line 1, column 4: no anchor 'gone' above"),
        (b"a: &x 1\n---\nb: *x\n", "line 3, column 4: no anchor 'x' above"),
        (b"a: 1\n b: 2\n", "line 2, column 3: "),
    ],
)
def test_yaml_tells_line_and_column(source: bytes, message: str) -> None:
    problem = problem_in(source, "a.yaml")
    assert problem is not None
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("chart/a.yaml", b"{{- if .Values.x }}\na: {{ .Values.y }}\n{{- end }}\n"),
        ("a.html", b"<p {% if x %}class='y'{% endif %}>\n"),
        ("a.json", b'{"a": {{ value }} }\n'),
    ],
)
def test_a_new_template_is_not_judged(path: str, source: bytes) -> None:
    assert problem_in(source, path) is None


def test_an_expression_of_a_workflow_makes_no_template() -> None:
    assert problem_in(b"a: [${{ b }}\n", "a.yaml") is not None


def test_toml_tells_the_end_of_a_document() -> None:
    problem = problem_in(b"a = ", "a.toml")
    assert problem is not None
    assert "end of document" in problem.message


PYTHON_2 = b"def f():\n    print 'x'\n\n\ndef g():\n    return 1\n"


def test_python_of_another_version_may_be_edited() -> None:
    assert problem_in(PYTHON_2, "a.py") is not None
    assert problem_in(PYTHON_2.replace(b"return 1", b"return 2"), "a.py", PYTHON_2) is None
    assert problem_in(PYTHON_2.replace(b"return 1", b"return ("), "a.py", PYTHON_2) is not None


def test_broken_python_may_be_mended_in_steps() -> None:
    broken = b"def f(:\n    return 1\n\n\ndef g(:\n    return 2\n"
    assert problem_in(broken.replace(b"f(:", b"f():"), "a.py", broken) is None
    assert problem_in(b"def f(:\n", "a.py", b"def f(): ...\n") is not None
