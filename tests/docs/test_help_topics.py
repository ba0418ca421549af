"""What the program says of the documentation can be followed where only the program is installed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from commonhold.cli.help import pages

SOURCE = Path(__file__).parents[2] / "src" / "commonhold"
A_PAGE = re.compile(r"docs/([a-z-]+)\.md")
A_TOPIC = re.compile(r"commonhold help ([a-z-]+)`")


def texts() -> Iterator[tuple[str, str]]:
    """Every text in the code that people may be shown: all but docstrings, which are shown by commands alone."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        shown = path.parent.name == "cli"
        docs = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
            if not (shown and isinstance(node, ast.FunctionDef))
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value


def test_no_text_names_a_page_that_an_installed_user_does_not_have() -> None:
    assert [
        (place, name)
        for place, text in texts()
        for name in A_PAGE.findall(text)
        if name in pages() and not place.startswith("cli/help.py")
    ] == []


def test_each_topic_that_a_text_names_exists() -> None:
    named = {name for _, text in texts() for name in A_TOPIC.findall(text)}
    assert len(named) > 5
    assert named <= set(pages())
