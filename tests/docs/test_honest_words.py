"""No refusal teaches how to take a lease from its holder: it says who holds it, and how to go on without it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "commonhold"
STORIES = sorted((ROOT / "tests" / "scenarios").glob("*.txt"))
# Python, too, has a word of that name, which it complains about in quotes.
FORCE = re.compile(r"(?<!')\bbreak\b|\bbreak[_-]lease\b|\bsteal", re.IGNORECASE)
WORDS = re.compile(r"break|steal", re.IGNORECASE)
# The name of the command is a name wherever calls are listed, and its own help says what it does.
NAMES = {"break", "break_lease"}
ITS_OWN = {"cli/break_lease.py", "cli/commands.py"}
NEXT = re.compile(r"^  next: (\w+)", re.MULTILINE)
CALLS = {"acquire", "commit", "get", "leases", "regions", "release", "review", "show", "who"}


def texts(path: Path) -> Iterator[str]:
    """All texts in a file but its docstrings, which no agent is shown; none of a file without such a word at all."""
    source = path.read_text(encoding="utf-8")
    if not WORDS.search(source):  # most files: parsing takes long
        return
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_text_names_the_way_of_force() -> None:
    names = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    assert len(names) > 100
    found = {
        name: [text for text in texts(path) if text not in NAMES and FORCE.search(text)]
        for name, path in names.items()
        if name not in ITS_OWN
    }
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("story", STORIES, ids=lambda path: path.stem)
def test_no_answer_of_a_story_does(story: Path) -> None:
    text = story.read_text(encoding="utf-8")
    answers = [line for part in text.split("\n\n") for line in part.partition("----\n")[2].splitlines()]
    told = [
        line for line in answers if line.lstrip().startswith(("refused", "denied", "error", "hint", "notice", "next"))
    ]
    assert [line for line in told if FORCE.search(line)] == []
    assert set(NEXT.findall(text)) <= CALLS
