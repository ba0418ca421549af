"""The table of git's options, held to what the git that is installed says of itself."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from commonhold.shell.git_options import VALUED
from commonhold.shell.git_risks import RISKY
from commonhold.shell.git_words import EXACT, Valued
from commonhold.shell.git_writes import COMMITTING

pytestmark = pytest.mark.slow

INNER = {
    "reflog": ("delete", "expire"),
    "stash": ("apply", "branch", "clear", "create", "drop", "pop", "push", "save", "store"),
    "worktree": ("add", "list", "lock", "move", "prune", "remove", "repair", "unlock"),
}
SCRIPTS = frozenset({"filter-branch", "submodule"})
"""Of these the usage is one line with all options in it."""
UNTOLD = {"bisect": {"term-bad", "term-good", "term-new", "term-old"}, "submodule": {"j", "jobs", "depth"}}
"""What only the manual tells of."""
PLAIN = os.environ | {"LC_ALL": "C", "FILTER_BRANCH_SQUELCH_WARNING": "1"}
"""`git filter-branch` would give its reader ten seconds to read a warning."""
COMMANDS = sorted({*VALUED, *RISKY, *COMMITTING} - {"filter-repo"})
LISTED = re.compile(r"(?:-(?P<letter>\w))?(?:, )?(?:--(?P<name>[\w-]+))?(?P<value>\[=.*| \S.*)?")
IN_LINE = re.compile(r"(?:-(?P<letter>\w)|--(?P<name>[\w-]+))(?P<value>[ =]<)?")


@dataclass(frozen=True)
class Told:
    """An option: its letter or its long name, and whether a value must come with it, or may stand in the same word."""

    word: str
    takes: bool
    may_take: bool


@cache
def usage(command: str) -> str:
    """What git says of a command and all that is one inside of it."""
    ways = [f"{command} {inner} -h".split() for inner in INNER.get(command, ("",))]
    done = [subprocess.run(("git", *words), env=PLAIN, capture_output=True, text=True, check=False) for words in ways]
    return "".join(each.stdout + each.stderr for each in done)


def told(command: str) -> Iterator[Told]:
    """The options that git lists."""
    text = usage(command)
    if command in SCRIPTS:
        yield from (_told(found) for found in IN_LINE.finditer(text))
    for line in text.splitlines():
        if line.startswith("    -"):
            found = LISTED.match(re.split(r"\s{2,}", line.strip())[0])
            assert found
            names = filter(None, (found["letter"], found["name"]))
            value = found["value"] or ""
            yield from (Told(name, value.startswith(" "), value.startswith("[")) for name in names)


def _told(found: re.Match[str]) -> Told:
    return Told(found["letter"] or found["name"], bool(found["value"]), may_take=False)


def words(valued: Valued) -> set[str]:
    return {*valued.letters, *valued.names}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_takes_a_value_is_what_git_says_takes_one(command: str) -> None:
    valued = VALUED.get(command, Valued())
    options = list(told("add" if command == "stage" else command))
    assert {each.word for each in options if each.takes} == words(valued) - UNTOLD.get(command, set())
    assert {each.word for each in options if each.may_take and len(each.word) == 1} == set(valued.attached)


@pytest.mark.parametrize("command", sorted(VALUED))
def test_what_is_the_beginning_of_another_is_known_to_be_exact(command: str) -> None:
    valued = VALUED[command]
    plain = {each.word for each in told(command) if not each.takes}
    assert {name for name in plain if len(name) > 1 and valued.whole(name) != name} == set()


def test_what_is_exact_is_the_beginning_of_another() -> None:
    names = {name for valued in VALUED.values() for name in valued.names}
    assert all(any(name.startswith(exact) and name != exact for name in names) for exact in EXACT)


def test_git_is_asked_in_words_that_it_answers() -> None:
    assert {command for command in COMMANDS if "usage" not in usage("add" if command == "stage" else command)} == set()
