"""Uses that are expected to fail: in a test of the error, below `hasattr`, a fallback, a line with an ignore comment.

A call under `with pytest.raises(TypeError)` is meant to be wrong, so a change that makes it wrong does not break it.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonhold.code.analysis.expressions import dotted, walk
from commonhold.code.analysis.references import CALL_FAILS, NAME_FAILS, Reference

_EVERY: Final = frozenset({CALL_FAILS, NAME_FAILS})
_RAISED: Final = {
    "TypeError": CALL_FAILS,
    "AttributeError": NAME_FAILS,
    "FrozenInstanceError": NAME_FAILS,
    "NameError": NAME_FAILS,
}
# An `except ImportError` covers imports alone; a test that expects it covers all code in it.
_TESTED: Final = {**_RAISED, "ImportError": NAME_FAILS, "ModuleNotFoundError": NAME_FAILS}
_ANY: Final = frozenset({"Exception", "BaseException"})

_LINE_END: Final = re.compile(rb"\r\n?|\n")

# By the last name of the call in a `with`, or of a test's decorator.
_TESTING: Final = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesMessage"})
_SUPPRESSING: Final = frozenset({"suppress"})
_FAILING: Final = frozenset({"expectedFailure", "xfail"})

# The rules under which type checkers and linters report a call that does not bind, and a name that does not exist.
_CALL_RULES: Final = (
    "call-arg|call-overload|reportCallIssue|missing-argument|too-many-positional-arguments|unknown-argument"
    "|no-matching-overload|positional-only-parameter-as-kwarg|parameter-already-assigned"
    "|no-value-for-parameter|too-many-function-args|unexpected-keyword-arg|bad-argument-count|missing-argument-value"
)
_NAME_RULES: Final = (
    "attr-defined|union-attr|reportAttributeAccessIssue|unresolved-attribute|possibly-missing-attribute|no-member"
    "|missing-attribute"
)
_IGNORED: Final = re.compile(r"#.*?\b(?:(?:type|ty|pyright|pyrefly)\s*:\s*ignore\[|pylint\s*:\s*disable\s*=)([^\]#]*)")
_RULES: Final = (
    (CALL_FAILS, re.compile(rf"(?<![\w-])(?:{_CALL_RULES})(?![\w-])")),
    (NAME_FAILS, re.compile(rf"(?<![\w-])(?:{_NAME_RULES})(?![\w-])")),
)
# Searches in the text, which save a walk through every statement for rare constructs. A pattern is sought only if its
# word is there: a word is found many times faster than a choice of patterns.
_LETTERS: Final = {
    b"raises": re.compile(rb"raises\b"),
    b"assertRaises": re.compile(rb"assertRaises"),
    b"suppress": re.compile(rb"suppress\b"),
    b"hasattr": re.compile(rb"\bif\b[^\n]*hasattr"),
    b"expectedFailure": re.compile(rb"expectedFailure"),
    b"xfail": re.compile(rb"xfail"),
    b"except": re.compile(rb"except[^\n]*(?:TypeError|AttributeError|NameError)"),
    b"ignore[": re.compile(rb"ignore\["),
    b"disable": re.compile(rb"disable\s*="),
}

Expected = Mapping[int, frozenset[str]]
"""The expected errors of the uses on a line: `CALL_FAILS`, `NAME_FAILS`, or both."""


def expecting(uses: Sequence[Reference], tree: ast.AST, text: bytes, first: int = 1) -> Sequence[Reference]:
    """Return the uses of a tree, each with its expected errors; the lines of `text` are counted from `first`."""
    if not any(word in text and pattern.search(text) for word, pattern in _LETTERS.items()):
        return uses
    expected = expected_errors(tree, _LINE_END.split(text), first)
    return [replace(use, expects=tuple(sorted(expected[use.line]))) if use.line in expected else use for use in uses]


def expected_errors(tree: ast.AST, lines: Iterable[bytes], first: int = 1) -> Expected:
    """Return the expected errors on the lines of a tree; `lines` is its text, from the line `first` on."""
    found: dict[int, frozenset[str]] = {}
    for start, end, errors in (*_ranges(tree), *_ignored(lines, first)):
        for line in range(start, end + 1) if errors else ():
            found[line] = found.get(line, frozenset()) | errors
    return found


Range = tuple[int, int, frozenset[str]]


def _ranges(tree: ast.AST) -> Iterator[Range]:
    for node in walk(tree):
        if isinstance(node, ast.With | ast.AsyncWith):
            errors = frozenset[str]().union(*(_of_context(item.context_expr) for item in node.items))
            yield _lines_of(node.body, errors)
        elif isinstance(node, ast.Try):
            caught = frozenset[str]().union(*(_named(clause.type) for clause in node.handlers))
            yield _lines_of(node.body, _meant(caught, _RAISED))
        elif isinstance(node, ast.If) and _asks_for_names(node.test):
            yield _lines_of(node.body, frozenset({NAME_FAILS}))
        elif isinstance(node, ast.IfExp) and _asks_for_names(node.test):
            yield node.body.lineno, node.body.end_lineno or node.body.lineno, frozenset({NAME_FAILS})
        elif isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[1], ast.Lambda):
            yield node.args[1].lineno, node.args[1].end_lineno or node.args[1].lineno, _of_context(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_failing = any(_last_name(each) in _FAILING for each in node.decorator_list)
            yield _lines_of(node.body, _EVERY if is_failing else frozenset())


def _asks_for_names(test: ast.expr) -> bool:
    """Whether a condition holds only if an object has an attribute: `hasattr(…)`, perhaps beside other conditions."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(isinstance(each, ast.Call) and _last_name(each) == "hasattr" for each in parts)


def _lines_of(body: list[ast.stmt], errors: frozenset[str]) -> Range:
    return body[0].lineno, body[-1].end_lineno or body[-1].lineno, errors


def _of_context(context: ast.expr) -> frozenset[str]:
    """Return the errors that a context manager catches; if a test expects any exception, all of them."""
    if not isinstance(context, ast.Call):
        return frozenset()
    name = _last_name(context)
    given = [*context.args, *(each.value for each in context.keywords if each.arg == "expected_exception")]
    if name in _TESTING and given:
        errors = _named(given[0])
        return _EVERY if errors & _ANY else _meant(errors, _TESTED)
    return _meant(frozenset[str]().union(*map(_named, given)), _RAISED) if name in _SUPPRESSING else frozenset()


def _meant(errors: Iterable[str], meanings: Mapping[str, str]) -> frozenset[str]:
    return frozenset(meanings[error] for error in errors if error in meanings)


def _named(errors: ast.expr | None) -> frozenset[str]:
    """Return the exceptions that an expression names, by their last names."""
    each = errors.elts if isinstance(errors, ast.Tuple) else [errors] if errors is not None else []
    return frozenset(dotted(one).rpartition(".")[2] for one in each)


def _last_name(node: ast.expr) -> str:
    return dotted(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _ignored(lines: Iterable[bytes], first: int) -> Iterator[Range]:
    for number, line in enumerate(lines, first):
        if b"#" in line and (rules := _IGNORED.search(line.decode("utf-8", "replace"))):
            yield number, number, frozenset(error for error, named in _RULES if named.search(rules[1]))
