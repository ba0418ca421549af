"""docs/testing.md explains every folder of tests; the tests that it and docs/guarantees.md name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("testing.md", "guarantees.md")}
TESTING = PAGES["testing.md"]
NAMED = re.compile(r"`(tests/[^`\s]+)`")
INVARIANT = re.compile(r"^\| (I\d)\b(.*)\|$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_all_tests_that_are_named_exist(page: str) -> None:
    named = set(NAMED.findall(PAGES[page]))
    assert len(named) > 10
    assert [each for each in sorted(named) if not any(ROOT.glob(each))] == []


def test_every_folder_of_tests_is_explained() -> None:
    folders = {each.parent.relative_to(ROOT / "tests").parts[0] for each in ROOT.glob("tests/*/**/*.py")}
    (table,) = re.findall(r"^## Kinds of evidence\n(.*?)^## ", TESTING, re.MULTILINE | re.DOTALL)
    assert set(NAMED.findall(table)) >= {f"tests/{each}" for each in folders}


def test_every_invariant_has_tests() -> None:
    shown = {name: NAMED.findall(row) for name, row in INVARIANT.findall(TESTING)}
    assert list(shown) == [name for name, _ in INVARIANT.findall(PAGES["guarantees.md"])]
    assert all(shown.values())


def test_every_command_is_a_target_of_make() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+(?:-[a-z]+)*)", TESTING))
    assert named >= {"quick", "test", "stress"}
    assert named <= targets
