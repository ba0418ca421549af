"""What a language is: data. Discovery reads it; nothing is subclassed."""

import re
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from re import Pattern

import tree_sitter

# Where Python ends a line and the syntax tree, like every count of lines here, does not.
LONE_RETURN = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """How files of one language are recognised, and which syntax nodes matter in them.

    `grammar` is the module of a tree-sitter grammar, imported with the first parse. Kinds are node types of that
    grammar: `definition_kinds` become regions, those among them in `class_kinds` are containers; `wrapper_kinds` are
    descended through, so that a definition under `if` is found; `statement_suffixes` end the types of whole
    statements, which tells sound nodes from loose tokens in a broken file. `declared_encoding` finds the name of the
    encoding (group 1) in a head line. `text_kind` is what lies between the quotes of a string: outside of it, a
    carriage return without a line feed ends a line of the language.
    """

    name: str
    grammar: str = field(repr=False)
    extensions: frozenset[str]
    definition_kinds: frozenset[str]
    class_kinds: frozenset[str]
    wrapper_kinds: frozenset[str]
    decorated_kind: str
    comment_kind: str
    comment_mark: bytes
    statement_suffixes: tuple[str, ...]
    text_kind: str
    filenames: frozenset[str] = frozenset()
    interpreters: Pattern[bytes] | None = None
    declared_encoding: Pattern[bytes] | None = None
    nested_kinds: frozenset[str] = field(init=False, repr=False)
    next_comment: Pattern[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Keep what follows from the fields: the kinds that hold statements, and a comment below blank lines."""
        object.__setattr__(self, "next_comment", re.compile(rb"\s*" + re.escape(self.comment_mark)))
        object.__setattr__(self, "nested_kinds", self.wrapper_kinds | self.definition_kinds)


@cache
def _grammar(language: Language) -> tree_sitter.Language:
    pointer: object = import_module(language.grammar).language()
    return tree_sitter.Language(pointer)


def parse(source: bytes, language: Language, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
    """The syntax tree of UTF-8 bytes; `old` is an edited tree of the former bytes to reuse."""
    parser = tree_sitter.Parser(_grammar(language))
    return parser.parse(source, old) if old is not None else parser.parse(source)
