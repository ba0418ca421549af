"""A variable that a function assigns without declaring it belongs to the code around it, where others use it."""

from dataclasses import dataclass

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Reason, Unproven


@dataclass(frozen=True)
class Form:
    """How a language writes a variable outside of functions (`outer`), a function, a declaration and a result."""

    outer: str
    function: str
    declare: str
    result: str
    end: str = ""
    name: str = "state"
    share: str = ""

    def program(self, *functions: tuple[str, ...]) -> str:
        """The outer variable, and functions `f0`, `f1`, … with these statements."""
        texts = (
            self.function.format(index, "".join(f"    {each}\n" for each in statements if each))
            for index, statements in enumerate(functions)
        )
        return f"{self.outer}\n\n" + "\n".join(texts) + self.end


BRACED = "function f{}(a) {{\n{}}}\n"
C = Form("int state = 0;", "int f{}(int a) {{\n{}}}\n", "int {} = {};", "return {};")
JAVA = Form("class A {\n  int state = 0;", "  int f{}(int a) {{\n{}  }}\n", "int {} = {};", "return {};", "}\n")
FORMS = {
    "a.py": Form("state = 0", "def f{}(a):\n{}", "{} = {}", "return {}", share="global state"),
    "a.js": Form("let state = 0;", BRACED, "let {} = {};", "return {};"),
    "b.js": Form("var state = 0;", BRACED, "var {} = {};", "return {};"),
    "a.ts": Form("let state = 0;", "function f{}(a: number) {{\n{}}}\n", "let {}: number = {};", "return {};"),
    "a.go": Form("package a\n\nvar state = 0", "func f{}(a int) int {{\n{}}}\n", "{} := {}", "return {}"),
    "A.java": JAVA,
    "a.c": C,
    "a.cpp": C,
    "A.cs": JAVA,
    "a.rs": Form("static mut state: i32 = 0;", "fn f{}(a: i32) -> i32 {{\n{}}}\n", "let {} = {};", "return {};"),
    "a.rb": Form("class A", "  def f{}(a)\n{}  end\n", "{} = {}", "return {}", "end\n", name="@state"),
    "a.php": Form(
        "<?php\n$state = 0;",
        "function f{}($a) {{\n{}}}\n",
        "{} = {};",
        "return {};",
        name="$state",
        share="global $state;",
    ),
    "a.kt": Form("var state = 0", "fun f{}(a: Int): Int {{\n{}}}\n", "var {} = {}", "return {}"),
    "a.swift": Form("var state = 0", "func f{}(a: Int) -> Int {{\n{}}}\n", "var {} = {}", "return {}"),
    "a.scala": Form("var state = 0", "def f{}(a: Int): Int = {{\n{}}}\n", "var {} = {}", "{}"),
}
DECLARING = sorted(FORMS.keys() - {"a.py", "a.rb", "a.php"})  # in the others an assignment declares


def reasons(base: str, ours: str, theirs: str, path: str) -> set[Reason]:
    """Return the reasons against a merge, the same from both sides; none if it is proven."""
    assert len({base, ours, theirs}) == 3
    versions = base.encode(), ours.encode(), theirs.encode()
    first, second = merge(*versions, path), merge(versions[0], versions[2], versions[1], path)
    assert isinstance(first, Proven) is isinstance(second, Proven)
    return {each.reason for each in first.spots} if isinstance(first, Unproven) else set()


@pytest.mark.parametrize("path", FORMS)
def test_what_a_function_assigns_outside_of_itself_is_what_others_read(path: str) -> None:
    form = FORMS[path]
    end = ";" if form.result.endswith(";") else ""
    base = form.program(
        (form.share, f"{form.name} = 1{end}", form.result.format("1")),
        (form.share, form.result.format(f"{form.name} + 1")),
    )
    ours = base.replace(f"{form.name} = 1", f"{form.name} = 2")
    theirs = base.replace(f"{form.name} + 1", f"{form.name} + 2")
    assert reasons(base, ours, theirs, path) == {Reason.INTERFERES}


@pytest.mark.parametrize("path", FORMS)
def test_variables_of_two_functions_are_two(path: str) -> None:
    form = FORMS[path]
    own = "$own" if path == "a.php" else "own"
    base = form.program(*[(form.declare.format(own, f"1{at}"), form.result.format(f"{own} + {at}")) for at in "01"])
    ours, theirs = base.replace("10", "12"), base.replace(f"{own} + 1", f"{own} + 2")
    assert reasons(base, ours, theirs, path) == set()


@pytest.mark.parametrize("path", DECLARING)
def test_a_variable_of_a_function_hides_the_one_around_it(path: str) -> None:
    form = FORMS[path]
    declared = form.declare.format("state", "3")
    base = form.program((declared, form.result.format("state + 1")))
    theirs = base.replace("= 0", "= 5", 1)
    assert reasons(base, base.replace("state + 1", "state + 2"), theirs, path) == set()
    assert reasons(base, base.replace(f"    {declared}\n", ""), theirs, path) == {Reason.INTERFERES}


def test_a_variable_of_one_block_hides_nothing_elsewhere() -> None:
    base = """let state = 0;

function f(a) {
  if (a) {
    let state = 1;
    go(state);
  }
  state = 1;
}

function g(a) {
  return state;
}
"""
    ours = base.replace("  state = 1;\n}", "  state = 2;\n}")
    assert reasons(base, ours, base.replace("return state", "return state + 1"), "a.js") == {Reason.INTERFERES}


@pytest.mark.parametrize("path", ["A.java", "A.cs", "a.cpp"])
def test_a_field_is_one_with_and_without_this(path: str) -> None:
    this = "this->" if path == "a.cpp" else "this."
    base = JAVA.program((f"{this}state = 1;", "return 1;"), ("return state + 1;",))
    ours, theirs = base.replace(f"{this}state = 1", f"{this}state = 2"), base.replace("state + 1", "state + 2")
    assert reasons(base, ours, theirs, path) == {Reason.INTERFERES}


@pytest.mark.parametrize("path", sorted(FORMS.keys() - {"a.rb"}))
def test_only_the_changed_statements_of_a_function_count(path: str) -> None:
    form = FORMS[path]
    own = "$own" if path == "a.php" else "own"
    base = form.program((form.share, form.declare.format(own, form.name), form.result.format(f"{own} + 1")))
    theirs = base.replace("= 0", "= 5", 1)
    assert reasons(base, base.replace(f"{own} + 1", f"{own} + 2"), theirs, path) == set()
