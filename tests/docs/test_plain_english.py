"""Docstrings and comments name the actor and use standard terms: markers of stilted prose stay rare.

A marker is a phrase that hides the subject of a sentence: a noun clause ("what is held", "what the other changed"),
or a pronoun without a person ("nobody", "whoever"). Well-known projects have about one in 10,000 words.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MARKER = re.compile(
    r"\bwhat (?:is|was|are|were|it|they|has|had|have|the|an?|one|others?|another|some(?:one|body)|nobody)\b"
    r"|\bwhat (?:came|comes|stands|lies)\b"
    r"|\bnobody\b|\bwhoever\b|\bwho (?:is|has|reads|asks|writes)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
MOST_IN_TEN_THOUSAND = 5


def prose_of(source: str) -> Iterator[str]:
    """Docstrings, those of attributes too, and comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


def markers_in(texts: Iterator[str]) -> tuple[list[str], int]:
    """The markers, each with the words around it, and the number of all words. Code in backticks does not count."""
    found, words = [], 0
    for text in texts:
        plain = " ".join(CODE.sub("", text).split())
        words += plain.count(" ") + 1
        found += [plain[max(match.start() - 40, 0) : match.end() + 40] for match in MARKER.finditer(plain)]
    return found, words


@pytest.mark.parametrize("room", sorted(each.parent.name for each in ROOT.glob("src/commonhold/*/__init__.py")))
def test_docstrings_and_comments_use_plain_english(room: str) -> None:
    files = sorted((ROOT / "src/commonhold" / room).rglob("*.py"))
    found, words = markers_in(text for file in files for text in prose_of(file.read_text(encoding="utf-8")))

    assert len(found) <= 1 + words * MOST_IN_TEN_THOUSAND // 10_000, found


def test_a_marker_is_found_in_docstrings_and_comments_but_not_in_code() -> None:
    source = '"""Give what is held to whoever asks."""\nX = "nobody"  # nobody reads `what is`\n'

    assert markers_in(prose_of(source)) == (
        ["Give what is held to whoever asks.", "Give what is held to whoever asks.", "# nobody reads"],
        10,
    )
