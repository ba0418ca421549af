"""Both sides add members to one container: never proven with a name twice, and proven where all names differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

# What stands before and after the members, and a member: `%` is its name, `~` its value.
CONTAINERS = {
    "yaml": ("a.yaml", "top:\n  first: 0\n", "  %: ~\n", "  last: 0\n"),
    "json": ("a.json", '{\n  "first": 0,\n', '  "%": ~,\n', '  "last": 0\n}\n'),
    "toml": ("a.toml", "[top]\nfirst = 0\n", "% = ~\n", "last = 0\n"),
    "ini": ("a.ini", "[top]\nfirst = 0\n", "% = ~\n", "last = 0\n"),
    "python dictionary": ("a.py", 'A = {\n    "first": 0,\n', '    "%": ~,\n', '    "last": 0,\n}\n'),
    "python class": ("a.py", "class A:\n    first = 0\n", "    % = ~\n", "    last = 0\n"),
    "js object": ("a.js", "const a = {\n  first: 0,\n", "  %: ~,\n", "  last: 0,\n};\n"),
    "ts interface": ("a.ts", "interface A {\n  first: 0;\n", "  %: ~;\n", "  last: 0;\n}\n"),
    "go map": ("a.go", 'package p\n\nvar a = map[string]int{\n\t"first": 0,\n', '\t"%": ~,\n', '\t"last": 0,\n}\n'),
    "java": ("A.java", "class A {\n    int first = 0;\n", "    int % = ~;\n", "    int last = 0;\n}\n"),
    "csharp": ("a.cs", "class A {\n    int first = 0;\n", "    int % = ~;\n", "    int last = 0;\n}\n"),
    "kotlin": ("a.kt", "class A {\n    val first = 0\n", "    val % = ~\n", "    val last = 0\n}\n"),
    "swift": ("a.swift", "class A {\n    let first = 0\n", "    let % = ~\n", "    let last = 0\n}\n"),
    "scala": ("a.scala", "class A {\n  val first = 0\n", "  val % = ~\n", "  val last = 0\n}\n"),
    "rust": ("a.rs", "impl A {\n    const first: u8 = 0;\n", "    const %: u8 = ~;\n", "    const last: u8 = 0;\n}\n"),
    "php": ("a.php", "<?php\nclass A {\n    const first = 0;\n", "    const % = ~;\n", "    const last = 0;\n}\n"),
    "ruby": ("a.rb", "A = {\n  first: 0,\n", "  %: ~,\n", "  last: 0,\n}\n"),
    "css": ("a.css", ".a {\n  first: 0;\n", "  %: ~;\n", "  last: 0;\n}\n"),
    "c": ("a.c", "#define first 0\n", "#define % ~\n", "#define last 0\n"),
}
# Of these the order of what stands at one point may be seen, or is not known.
ORDERED = {"ini", "css", "c"}
NAMES = st.sampled_from(["ant", "bee", "cat", "dog", "eel"])
ADDED = st.lists(st.tuples(st.integers(0, 3), NAMES), min_size=1, max_size=2, unique_by=lambda each: each[1])


def text(name: str, added: list[tuple[int, str]], value: int) -> bytes:
    """The container with three members, and those that a side puts before the one at an index."""
    _, head, member, tail = CONTAINERS[name]
    rows = [member.replace("%", each).replace("~", "0") for each in ("gnu", "hen", "jay")]
    for at, each in sorted(added, reverse=True):
        rows.insert(at, member.replace("%", each).replace("~", str(value)))
    return f"{head}{''.join(rows)}{tail}".encode()


@pytest.mark.parametrize("name", CONTAINERS)
@examples(0.12)
@given(mine=ADDED, others=ADDED, is_alike=st.booleans())
def test_members_added_by_both_sides(
    name: str, mine: list[tuple[int, str]], others: list[tuple[int, str]], *, is_alike: bool
) -> None:
    base, ours, theirs = (text(name, *each) for each in (([], 0), (mine, 6), (others, 6 if is_alike else 7)))
    answer = merge(base, ours, theirs, CONTAINERS[name][0])
    shared = {each for _, each in mine} & {each for _, each in others}
    if isinstance(answer, Proven):
        member = CONTAINERS[name][2].partition("%")[0].encode()
        assert all(answer.source.count(member + each.encode()) == 1 for each in shared)
        assert is_alike or not shared
    elif name not in ORDERED:
        assert shared, "all names differ, and nobody sees the order"
