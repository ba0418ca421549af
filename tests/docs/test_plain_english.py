"""Docstrings, comments, messages and pages name the actor: markers of stilted prose stay rare.

A marker is a phrase that hides the subject of a sentence: a noun clause ("what is held", "what the other changed"),
a pronoun without a person ("nobody", "whoever"), or a passive without an actor ("told"). Well-known projects have about
one in 10,000 words.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

ROOT = Path(__file__).parents[2]
MARKER = re.compile(
    r"\bwhat (?:is|was|are|were|it|they|he|she|has|had|have|the|an?|one|else|others?|another|some(?:one|body)|nobody)\b"
    r"|\bwhat (?:can|could|may|must|will|would|does|do|did|comes?|came|stands|lies|belongs|goes|happens|happened)\b"
    r"|\bnobody\b|\bwhoever\b|\btold\b|\bwho (?:is|has|does|reads|asks|writes)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
MOST_IN_TEN_THOUSAND = 5
PACKAGES = sorted(each.parent.name for each in ROOT.glob("src/commonhold/*/__init__.py"))
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "docs/benchmarks.md"})
"""The pages that people write; docs/benchmarks.md is a template filled with figures, whose names have markers."""


class Text(ast.Constant):
    """A constant that is a text."""

    value: str


def _is_text(node: ast.AST) -> TypeGuard[Text]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def prose_of(source: str) -> Iterator[str]:
    """Docstrings, those of attributes too, and comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and _is_text(node.value):
            yield node.value.value
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


def messages_of(source: str) -> Iterator[str]:
    """All texts of more than one word that are no docstrings: messages, hints, help. A value in an f-string is `X`."""
    nodes = list(ast.walk(ast.parse(source)))
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    passed = {id(part) for node in joined for part in node.values}
    passed |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = ["".join(part.value if _is_text(part) else "X" for part in node.values) for node in joined]
    texts += [node.value for node in nodes if _is_text(node) and id(node) not in passed]
    yield from (text for text in texts if " " in text.strip())


def markers_in(texts: Iterator[str]) -> tuple[list[str], int]:
    """The markers, each with the words around it, and the number of all words. Code in backticks does not count."""
    found, words = [], 0
    for text in texts:
        plain = " ".join(CODE.sub("", text).split())
        words += plain.count(" ") + 1
        found += [plain[max(match.start() - 40, 0) : match.end() + 40] for match in MARKER.finditer(plain)]
    return found, words


def is_plain(found: list[str], words: int) -> bool:
    return len(found) <= 1 + words * MOST_IN_TEN_THOUSAND // 10_000


def sources_of(package: str) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in sorted((ROOT / "src/commonhold" / package).rglob("*.py"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_and_comments_use_plain_english(package: str) -> None:
    found, words = markers_in(text for source in sources_of(package) for text in prose_of(source))

    assert is_plain(found, words), found


@pytest.mark.parametrize("package", PACKAGES)
def test_messages_use_plain_english(package: str) -> None:
    found, words = markers_in(text for source in sources_of(package) for text in messages_of(source))

    assert is_plain(found, words), found


def test_the_pages_use_plain_english() -> None:
    found, words = markers_in(page.read_text(encoding="utf-8") for page in PAGES)

    assert words > 30_000
    assert is_plain(found, words), found


def test_a_marker_is_found_in_docstrings_and_comments_but_not_in_code() -> None:
    source = '"""Give what is held to whoever asks."""\nX = "nobody"  # nobody reads `what is`\n'

    assert markers_in(prose_of(source)) == (
        ["Give what is held to whoever asks.", "Give what is held to whoever asks.", "# nobody reads"],
        10,
    )


def test_messages_are_texts_of_several_words_that_are_no_docstrings() -> None:
    source = '"""What is it."""\nx = f"nobody has {name}"\ny = {"word": ("two words", "what is "\n"held")}\n'

    assert sorted(messages_of(source)) == ["nobody has X", "two words", "what is held"]
