"""Text that grammars are slow on: a few tokens, repeated."""

import random
from collections.abc import Iterator
from typing import Final

import tree_sitter

from commonhold.code.regions.language import Language, parser_of

# What was found: a path, what is repeated, and how the parser gets lost in it.
KNOWN: Final = (
    ("a.py", "<!--"),
    ("a.ts", "***a"),
    ("a.js", "***a"),
    ("a.go", "<!--"),
    ("A.java", "<!--"),
    ("a.cs", "<!--"),
    ("a.sh", "a?"),
    ("a.sh", "[a]("),
    ("a.sh", "\0"),
    ("a.html", "<!--"),
    ("a.css", "/*, "),
    ("a.scala", "'if"),
)
# Those whose last step is the long one.
ENDLESS: Final = (("A.java", "a=>"), ("a.c", "a=>"), ("A.java", "sealed*=!="), ("a.cs", "a<"), ("a.sh", "+=|\n"))
_TOKENS: Final = (
    "a", "1", "'", '"', "\n", " ", "\t", "\0", "é", "//", "/*", "<!--", "#", "\\", "`", "A ", "b ", "\n ", "\r", "0x",
)  # fmt: skip


def repeated(unit: str, size: int) -> bytes:
    """So many bytes of a unit."""
    data = unit.encode()
    return (data * (size // len(data) + 1))[:size]


def units(language: Language, seed: int, count: int) -> Iterator[str]:
    """Units of one to four tokens of a language; the same for the same seed."""
    chance = random.Random(f"{seed} {language.name}")
    tokens = (*_TOKENS, *sorted(_own_tokens(parser_of(language).language)))
    for _ in range(count):
        parts = [chance.choice(tokens) for _ in range(chance.choice((1, 1, 2, 2, 3, 3, 4)))]
        yield chance.choice(("", "", " ")).join(parts) + chance.choice(("\n", " ", ""))


def _own_tokens(grammar: tree_sitter.Language | None) -> Iterator[str]:
    """The keywords and signs of a grammar."""
    if grammar is None:
        return
    for number in range(grammar.node_kind_count):
        kind = grammar.node_kind_for_id(number)
        if kind and grammar.node_kind_is_visible(number) and not grammar.node_kind_is_named(number):
            yield kind
