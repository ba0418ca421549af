"""One side makes a function read a value that it never read before; the other changed what that value is made of."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Reason, Unproven

# In each language a constant, and a function that assigns it to a variable, and then something else.
OVERWRITTEN = {
    "a.py": ("LIMIT = 1", "def f(a):\n    third = LIMIT", "    third = a\n", "    return third\n"),
    "a.js": ("const LIMIT = 1;", "function f(a) {\n  let third = LIMIT;", "  third = a;\n", "  return third;\n}\n"),
    "a.ts": (
        "const LIMIT = 1;",
        "function f(a: number): number {\n  let third = LIMIT;",
        "  third = a;\n",
        "  return third;\n}\n",
    ),
    "a.go": (
        "package a\n\nvar limit = 1",
        "func f(a int) int {\n\tthird := limit",
        "\tthird = a\n",
        "\treturn third\n}\n",
    ),
    "A.java": (
        "class A {\n  static int limit = 1;",
        "  int f(int a) {\n    int third = limit;",
        "    third = a;\n",
        "    return third;\n  }\n}\n",
    ),
    "a.c": ("int limit = 1;", "int f(int a) {\n  int third = limit;", "  third = a;\n", "  return third;\n}\n"),
    "a.cpp": ("int limit = 1;", "int f(int a) {\n  int third = limit;", "  third = a;\n", "  return third;\n}\n"),
    "A.cs": (
        "class A {\n  static int limit = 1;",
        "  int F(int a) {\n    int third = limit;",
        "    third = a;\n",
        "    return third;\n  }\n}\n",
    ),
    "a.rs": (
        "const LIMIT: i32 = 1;",
        "fn f(a: i32) -> i32 {\n    let mut third = LIMIT;",
        "    third = a;\n",
        "    third + 1\n}\n",
    ),
    "a.rb": ("LIMIT = 1", "def f(a)\n  third = LIMIT", "  third = a\n", "  third + 1\nend\n"),
    "a.php": (
        "<?php\nconst LIMIT = 1;",
        "function f($a) {\n    $third = LIMIT;",
        "    $third = $a;\n",
        "    return $third;\n}\n",
    ),
    "a.kt": (
        "val limit = 1",
        "fun f(a: Int): Int {\n    var third = limit",
        "    third = a\n",
        "    return third\n}\n",
    ),
    "a.swift": (
        "let limit = 1",
        "func f(a: Int) -> Int {\n    var third = limit",
        "    third = a\n",
        "    return third\n}\n",
    ),
    "a.scala": (
        "val limit = 1",
        "def f(a: Int): Int = {\n  var third = limit",
        "  third = a\n",
        "  third + 1\n}\n",
    ),
    "a.sh": ("limit=1", "f() {\n  local third=$limit", "  third=$1\n", "  echo $third\n}\n"),
}


def reasons(base: str, ours: str, theirs: str, path: str) -> set[Reason]:
    """Return the reasons against a merge, the same from both sides; none if it is proven."""
    versions = base.encode(), ours.encode(), theirs.encode()
    first, second = merge(*versions, path), merge(versions[0], versions[2], versions[1], path)
    assert isinstance(first, Proven) is isinstance(second, Proven)
    return {each.reason for each in first.spots} if isinstance(first, Unproven) else set()


@pytest.mark.parametrize("path", OVERWRITTEN)
def test_a_deleted_assignment_lets_an_earlier_one_count_again(path: str) -> None:
    constant, start, overwrite, end = OVERWRITTEN[path]
    base = f"{constant}\n\n{start}\n{overwrite}{end}"
    ours, theirs = base.replace(overwrite, ""), base.replace(constant, constant.replace("1", "2"))
    assert reasons(base, ours, theirs, path) == {Reason.INTERFERES}


PROGRAM = """LIMIT = 1


def make(given):
    return given


def work(given):
    first = 1
    second = first
    {before}
    {after}
    return second


def rest(given):
    return given
"""


@pytest.mark.parametrize(
    ("before", "after", "changed", "is_refused"),
    [
        # Deleted, weakened, or moved down: the value before it is read.
        ("second = LIMIT", ("second = 2", "pass"), ("LIMIT = 1", "LIMIT = 2"), True),
        ("second = LIMIT", ("second = 2", "if given:\n        second = 2"), ("LIMIT = 1", "LIMIT = 2"), True),
        ("second = LIMIT", ("second = 2", "second += 2"), ("LIMIT = 1", "LIMIT = 2"), True),
        ("second = LIMIT", ("second = 2\n", "print(second)\n    second = 2\n"), ("LIMIT = 1", "LIMIT = 2"), True),
        ("second = make(1)", ("second = 2", "pass"), ("return given\n\n\ndef work", "return 5\n\n\ndef work"), True),
        # The value is made of another that is made of what changed.
        ("third = LIMIT\n    second = third", ("second = 2", "pass"), ("LIMIT = 1", "LIMIT = 2"), True),
        # A value that nothing read.
        ("third = LIMIT", ("return second", "return third"), ("LIMIT = 1", "LIMIT = 2"), True),
        # It was read before, or is not read afterwards either.
        ("second = LIMIT\n    print(second)", ("second = 2", "pass"), ("LIMIT = 1", "LIMIT = 2"), False),
        ("second = LIMIT", ("second = 2", "second = 3"), ("LIMIT = 1", "LIMIT = 2"), False),
        ("second = LIMIT", ("second = 2", "second = 2\n    third = 3"), ("LIMIT = 1", "LIMIT = 2"), False),
        ("third = LIMIT", ("return second", "return second + 1"), ("LIMIT = 1", "LIMIT = 2"), False),
        # What changed has nothing to do with it.
        (
            "second = LIMIT",
            ("second = 2", "pass"),
            ("def rest(given):\n    return", "def rest(given):\n    return not"),
            False,
        ),
    ],
)
def test_only_a_value_that_is_newly_read_counts(
    before: str, after: tuple[str, str], changed: tuple[str, str], *, is_refused: bool
) -> None:
    base = PROGRAM.format(before=before, after="second = 2")
    ours, theirs = base.replace(*after, 1), base.replace(*changed, 1)
    assert base not in (ours, theirs)
    assert bool(reasons(base, ours, theirs, "a.py")) == is_refused


@pytest.mark.parametrize(
    "body",
    [
        "for each in given:\n        print(second)\n        second = LIMIT\n        second = 2",  # the next round reads
        "if given:\n        second = LIMIT\n    else:\n        second = 2",
        "def inner():\n        return second\n    second = LIMIT\n    second = 2",  # a function inside may read it
        "global second\n    second = LIMIT\n    second = 2",  # others may read it
    ],
)
def test_a_value_that_may_be_read_elsewhere_was_read_before(body: str) -> None:
    base = PROGRAM.format(before=body, after="third = 3")
    ours, theirs = base.replace("third = 3", "third = 4"), base.replace("LIMIT = 1", "LIMIT = 2")
    assert reasons(base, ours, theirs, "a.py") == set()


NAMED_VALUES = {
    "a constant in Rust": (
        "a.rs",
        "const LIMIT: i32 = 1;\n\nfn f(a: i32) -> i32 {\n    a\n}\n",
        "    a\n",
        "    a + LIMIT\n",
    ),
    "a static in Rust": (
        "a.rs",
        "static LIMIT: i32 = 1;\n\nfn f(a: i32) -> i32 {\n    a\n}\n",
        "    a\n",
        "    a + LIMIT\n",
    ),
    "a macro in C": ("a.c", "#define LIMIT 1\n\nint f(int a) {\n  return a;\n}\n", "return a", "return a + LIMIT"),
    "an enumerator in C": (
        "a.c",
        "enum size { LIMIT = 1, OTHER = 7 };\n\nint f(int a) {\n  return a;\n}\n",
        "return a",
        "return a + LIMIT",
    ),
    "a static field in JavaScript": (
        "a.js",
        "class A {\n  static limit = 1;\n\n  f(a) {\n    return a;\n  }\n}\n",
        "return a",
        "return a + A.limit",
    ),
    "an enumeration inside a class in Java": (
        "A.java",
        "class A {\n  enum Size {\n    LOW( 1),\n    TOP(7);\n  }\n\n  int f(int a) {\n    return a;\n  }\n}\n",
        "return a;",
        "return a + Size.LOW.limit;",
    ),
}


@pytest.mark.parametrize("name", NAMED_VALUES)
def test_a_changed_constant_interferes_with_its_new_use(name: str) -> None:
    path, base, old, new = NAMED_VALUES[name]
    ours, theirs = base.replace(old, new), base.replace(" 1", " 2")
    assert reasons(base, ours, theirs, path) == {Reason.INTERFERES}


def test_a_member_of_a_cpp_class_is_called_without_an_object() -> None:
    base = "class A {\n  int g(int b) {\n    return 1;\n  }\n\n  int f(int a) {\n    return a;\n  }\n};\n"
    ours, theirs = base.replace("return a", "return g(a)"), base.replace("return 1", "return 2")
    assert reasons(base, ours, theirs, "a.cpp") == {Reason.INTERFERES}
    assert reasons(base, base.replace("return a", "return h(a)"), theirs, "a.cpp") == set()


GUARDED = """def step(given):
    size = 1
    if given > 8:
        return size
    print(given)
    return size + given


def rest(given):
    return given
"""
GUARD = "    if given > 8:\n        return size\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "is_refused"),
    [
        ((GUARD, ""), ("size + given", "size - given"), True),
        ((GUARD, ""), ("print(given)", "print(given)\n    print(size)"), True),
        ((GUARD, ""), ("    size = 1\n", "    print(1)\n    size = 1\n"), False),
        (("    print(given)\n", ""), ("size + given", "size - given"), False),
    ],
)
def test_code_after_an_exit_that_is_gone_runs_in_more_cases(
    ours: tuple[str, str], theirs: tuple[str, str], *, is_refused: bool
) -> None:
    first, second = GUARDED.replace(*ours), GUARDED.replace(*theirs)
    assert GUARDED not in (first, second)
    assert bool(reasons(GUARDED, first, second, "a.py")) == is_refused


@pytest.mark.parametrize("changed", [("given > 8", "given > 1"), ("size = 1", "size = 2"), ("size + given", "size")])
def test_a_new_call_depends_on_the_conditions_inside_the_called_function(changed: tuple[str, str]) -> None:
    ours, theirs = GUARDED.replace(*changed), GUARDED.replace("    return given\n", "    return step(given)\n")
    assert reasons(GUARDED, ours, theirs, "a.py") == {Reason.INTERFERES}
    assert reasons(GUARDED, ours, GUARDED.replace("    return given\n", "    return stop(given)\n"), "a.py") == set()
