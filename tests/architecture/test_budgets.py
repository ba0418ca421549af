"""Budgets on shape: short functions, few parameters, plain names, narrow excepts."""

import ast
import re
import statistics
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2] / "src"
LONGEST, P90, MEDIAN, PARAMETERS = 60, 30, 10, 8
VAGUE_NAME = re.compile(r"util|helper|manager", re.IGNORECASE)
BROAD = {"Exception", "BaseException"}
MAY_BE_BROAD = re.compile(r"\bexcept\b[^\n]*\b(?:Base)?Exception\b|\bexcept\s*:|\bexcept\*?\s*\(\s*\n")
"""All but these need not be parsed, which takes long."""
JUSTIFIED = re.compile(r"#\s*(noqa: [A-Z0-9, ]+\s+[#-]\s*)?(?!noqa)\w+(\s+\S+){2,}")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files() -> Iterator[Path]:
    return SOURCE.rglob("*.py")


@cache
def functions(file: Path) -> tuple[Function, ...]:
    """Return the functions of a file; each file is parsed once for all tests."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return tuple(node for node in ast.walk(tree) if isinstance(node, Function))


def length(function: Function) -> int:
    """Count the lines from `def` to the last one, docstring included, decorators not."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameter_count(function: Function) -> int:
    """Count all that a caller may pass: `self` and `cls` are not passed."""
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def caught_names(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


def unjustified_excepts(source: str) -> list[int]:
    """Find the broad excepts whose line, and the line above, give no reason in a comment."""
    if not MAY_BE_BROAD.search(source):
        return []
    lines = ["", *source.splitlines()]
    handlers = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ExceptHandler))
    broad = (handler.lineno for handler in handlers if caught_names(handler) & BROAD)
    return [line for line in broad if not any(map(JUSTIFIED.search, lines[line - 1 : line + 1]))]


def offenders(is_over: Callable[[Function], bool]) -> list[str]:
    return [
        f"{file.relative_to(SOURCE)}:{function.lineno} {function.name}"
        for file in files()
        for function in functions(file)
        if is_over(function)
    ]


def test_no_function_is_too_long() -> None:
    assert offenders(lambda function: length(function) > LONGEST) == []


def test_no_function_takes_too_many_parameters() -> None:
    assert offenders(lambda function: parameter_count(function) > PARAMETERS) == []


def test_most_functions_are_short() -> None:
    lengths = [length(function) for file in files() for function in functions(file)]
    assert statistics.median(lengths) < MEDIAN
    assert statistics.quantiles(lengths, n=10)[-1] < P90


def test_no_file_has_a_vague_name() -> None:
    names = (path.relative_to(SOURCE) for path in SOURCE.rglob("*") if "__pycache__" not in path.parts)
    assert [str(name) for name in names if VAGUE_NAME.search(name.name)] == []


def test_every_broad_except_gives_its_reason() -> None:
    found = {str(file): unjustified_excepts(file.read_text(encoding="utf-8")) for file in files()}
    assert {file: lines for file, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("clause", "is_justified"),
    [
        ("except ValueError:", True),
        ("except:", False),
        ("except Exception:", False),
        ("except (KeyError, BaseException):", False),
        ("except Exception:  # noqa: BLE001", False),
        ("except Exception:  # the worker must outlive any task", True),
        ("except Exception:  # noqa: BLE001  # the worker must outlive any task", True),
    ],
)
def test_a_broad_except_is_recognised(clause: str, *, is_justified: bool) -> None:
    source = f"try:\n    pass\n{clause}\n    pass\n"
    assert (unjustified_excepts(source) == []) is is_justified
