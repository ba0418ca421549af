"""The hard gate."""

import warnings

import pytest

from commonhold.code.regions import syntax
from commonhold.code.regions.syntax import problem_in


def test_a_sound_file_has_no_problems() -> None:
    assert problem_in(b"x = 1\n", "a.py") is None


def test_another_language_has_no_problems() -> None:
    assert problem_in(b"x = (", "a.txt") is None


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        (b"x = 1\ny = (\n", "line 2, column 5: '(' was never closed", b"y = (\n"),
        (b"x = 1\r\nprint 'x'\r\nz\r\n", "line 2, column 1: Missing parentheses", b"print 'x'\r\n"),
        (b"x = 1\rawait = 1\rz", "line 2, column ", b"await = 1\r"),
        (b"def f():\n", "line 1, column ", b"def f():\n"),
        (b"if x:\n\ty\n        z\n", "line 3", b"        z\n"),
        (b"return 1", "line 1, column 1: 'return' outside function", b"return 1"),
        (b"def f(a, a): pass", "line 1, column 10: duplicate argument", b"def f(a, a): pass"),
        (b"x = 1\n'\xff'\n", "(unicode error) 'utf-8' codec", b"'\xff'\n"),
        (b"# coding: none-such\n", "unknown encoding: none-such", b"# coding: none-such\n"),
        (b"x = 1\0\n", "source code string cannot contain null bytes", b"x = 1\0\n"),
        (b"x = " + b"(" * 500, "too many nested parentheses", b"x = " + b"(" * 500),
        (b"x = " + b"-" * 50_000 + b"1", "nested too deeply", None),
        (b"x = " + b"1 + " * 20_000 + b"1", "nested too deeply", None),
        (b"x = " + b"9" * 5_000, "line 1", b"x = " + b"9" * 5_000),
    ],
)
def test_a_problem_tells_line_and_column(source: bytes, message: str, line: bytes | None) -> None:
    problem = problem_in(source, "a.py")
    assert problem is not None
    assert problem.code == "SYNTAX"
    assert message in problem.message
    assert source[slice(*problem.span)] == (source if line is None else line)


def test_a_line_behind_the_end_is_the_end() -> None:
    assert syntax._line_span(b"x\n", 9) == (2, 2)


@pytest.mark.parametrize("error", [ValueError, OverflowError])
def test_what_other_versions_of_python_raise_is_a_problem(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("source code string cannot contain null bytes")

    monkeypatch.setattr(syntax, "compile", fail, raising=False)
    problem = problem_in(b"x = 1", "a.py")
    assert problem is not None
    assert (problem.message, problem.span) == ("source code string cannot contain null bytes", (0, 5))


def test_warnings_are_no_problems_and_are_not_shown() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem_in(b"x = 1 is 1\n'\\d'\nassert (x, 1)\n", "a.py") is None


def test_the_future_of_this_package_is_not_inherited() -> None:
    assert problem_in(b"from __future__ import annotations\ndef f(x: y): ...\n", "a.py") is None


def _unwound(depth: int) -> bytes:
    """A function with so many blocks in each other, each left in two ways."""
    tries = [f"{' ' * (level + 1)}try:\n" for level in range(depth)]
    finals = [f"{' ' * (level + 1)}finally:\n{' ' * (level + 2)}if a: return 2\n" for level in range(depth - 1, -1, -1)]
    return f"def f(a):\n{''.join(tries)}{' ' * (depth + 1)}return 1\n{''.join(finals)}".encode()


def test_ways_out_that_multiply_are_not_compiled() -> None:
    problem = problem_in(_unwound(19), "a.py")
    assert problem is not None
    assert problem.code == "PARSE_BUDGET"
    assert "nest fewer `finally` blocks" in problem.message


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_ways_out_that_people_write_are_compiled(depth: int) -> None:
    assert problem_in(_unwound(depth) * 20, "a.py") is None


def test_ways_out_behind_a_long_chain_of_branches_count() -> None:
    chain = b"if a: pass\n" + b"elif a: pass\n" * 800
    problem = problem_in(chain + _unwound(19), "a.py")
    assert problem is not None
    assert problem.code == "PARSE_BUDGET"
