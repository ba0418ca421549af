"""Matches with an arm for each variant and no default arm, by the node kinds that most grammars share."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

MATCHES: Final = frozenset(
    {
        "match_expression",
        "match_statement",
        "switch_expression",
        "switch_statement",
        "when_expression",
    }
)
_ARMS: Final = frozenset(
    {
        "case_clause",
        "case_statement",
        "default_statement",
        "match_arm",
        "match_conditional_expression",
        "match_default_expression",
        "switch_block_statement_group",
        "switch_case",
        "switch_default",
        "switch_entry",
        "switch_expression_arm",
        "switch_rule",
        "switch_section",
        "when_entry",
    }
)
_CASES: Final = frozenset({"block", "case_block", "compound_statement", "match_block", "switch_block", "switch_body"})
_WORD: Final = re.compile(rb"\w+")
_BODY: Final = re.compile(rb"=>|->|(?<!:):(?!:)")
_REST: Final = re.compile(rb"\A(?:case\s+)?(?:_|default|else|var\s+\w+|let\s+\w+)\s*\Z")
# In these, a pattern that is a single name matches the rest.
_BINDING: Final = frozenset({"match_expression", "match_statement"})
_CAPTURE: Final = re.compile(rb"\A(?:case\s+)?[a-z]\w*\s*\Z")
# An arm marked unreachable makes the compiler report variants without an arm.
_NEVER: Final = re.compile(rb"never|unreachable", re.IGNORECASE)


def labels_of(match: Node) -> Iterator[bytes]:
    """Yield the words of all labels; none if an arm matches the rest."""
    arms = list(_arms(match))
    labels = [_BODY.split(arm.text or b"", maxsplit=1)[0].strip() for arm in arms]
    for arm, label in zip(arms, labels, strict=True):
        is_rest = _REST.match(label) or (match.type in _BINDING and _CAPTURE.match(label))
        if is_rest and not _NEVER.search(arm.text or b""):
            return
    for label in labels:
        yield from dict.fromkeys(_WORD.findall(label.removeprefix(b"case ")))


def _arms(match: Node) -> Iterator[Node]:
    for child in match.named_children:
        if child.type in _ARMS:
            yield child
        elif child.type in _CASES:
            yield from (each for each in child.named_children if each.type in _ARMS)
