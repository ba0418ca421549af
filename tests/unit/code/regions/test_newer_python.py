"""What only a newer Python than the one that runs here reads is not invalid; what none reads is."""

import ast

import pytest

from commonhold.code.regions.newer_python import as_older_python
from commonhold.code.regions.syntax import problem_in

NEWER = {
    "type parameters of a function": "def first[T](items: list[T]) -> T:\n    return items[0]\n",
    "of an async function": "async def first[T: (int, str), *Ts, **P](x: T) -> T:\n    return x\n",
    "of a class": "class Box[T]:\n    x: T\n\n    def get[U: dict[str, T]](self) -> U: ...\n",
    "with defaults, on several lines": "class Box[\n    T = int,  # a\n    U = list[int],\n](Base):\n    pass\n",
    "an alias": "type Name = str | None\n",
    "an alias with parameters": "if True:\n    type Pairs[T] = list[tuple[T, T]]\n",
    "quotes in an f-string": "x = f'{a['b']}'\n",
    "a backslash in an f-string": "x = f\"{'\\n'.join(a)}\"\n",
    "f-strings in f-strings": 'x = f"{f"{f"{1 + 1}"}"}"\n',
    "lines and comments in an f-string": "x = f'{\n    a  # the first\n}'\ny = 1\n",
    "exceptions without brackets": "try:\n    pass\nexcept ValueError, TypeError:\n    pass\n",
    "groups of exceptions": "try:\n    pass\nexcept* ValueError, TypeError:\n    pass\n",
    "a template": "x = t'{a}', rt\"{b}\", T'''\n{c}\n'''\n",
    "lazy imports": "lazy import a\nlazy from b import c\n",
    "all at once": "type A = int\nlazy import b\ndef f[T](x: T):\n    return t'{x}' + f'{b['c']}'\n",
}
WRONG = {
    "an open bracket": "def first[T(items):\n    pass\n",
    "an error behind": "def first[T](items):\n    return 1 +\n",
    "no expression in an f-string": "x = f'{a b}' + f'{a['b']}'\n",
    "nothing in an f-string": "type X = int\nx = f'{}'\n",
    "an open f-string": "x = f'{a['b']}\n",
    "a word more": "lazy lazy import a\n",
    "Python 2": "try:\n    print 'a'\nexcept ValueError, TypeError:\n    pass\n",
    "an assignment to await": "def f[T]():\n    await = 1\n",
}


@pytest.mark.parametrize("case", NEWER)
def test_what_a_newer_python_reads_is_not_invalid(case: str) -> None:
    source = NEWER[case].encode()
    assert problem_in(source, "a.py") is None
    assert problem_in(source + b"\nx = (\n", "a.py", source) is not None


@pytest.mark.parametrize("case", NEWER)
def test_older_python_has_the_same_lines(case: str) -> None:
    older = as_older_python(NEWER[case].encode())
    assert older is not None
    assert older.count(b"\n") == NEWER[case].count("\n")
    ast.parse(older)


@pytest.mark.parametrize("case", WRONG)
def test_what_no_python_reads_stays_invalid(case: str) -> None:
    assert problem_in(WRONG[case].encode(), "a.py") is not None


def test_an_error_is_told_where_it_is() -> None:
    problem = problem_in(b"type A = int\n\ndef f[T](x):\n    return x +\n", "a.py")
    assert problem is not None
    assert problem.message.startswith("line 4")


@pytest.mark.parametrize("text", ["", "x = f'{a}'\n", "def f(x): ...\n", "type = 1\ntype[0] = 2\n", "x = 'def f[a'\n"])
def test_what_is_not_newer_stays(text: str) -> None:
    assert as_older_python(text.encode()) is None
