"""Languages other than Python: what both sides add to one place, what they change apart, and what meets."""

from pathlib import Path
from random import Random

import pytest
from tests.unit.merging.laws import check_laws

from commonhold.code.regions.languages import LANGUAGES, language_for
from commonhold.merging.merge import merge
from commonhold.merging.profiles import profile_of
from commonhold.merging.verdict import Proven, Unproven

CORPUS = Path(__file__).parents[2] / "corpus"
ONE, OTHER = "alpha", "omega"

# A file, and what each side puts in place of `@`: a member, an entry, a statement, named by `%`.
JOINED = {
    "a.js": ("class C {@\n  old() {\n    return 1;\n  }\n}\n", "\n  %() {\n    return 2;\n  }\n"),
    "b.js": ('import {old@} from "x";\n', ", %"),
    "c.js": ("const x = {old: 1@};\n", ", %: 2"),
    "a.ts": (
        "export class C {@\n  old(): number {\n    return 1;\n  }\n}\n",
        "\n  %(): number {\n    return 2;\n  }\n",
    ),
    "a.tsx": ("const Old = () => <p>{1}</p>;\n@", "const % = () => <p>{2}</p>;\n"),
    "a.go": ("package p\n\nfunc old() int {\n\treturn 1\n}\n@", "\nfunc %() int {\n\treturn 2\n}\n"),
    "a.rs": ("impl C {\n    fn old(&self) {}\n@}\n", "\n    fn %(&self) {}\n"),
    "b.rs": ("use m::{old@};\n", ", %"),
    "A.java": ("class C {\n    int old() { return 1; }\n@}\n", "\n    int %() { return 2; }\n"),
    "a.kt": ("class C {\n    fun old() = 1\n@}\n", "\n    fun %() = 2\n"),
    "a.scala": ("class C {\n  def old = 1\n@}\n", "\n  def % = 2\n"),
    "a.swift": ("class C {\n    func old() {}\n@}\n", "\n    func %() {}\n"),
    "a.c": ("int old(void) { return 1; }\n@", "\nint %(void) { return 2; }\n"),
    "a.cpp": ("class C {\n    int old();\n@};\n", "    int %();\n"),
    "a.cs": ("class C {\n    int Old() { return 1; }\n@}\n", "\n    int %() { return 2; }\n"),
    "a.php": ("<?php\nclass C {\n    function old() {}\n@}\n", "\n    function %() {}\n"),
    "a.rb": ("class C\n  def old\n    1\n  end\n@end\n", "\n  def %\n    2\n  end\n"),
    "a.sh": ("old() {\n  true\n}\n@", "\n%() {\n  true\n}\n"),
    "a.json": ('{\n  "old": 1@\n}\n', ',\n  "%": 2'),
    "a.yaml": ("top:\n  old: 1\n@", "  %: 2\n"),
    "a.toml": ("[top]\nold = 1\n@\n[next]\n", "% = 2\n"),
}

# Two statements of one function: what is changed in each, and whether the changes meet.
BODIES = {
    "a.js": "function f(a) {\n  let x = a;\n  let y = 1;\n  g();\n  return x;\n}\n",
    "a.go": "package p\n\nfunc f(a int) int {\n\tx := a\n\ty := 1\n\tg(y)\n\treturn x\n}\n",
    "A.java": "class C {\n  int f(int a) {\n    int x = a;\n    int y = 1;\n    g(y);\n    return x;\n  }\n}\n",
    "a.rs": "fn f(a: i32) -> i32 {\n    let x = a;\n    let y = 1;\n    g(y);\n    return x;\n}\n",
}


def versions(path: str) -> tuple[bytes, bytes, bytes]:
    text, added = JOINED[path]
    return tuple(text.replace("@", new).encode() for new in ("", added.replace("%", ONE), added.replace("%", OTHER)))  # type: ignore[return-value]


@pytest.mark.parametrize("path", JOINED)
def test_what_both_sides_add_to_one_place_is_joined(path: str) -> None:
    base, ours, theirs = versions(path)
    answer = merge(base, ours, theirs, path)
    text, added = JOINED[path]
    both = "".join(added.replace("%", name) for name in (ONE, OTHER))
    assert answer == Proven(text.replace("@", both).encode(), answer.notes if isinstance(answer, Proven) else ())
    assert merge(base, theirs, ours, path) == answer


@pytest.mark.parametrize("path", JOINED)
def test_one_name_on_both_sides_is_refused(path: str) -> None:
    text, added = JOINED[path]
    new = added.replace("%", ONE)
    other = new.replace("2", "3")
    base, ours, theirs = (text.replace("@", each).encode() for each in ("", new, other))
    answer = merge(base, ours, theirs, path)
    assert isinstance(answer, Unproven if other != new else Proven)


@pytest.mark.parametrize("path", BODIES)
def test_statements_apart_are_merged_unless_one_counts_on_the_other(path: str) -> None:
    base = BODIES[path]
    apart = merge(
        base.encode(),
        base.replace("y = 1", "y = 2").replace("y := 1", "y := 2").encode(),
        base.replace("return x", "return x + 1").encode(),
        path,
    )
    assert isinstance(apart, Proven)
    met = merge(
        base.encode(),
        base.replace("x = a", "x = a + 2").replace("x := a", "x := a + 2").encode(),
        base.replace("return x", "return x + 1").encode(),
        path,
    )
    assert isinstance(met, Unproven)
    assert {spot.reason for spot in met.spots} == {"INTERFERES"}


def test_old_errors_of_a_grammar_do_not_stand_in_the_way() -> None:
    base = "UNKNOWN_MACRO(x) {{{ int\n\nint f(void) { return 1; }\n\nint g(void) { return 1; }\n".replace(
        "{{{ int", "MORE int"
    )
    ours, theirs = (
        base.replace("f(void) { return 1", "f(void) { return 2"),
        base.replace("g(void) { return 1", "g(void) { return 3"),
    )
    answer = merge(base.encode(), ours.encode(), theirs.encode(), "a.c")
    assert isinstance(answer, Proven)


@pytest.mark.parametrize("language", [each.name for each in LANGUAGES if each.grammar and profile_of(each)])
def test_the_laws_hold_in_every_language(language: str) -> None:
    """Lines of the corpus, cut and changed at random."""
    chance = Random(language)
    files = sorted(path for path in (CORPUS / language).glob("*/*") if path.name != "regions.txt" and path.is_file())
    for path in files[:6]:
        source = path.read_bytes()
        if language_for(path.name, source) is None:
            continue
        for _ in range(6):
            check_laws(source, _edited(source, chance), _edited(source, chance), path.name)


def _edited(source: bytes, chance: Random) -> bytes:
    lines = source.splitlines(keepends=True) or [b"\n"]
    at = chance.randrange(len(lines))
    if chance.random() < 0.4:
        del lines[at]
    else:
        lines[at] = lines[at].replace(b"1", b"2").replace(b"a", b"b", 1)
    return b"".join(lines)
