"""Regular expressions mean what they seem to mean."""

import re
from pathlib import Path

import commonhold

SOURCE = Path(commonhold.__file__).parent
SLIPPING = re.compile(r"\\s[*+]\(\?!")
"""Blanks before a negative lookahead: the search gives one back, and then a blank is not what may not follow."""


def test_no_blank_slips_between_a_pattern_and_what_may_not_follow_it() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{number}: {line.strip()}"
        for file in sorted(SOURCE.rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if SLIPPING.search(line)
    ]
    assert not found, "write the blanks inside of it: (?!\\s*...)"


def test_such_a_pattern_is_seen() -> None:
    assert SLIPPING.search(r"metaclass=\s*(?!ABCMeta)")
    assert re.match(r"=\s*(?!x)", "= x")  # which is why
