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
_VALUE: Final = re.compile(rb"(?i:(?:ENV|ARG)[ \t]+(\w+))")
_STAGE: Final = re.compile(rb"(?i:FROM)\b.*")
_STAGE_NAME: Final = re.compile(rb"(?i:FROM\s.*\sAS\s+([\w.-]+))")
_CREATED: Final = re.compile(
    rb"(?i:[ \t]*CREATE[ \t]+(?:OR[ \t]+REPLACE[ \t]+)?((?:\w+[ \t]+){0,3}?\w+)[ \t]+)"
    rb"(?i:IF[ \t]+NOT[ \t]+EXISTS[ \t]+)?[\"`]?([\w.]+)[\"`]?\s*(?:\(|(?i:AS|ON)\b|\Z)"
)
_LABEL: Final = re.compile(rb"^ {0,3}\[([^\]\n]+)\]:", re.MULTILINE)
_COLUMN: Final = re.compile(rb"[ \t]+[\"`]?(\w+)[\"`]?[ \t]+[A-Za-z]\w*")
_MODULE: Final = re.compile(rb"[ \t]*(?:require[ \t]+)?([\w./~-]+)[ \t]+v\d")
_BUILT: Final = re.compile(
    rb"[ \t]*(?i:add_(?:library|executable|custom_target|test))[ \t]*\([ \t]*(?:NAME[ \t]+)?([\w:.-]+)"
)
_PACKAGE: Final = re.compile(rb"([A-Za-z][\w.-]*)[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?:[<>=!~;@#].*)?\s*\Z")
_ARTIFACT: Final = re.compile(rb"<dependency>\s*((?:<groupId>[^<]*</groupId>\s*)?<artifactId>[^<]*)</artifactId>")
_REFERENCE: Final = re.compile(rb"<PackageReference\s+Include=\"([^\"]+)\"")
_ATTRIBUTE: Final = re.compile(rb"\{[^{}\n]*#([\w:-]+)[^{}\n]*\}|<a\s+(?:id|name)=[\"']([^\"'>]+)[\"']")
_BRACKETED: Final = re.compile(rb"^\[\[([^\],\n]+)[^\n]*\]\]|^\[#([\w-]+)", re.MULTILINE)
_TITLE: Final = re.compile(rb"^(={2,6} [^\n]+?)[ \t]*\r?$", re.MULTILINE)
_LABELLED: Final = re.compile(rb"\\(?:label|bibitem)\{([^}\n]+)\}")
_ENTRY: Final = re.compile(rb"^[ \t]*@\w+\{[ \t]*([^,\s]+)[ \t]*,", re.MULTILINE)
_SINGLE: Final = re.compile(rb"<(title|base|main)\b")
_ANCHOR: Final = re.compile(rb"^\.\. (?:_([^:\n]+):|\[([^\]\n]+)\]|\|([^|\n]+)\|)", re.MULTILINE)
_FRONT: Final = re.compile(rb"\A---[ \t]*\r?\n(.*?\n)---[ \t]*\r?\n", re.DOTALL)
_FRONT_KEY: Final = re.compile(rb"^([\w-]+)[ \t]*:", re.MULTILINE)
_ROW: Final = re.compile(rb"[ \t]*\|[ \t]*([^|\n]*[^|\s])[ \t]*\|")
_RULE: Final = re.compile(rb"[ \t]*\|?[ \t:|-]*---[ \t:|-]*\s*\Z")
_ID: Final = re.compile(rb"\bid[ \t]*=[ \t]*[\"']([^\"'{}<>]+)[\"']")
_NAME: Final = re.compile(rb"\b(?:android:)?name=\"([^\"]+)\"")
_FORMATS: Final = (
    (("cfg", "conf", "editorconfig", "env", "gitconfig", "gitmodules", "ini", "properties"), (_KEY,)),
    (("gql", "graphql", "hcl", "tf", "tfvars"), (_FIELD,)),
    (("containerfile", "dockerfile"), (_LAST, _VALUE)),
    (("cmake", "cmakelists.txt"), (_BUILT,)),
    (("go.mod",), (_MODULE,)),
    (("requirements",), (_PACKAGE,)),
    (("makefile", "mk"), (_TARGET, _VARIABLE)),
    (("ddl", "sql"), (_COLUMN,)),
)
_PATTERNS: Final = {suffix: patterns for suffixes, patterns in _FORMATS for suffix in suffixes}
# Formats in which upper and lower case letters are one.
_FOLDED: Final = frozenset({"cfg", "editorconfig", "gitconfig", "ini", "requirements"})
_IMAGES: Final = frozenset({"containerfile", "dockerfile"})
_DOCUMENTS: Final = frozenset({"markdown", "md", "mdx"})
_NAMED: Final = frozenset({"cmakelists.txt", "go.mod"})
_LISTS: Final = ("requirements", "constraints")
_MARKUP: Final = {
    **dict.fromkeys(_DOCUMENTS, (_LABEL, _ATTRIBUTE)),
    "adoc": (_BRACKETED, _TITLE),
    "bib": (_ENTRY,),
    "csproj": (_REFERENCE,),
    "htm": (_ID, _SINGLE),
    "html": (_ID, _SINGLE),
    "rst": (_ANCHOR,),
    "tex": (_LABELLED,),
    "svg": (_ID,),
    "vue": (_ID,),
    "xhtml": (_ID,),
    "xml": (_ID, _NAME, _ARTIFACT),
}

Place = tuple[bytes, ...]


def keys_given_twice(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why a file merged by lines would define a name twice in one section or block; None if it does not."""
    kind = _kind(path)
    if kind not in _PATTERNS and kind not in _MARKUP and kind != "proto":
        return None
    twice = doubled(merged, versions, lambda source: _keys(source, kind))
    if not twice:
        return None
    shown = twice[0][-1].decode(errors="replace")
    return Spot(Reason.SAME_NAME, f"put together it would give {shown!r} twice in one place")


def _kind(path: str) -> str:
    file = path.rpartition("/")[2].lower()
    if file.startswith(_LISTS) and file.endswith(".txt"):
        return _LISTS[0]
    return file if file in _NAMED else file.rpartition(".")[2]


def _keys(source: bytes, kind: str) -> Iterator[Place]:
    """Yield each name with the section or the blocks around it."""
    if kind in _MARKUP:
        found = (match.group(match.lastindex or 0) for pattern in _MARKUP[kind] for match in pattern.finditer(source))
        yield from ((name.lower() if kind in _DOCUMENTS or kind == "rst" else name,) for name in found)
        yield from _rows(source) if kind in _DOCUMENTS else ()
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
        if kind in _IMAGES and (stage := _STAGE.match(line)):
            section = (stage[0],)
            named = _STAGE_NAME.match(line)
            yield from ((b"stage", named[1].lower()),) if named else ()
        if kind in {"ddl", "sql"} and not blocks and (created := _CREATED.match(line)):
            yield b" ".join(created[1].lower().split()), created[2].lower()
        around = (*section, *blocks)
        if kind == "proto":
            yield from ((*around, part) for match in _NUMBERED.finditer(line) for part in match.groups())
        elif kind not in {"ddl", "sql"} or blocks:
            names = (match[1] for pattern in _PATTERNS[kind] if (match := pattern.match(line)))
            yield from ((*around, _folded(name, kind)) for name in names)
        if kind not in {"makefile", "mk"} and _PATTERNS.get(kind) != (_KEY,):
            _enter(line, blocks)


def _folded(name: bytes, kind: str) -> bytes:
    text = re.sub(rb"[-_.]+", b"-", name) if kind == _LISTS[0] else name
    return text.lower() if kind in _FOLDED else text


def _rows(source: bytes) -> Iterator[Place]:
    """Yield the keys of the data before a document, and the first cell of each row of its tables."""
    front = _FRONT.match(source)
    yield from ((b"---", key) for key in _FRONT_KEY.findall(front[1])) if front else ()
    head, before = b"", b""
    for line in lines_of(source):
        if _RULE.match(line) and b"|" in before:
            head = before
        elif not line.lstrip().startswith(b"|"):
            head = b""
        elif head and (row := _ROW.match(line)):
            yield head, row[1]
        before = line


def _enter(line: bytes, blocks: list[bytes]) -> None:
    """Keep account of the blocks that a line opens and closes."""
    opened = line.count(b"{") + line.count(b"(") - line.count(b"}") - line.count(b")")
    head = _BLOCK.match(line)
    name = head[1] if head else line.strip()
    blocks += [name] * opened
    del blocks[max(len(blocks) + min(opened, 0), 0) :]
