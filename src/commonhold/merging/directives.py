"""Directives: lines that change the meaning of the code of a file, such as `"use strict"` or `set -e`.

If one side writes or removes one, new code of the other, which its author tried without it, may act differently.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.merging.changed_rows import changed_rows
from commonhold.merging.layout import FileElement
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_SCRIPT: Final = rb"[\"']use (?:strict|client|server|asm)[\"']|//\s*@ts-(?:check|nocheck)\b"
_DIRECTIVES: Final = {
    "c": rb"#\s*pragma\s+(?:pack|STDC|GCC\s+(?:optimize|target|visibility)|clang\s+optimize)\b",
    "csharp": rb"#nullable\b",
    "go": rb"//go:build\b|// \+build\b",
    "java": rb"package\s+[\w.]+",
    "javascript": _SCRIPT,
    "kotlin": rb"package\s+[\w.]+",
    "php": rb"(?:<\?php)?\s*declare\s*\(",
    "python": rb"from __future__ import\b",
    "ruby": rb"#.*\b(?:frozen_string_literal|encoding|coding)\s*:|using\s+[A-Z]",
    "rust": rb"#!\[(?!doc\b|allow\b)",
    "shell": rb"(?:set\s+[-+]\w|shopt\s|IFS=)",
}
_LIKE: Final = {"cpp": "c", "tsx": "javascript", "typescript": "javascript"}
_ALLOWING: Final = re.compile(rb".*(?:@ts-nocheck|import annotations)\b")  # the rest stays as accepted as before
_BETWEEN_COMMENTS: Final = (b"*", b"/*")


def directed_otherwise(language: str, base: FileElement, ours: FileElement, theirs: FileElement) -> Iterator[Spot]:
    """Yield a spot for each side that changed the directives of a file in which the other wrote code."""
    pattern = _DIRECTIVES.get(_LIKE.get(language, language))
    if pattern is None:
        return
    is_directive = re.compile(pattern).match
    comments = (base.profile.comment_mark, *_BETWEEN_COMMENTS)
    changes = [_Changes.of(base, side, is_directive) for side in (ours, theirs)]
    for at, (one, other) in enumerate((changes, changes[::-1])):
        written = (row for row, line in other.come if not line.startswith(comments) and not is_directive(line))
        row = next(written, None) if one.directives else None
        if row is not None:
            shown = one.directives[0].decode(errors="replace")
            why = f"one side changed whether {shown!r} holds, and the other wrote code in this file"
            yield Spot(Reason.INTERFERES, why, **{"ours" if at else "theirs": (row, row + 1)})


@dataclass(frozen=True, slots=True)
class _Changes:
    """The directives that a side changed, and the lines that it wrote, each with its row."""

    directives: Sequence[bytes]
    come: Sequence[tuple[int, bytes]]

    @classmethod
    def of(cls, base: FileElement, side: FileElement, is_directive: Callable[[bytes], object]) -> "_Changes":
        texts = [lines_of(each.source) for each in (base, side)]
        gone, come = (
            [(row, text[row].strip()) for row in rows.rows if text[row].strip()]
            for text, rows in zip(texts, changed_rows(base.source, side.source), strict=True)
        )
        lines = [line for _, line in gone] + [line for _, line in come if not _ALLOWING.match(line)]
        return cls([line for line in lines if is_directive(line)], come)
