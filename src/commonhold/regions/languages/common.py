"""What languages of one descent share."""

import re
from typing import Final

BRACKETS: Final = {"{": 1, "}": -1, "(": 1, ")": -1, "[": 1, "]": -1}
# What may stand behind a definition on its last line: separators, and a comment that ends there.
C_TAIL: Final = re.compile(rb"[\s;,]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/\s*)?\n?", re.DOTALL)
HASH_TAIL: Final = re.compile(rb"[\s;,]*(?:#[^\n]*)?\n?")
