"""A parse that CPython takes for another thread's is repeated; one that cannot succeed ends."""

import ast
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from commonhold.code.regions import python_ast
from commonhold.code.regions.python_ast import MOST_TRIES, parse_expression, parse_module

MISMATCH = SystemError("AST constructor recursion depth mismatch (before=114, after=123)")


def failing(times: int) -> Iterator[BaseException | ast.Module]:
    yield from [MISMATCH] * times
    yield ast.parse("x = 1")


def test_a_parse_that_another_one_disturbed_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = failing(3)

    def parse(_source: object) -> ast.Module:
        outcome = next(outcomes)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(python_ast, "ast", SimpleNamespace(parse=parse))
    assert isinstance(parse_module("x = 1").body[0], ast.Assign)


def test_one_that_never_succeeds_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def parse(source: object) -> ast.Module:
        tries.append(source)
        raise MISMATCH

    monkeypatch.setattr(python_ast, "ast", SimpleNamespace(parse=parse))
    with pytest.raises(SystemError, match="mismatch"):
        parse_module("x = 1")
    assert len(tries) == MOST_TRIES


def test_what_is_no_python_is_told_at_once() -> None:
    with pytest.raises(SyntaxError):
        parse_module("x =")
    assert isinstance(parse_expression("a.b"), ast.Attribute)
