"""Markdown, HTML and CSS."""

import re
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.headings import outline_html, outline_markdown
from commonhold.code.regions.language import Language, Layout, Rule
from commonhold.code.regions.languages.common import BRACKETS, C_TAIL
from commonhold.code.regions.nested import outline_nested
from commonhold.code.regions.node_names import child_of, first_of, has
from commonhold.kernel.keys import Kind

_NEVER: Final = re.compile(rb"(?!)")
_SPACE: Final = re.compile(r"\s+")
_TEXT: Final = Layout(opens=_NEVER, closes=_NEVER)

MARKDOWN: Final = Language(
    name="markdown",
    outline=outline_markdown,
    extensions=frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"}),
    layout=_TEXT,
)

HTML: Final = Language(
    name="html",
    outline=outline_html,
    grammar="tree_sitter_html",
    extensions=frozenset({".html", ".htm", ".xhtml"}),
    layout=_TEXT,
)


def _before_block(node: Node) -> str | None:
    """Name a rule by the text before its braces."""
    block = first_of(node, "block", "keyframe_block_list")
    if block is None:
        return None
    text = (node.text or b"")[: block.start_byte - node.start_byte].decode(errors="replace")
    return _SPACE.sub(" ", re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))


def _holds_rules(node: Node) -> str | None:
    """Return the name of an at-rule that holds rules, not declarations."""
    block = first_of(node, "block")
    holds = block is not None and has(block, "rule_set", "media_statement", "supports_statement", "at_rule")
    return _before_block(node) if holds else None


_RULE: Final = Rule(Kind.ENTRY, _before_block)
_AT_RULE: Final = Rule(Kind.SECTION, _holds_rules, child_of("block"), otherwise=_RULE)

CSS: Final = Language(
    name="css",
    outline=outline_nested,
    grammar="tree_sitter_css",
    extensions=frozenset({".css"}),
    rules={
        "rule_set": _RULE,
        "keyframes_statement": _RULE,
        "media_statement": _AT_RULE,
        "supports_statement": _AT_RULE,
        "scope_statement": _AT_RULE,
        "at_rule": _AT_RULE,
    },
    comment_kinds=frozenset({"comment", "js_comment"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"/*",
)
