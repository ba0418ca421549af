"""The description of a language: data. Discovery reads it; there are no subclasses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from re import Pattern
from typing import Final

import tree_sitter
from tree_sitter import Node

from commonhold.code.regions.budget import MOST_UNCOUNTED_BYTES, parsed
from commonhold.code.regions.outline import MAX_DEPTH, Outline
from commonhold.kernel.keys import CONTAINERS, Kind

# Python ends a line here; the syntax tree and all line counts in this package do not.
LONE_RETURN = re.compile(rb"\r(?!\n)")
_NOTHING: Final = re.compile(rb"(?!)")
# For two files, before and after an edit.
_TREES_KEPT: Final = 8
_LARGEST_KEPT: Final = 250_000


def body_field(node: Node) -> Node | None:
    """Return the field that most grammars call the body."""
    return node.child_by_field_name("body")


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The definition that one kind of syntax node makes.

    `name` gives the defined name in the spelling of the language; None if this node defines nothing. `body` gives the
    node whose children are searched for members, in a container. `otherwise` is tried if `name` is None.
    """

    kind: Kind
    name: Callable[[Node], str | None]
    body: Callable[[Node], Node | None] = body_field
    otherwise: "Rule | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The spacing of definitions in the text.

    `top` and `nested` are the blank lines between definitions in a file and in a container; `opens` matches a line
    below which none is wanted, `closes` the line above which none is. `separator` stands between definitions, but not
    after the last.
    """

    top: int = 1
    nested: int = 1
    opens: Pattern[bytes] = re.compile(rb"[{(\[]\s*(?://.*|/\*.*\*/\s*|#.*)?\Z")
    closes: Pattern[bytes] = re.compile(rb"[})\]]")
    separator: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """How files of one language are recognised, and which parts of them are definitions.

    `outline` finds the definitions, using the other fields. `grammar` is the module of a tree-sitter grammar, imported
    with the first parse; empty if none is needed. Kinds are node types of that grammar. The search descends through
    nodes of `wrapper_kinds`, so that a definition under `if` is found; those of `shell_kinds` lend their lines to the
    one definition inside (`export`, a template); those of `lead_kinds` stand before a definition and belong to it
    (attributes), as comments directly above do, except for those that match `loose_comment`; those of `open_kinds` have
    no last token, so that comments may lie at their end; `closing_kinds` follow a definition and belong to it
    (`end C`); `closers` are the tokens that end a body. `brackets` says by how much a token opens or closes: with it, a
    loose piece of syntax that is balanced is ignored, since grammars know less than compilers; without it, the first
    error ends the sound part. `file_body` is the node that contains a whole file, with a last token of its own. `tail`
    matches text that may follow a definition on its last line, `max_depth` is how deeply definitions nest. If `beyond`
    returns true, the file is more than the grammar can handle: it is text.

    `statement_suffixes` end the types of whole statements, which distinguishes sound nodes from loose tokens in a
    broken file. `declared_encoding` finds the name of the encoding (group 1) in a head line. `text_kind` is the node
    between the quotes of a string: outside of it, a carriage return without a line feed ends a line of the language.
    """

    name: str
    outline: Callable[[bytes, "Language", tree_sitter.Tree | None], Outline] = field(repr=False)
    grammar: str = field(default="", repr=False)
    grammar_function: str = field(default="language", repr=False)
    extensions: frozenset[str] = frozenset()
    filenames: frozenset[str] = frozenset()
    interpreters: Pattern[bytes] | None = None
    rules: Mapping[str, Rule] = field(default_factory=dict, repr=False)
    wrapper_kinds: frozenset[str] = frozenset()
    shell_kinds: frozenset[str] = frozenset()
    lead_kinds: frozenset[str] = frozenset()
    open_kinds: frozenset[str] = frozenset()
    comment_kinds: frozenset[str] = frozenset({"comment"})
    closing_kinds: frozenset[str] = frozenset()
    closers: frozenset[str] = frozenset({"}"})
    loose_comment: Pattern[bytes] = _NOTHING
    brackets: Mapping[str, int] = field(default_factory=dict, repr=False)
    tail: Pattern[bytes] = _NOTHING
    file_body: str = ""
    max_depth: int = MAX_DEPTH
    beyond: Callable[[bytes], object] | None = field(default=None, repr=False)
    comment_mark: bytes = b"#"
    layout: Layout = field(default_factory=Layout, repr=False)
    statement_suffixes: tuple[str, ...] = ()
    declared_encoding: Pattern[bytes] | None = None
    text_kind: str = ""
    class_kinds: frozenset[str] = field(init=False, repr=False)
    nested_kinds: frozenset[str] = field(init=False, repr=False)
    next_comment: Pattern[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compute values from the fields: containers, kinds that hold statements, a comment below blank lines."""
        containers = frozenset(kind for kind, rule in self.rules.items() if rule.kind in CONTAINERS)
        object.__setattr__(self, "class_kinds", containers)
        object.__setattr__(self, "nested_kinds", self.wrapper_kinds | frozenset(self.rules))
        object.__setattr__(self, "next_comment", re.compile(rb"\s*" + re.escape(self.comment_mark)))


@cache
def grammar_of(language: Language) -> tree_sitter.Language:
    """Return the grammar of a language that has one."""
    pointer: object = getattr(import_module(language.grammar), language.grammar_function)()
    return tree_sitter.Language(pointer)


def parser_of(language: Language) -> tree_sitter.Parser:
    """Return a parser for a language that has a grammar."""
    return tree_sitter.Parser(grammar_of(language))


def parse(source: bytes, language: Language, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
    """Return the syntax tree of UTF-8 bytes; `old` is an edited tree of the former bytes to reuse.

    Recent trees of texts of ordinary size are shared between callers, so no caller may change them. Raises
    BudgetExceededError if the grammar needs more work for the bytes than for any ordinary file.
    """
    return _kept(source, language) if old is None and len(source) <= _LARGEST_KEPT else _parsed(source, language, old)


@lru_cache(maxsize=_TREES_KEPT)
def _kept(source: bytes, language: Language) -> tree_sitter.Tree:
    return _parsed(source, language, None)


def _parsed(source: bytes, language: Language, old: tree_sitter.Tree | None) -> tree_sitter.Tree:
    parser = parser_of(language)
    if len(source) > MOST_UNCOUNTED_BYTES:
        return parsed(parser, source, language.name, old)
    return parser.parse(source, old) if old is not None else parser.parse(source)
