"""The names that files without a profile define line by line: keys of a section, targets, fields, ids of elements."""

import re
from collections.abc import Iterator
from typing import Final

from commonhold.merging.doubled import doubled
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_SECTION: Final = re.compile(rb"[ \t]*(\[[^\]\n]+\])[ \t]*\r?\n?\Z")
_COMMENT: Final = re.compile(rb"[ \t]*(?:[#;]|//|--)")
_KEY: Final = re.compile(rb"(?:export[ \t]+)?([^\s=:#;\[][^=:\n]*?)[ \t]*[=:]")
_FIELD: Final = re.compile(rb"[ \t]*[\"`]?(\w+)[\"`]?[ \t]*(?:\([^()]*\))?[ \t]*[=:{]")
_BLOCK: Final = re.compile(rb"[ \t]*(\w[^{}()\n]*?)[ \t]*[{(][^})\n]*\r?\n?\Z")
_NUMBERED: Final = re.compile(rb"(\w+)[ \t]*=[ \t]*(\d+)[ \t]*[;\[]")
_TARGET: Final = re.compile(rb"([\w.%/$()-]+)[ \t]*:(?![:=])")
_VARIABLE: Final = re.compile(rb"(?:export[ \t]+)?(\w+)[ \t]*[:?!]?=")
_LAST: Final = re.compile(rb"(?i:(CMD|ENTRYPOINT|HEALTHCHECK))\b")  # only the last one in a stage counts
_STAGE: Final = re.compile(rb"(?i:FROM)\b.*")
_CREATED: Final = re.compile(
    rb"(?i:[ \t]*CREATE[ \t]+(?:OR[ \t]+REPLACE[ \t]+)?((?:\w+[ \t]+){0,3}?\w+)[ \t]+)"
    rb"(?i:IF[ \t]+NOT[ \t]+EXISTS[ \t]+)?[\"`]?([\w.]+)[\"`]?\s*(?:\(|(?i:AS|ON)\b|\Z)"
)
_LABEL: Final = re.compile(rb"^ {0,3}\[([^\]\n]+)\]:", re.MULTILINE)
_COLUMN: Final = re.compile(rb"[ \t]+[\"`]?(\w+)[\"`]?[ \t]+[A-Za-z]\w*")
_ID: Final = re.compile(rb"\bid[ \t]*=[ \t]*[\"']([^\"'{}<>]+)[\"']")
_NAME: Final = re.compile(rb"\b(?:android:)?name=\"([^\"]+)\"")
_FORMATS: Final = (
    (("cfg", "conf", "editorconfig", "env", "gitconfig", "gitmodules", "ini", "properties"), (_KEY,)),
    (("gql", "graphql", "hcl", "tf", "tfvars"), (_FIELD,)),
    (("containerfile", "dockerfile"), (_LAST,)),
    (("makefile", "mk"), (_TARGET, _VARIABLE)),
    (("ddl", "sql"), (_COLUMN,)),
)
_PATTERNS: Final = {suffix: patterns for suffixes, patterns in _FORMATS for suffix in suffixes}
_MARKUP: Final = {
    **dict.fromkeys(("markdown", "md", "mdx"), (_LABEL,)),
    "htm": (_ID,),
    "html": (_ID,),
    "svg": (_ID,),
    "vue": (_ID,),
    "xhtml": (_ID,),
    "xml": (_ID, _NAME),
}

Place = tuple[bytes, ...]


def keys_given_twice(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why a file merged by lines would define a name twice in one section or block; None if it does not."""
    kind = path.rpartition("/")[2].lower().rpartition(".")[2]
    if kind not in _PATTERNS and kind not in _MARKUP and kind != "proto":
        return None
    twice = doubled(merged, versions, lambda source: _keys(source, kind))
    if not twice:
        return None
    shown = twice[0][-1].decode(errors="replace")
    return Spot(Reason.SAME_NAME, f"put together it would give {shown!r} twice in one place")


def _keys(source: bytes, kind: str) -> Iterator[Place]:
    """Yield each name with the section or the blocks around it."""
    if kind in _MARKUP:
        yield from ((found,) for pattern in _MARKUP[kind] for found in pattern.findall(source))
        return
    section: Place = ()
    blocks: list[bytes] = []
    for line in lines_of(source):
        if _COMMENT.match(line):
            continue
        if header := _SECTION.match(line) if kind in _PATTERNS and _PATTERNS[kind] == (_KEY,) else None:
            section = (header[1],)
            yield section
            continue
        if _PATTERNS.get(kind) == (_LAST,) and (stage := _STAGE.match(line)):
            section = (stage[0],)
        if kind in {"ddl", "sql"} and not blocks and (created := _CREATED.match(line)):
            yield b" ".join(created[1].lower().split()), created[2].lower()
        around = (*section, *blocks)
        if kind == "proto":
            yield from ((*around, part) for match in _NUMBERED.finditer(line) for part in match.groups())
        elif kind not in {"ddl", "sql"} or blocks:
            yield from ((*around, match[1]) for pattern in _PATTERNS[kind] if (match := pattern.match(line)))
        if kind not in {"makefile", "mk"} and _PATTERNS.get(kind) != (_KEY,):
            _enter(line, blocks)


def _enter(line: bytes, blocks: list[bytes]) -> None:
    """Keep account of the blocks that a line opens and closes."""
    opened = line.count(b"{") + line.count(b"(") - line.count(b"}") - line.count(b")")
    head = _BLOCK.match(line)
    name = head[1] if head else line.strip()
    blocks += [name] * opened
    del blocks[max(len(blocks) + min(opened, 0), 0) :]
