"""The common parts of related languages."""

import re
from typing import Final

BRACKETS: Final = {"{": 1, "}": -1, "(": 1, ")": -1, "[": 1, "]": -1}
# Text that may follow a definition on its last line: separators, and a comment that ends there.
C_TAIL: Final = re.compile(rb"[\s;,]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/\s*)?\n?", re.DOTALL)
HASH_TAIL: Final = re.compile(rb"[\s;,]*(?:#[^\n]*)?\n?")
_COMMENT_MARK: Final = re.compile(rb"/\*|\*/")
_DEEPEST_COMMENT: Final = 500


def nests_comments(source: bytes) -> bool:
    """Whether comments nest more deeply than in any written code; some grammars read to the end for each."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(source):
        depth = depth + 1 if mark[0] == b"/*" else max(0, depth - 1)
        if depth > _DEEPEST_COMMENT:
            return True
    return False
