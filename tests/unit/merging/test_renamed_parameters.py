"""A parameter that one side renames, beside new code of the other side in the same function."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

# By the name of a file: how a function of it begins, which has the parameters `size` and `words`, and how it ends.
FUNCTIONS = {
    "a.c": ("int f(int size, char **words) {", "}"),
    "a.cpp": ("int A::f(int size, char *&words) {", "}"),
    "a.cs": ("class A {\n    int F(int size, string words) {", "    }\n}"),
    "a.go": ("package p\n\nfunc f(size int, words string) int {", "}"),
    "a.java": ("class A {\n    int f(int size, String words) {", "    }\n}"),
    "a.js": ("function f(size, words) {", "}"),
    "a.kt": ("fun f(size: Int, words: String): Int {", "}"),
    "a.php": ("<?php\nfunction f($size, $words) {", "}"),
    "a.py": ("def f(size, words):", ""),
    "a.rb": ("def f(size, words)", "end"),
    "a.rs": ("fn f(size: i32, words: &str) -> i32 {", "}"),
    "a.scala": ("def f(size: Int, words: String): Int = {", "}"),
    "a.swift": ("func f(size: Int, words: String) -> Int {", "}"),
    "a.ts": ("function f(size: number, words: string) {", "}"),
}
NO_SEMICOLON = ("a.go", "a.kt", "a.py", "a.rb", "a.scala", "a.swift")


def merged(path: str, statement: str) -> Proven | Unproven:
    """Merge a renaming of `words` with a new statement before the last one."""
    head, tail = FUNCTIONS[path]
    end = "" if path in NO_SEMICOLON else ";"

    def version(*statements: str) -> str:
        body = [f"        {each}{end}" if each else "" for each in statements]
        text = "\n".join([head, *body, *([tail] if tail else ()), ""])
        return text.replace("(words", "($words").replace("(size)", "($size)") if path == "a.php" else text

    before = ("first(words)", "", "second(size)")
    base, theirs = version(*before, "return 0"), version(*before, statement, "return 0")
    return merge(base.encode(), base.replace("words", "lines").encode(), theirs.encode(), path)


@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_use_of_its_old_name_is_not_proven(path: str) -> None:
    assert isinstance(merged(path, "third(words)"), Unproven)


@pytest.mark.parametrize("path", FUNCTIONS)
def test_code_that_does_not_use_it_is_proven(path: str) -> None:
    assert isinstance(merged(path, "return 4"), Proven)
