"""References by name in formats that are merged without a grammar of their meaning: styles, recipes, images, documents.

One side takes away a target, a stage, a custom property or a heading; the other newly refers to it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.merging.verdict import Reason, Spot

Pattern = re.Pattern[bytes]


@dataclass(frozen=True, slots=True)
class _Link:
    """How a format gives names, and how it refers to them, perhaps to several at once, with blanks between them.

    `form` is the form in which references write a given name.
    """

    gives: Pattern
    refers: Pattern
    form: Callable[[bytes], bytes] = bytes
    are_several: bool = False


def _pattern(text: bytes) -> Pattern:
    return re.compile(text, re.MULTILINE)


def _slug(heading: bytes) -> bytes:
    """Return the anchor of a heading: lower case, hyphens for blanks, no punctuation."""
    kept = re.sub(rb"[^\w\- \x80-\xff]", b"", heading.strip().rstrip(b"#").strip().lower())
    return kept.replace(b" ", b"-")


def _folded(label: bytes) -> bytes:
    return b" ".join(label.lower().split())


_STYLES: Final = (
    _Link(_pattern(rb"(?<![\w-])(--[\w-]+)[ \t]*:"), _pattern(rb"var\(\s*(--[\w-]+)")),
    _Link(_pattern(rb"@(?:-webkit-)?keyframes\s+([\w-]+)"), _pattern(rb"animation(?:-name)?\s*:\s*([\w-]+)")),
    _Link(_pattern(rb"^[ \t]*(\$[\w-]+|@[\w-]+)[ \t]*:"), _pattern(rb"(?<![\w-])(\$[\w-]+|@[\w-]+)(?![ \t]*:|[\w-])")),
    _Link(_pattern(rb"@mixin\s+([\w-]+)"), _pattern(rb"@include\s+([\w-]+)")),
)
_DOCUMENTS: Final = (
    _Link(_pattern(rb"^ {0,3}\[([^\]^\n]+)\]:"), _pattern(rb"\]\[([^\]\[\n]+)\]"), _folded),
    _Link(_pattern(rb"^ {0,3}\[(\^[^\]\n]+)\]:"), _pattern(rb"\[(\^[^\]\[\n]+)\](?!:)"), _folded),
    _Link(_pattern(rb"^#{1,6}[ \t]+([^\n]+)"), _pattern(rb"\]\(#([^)\s]+)"), _slug),
)
_PAPERS: Final = (_Link(_pattern(rb"\\label\{([^}\n]+)\}"), _pattern(rb"\\(?:\w*ref)\*?\{([^}\n]+)\}")),)
_RECIPES: Final = (
    _Link(_pattern(rb"^([\w./-]+)[ \t]*:(?![:=])"), _pattern(rb"^[\w./ -]+:(?![:=])([^\n;#|]*)"), are_several=True),
    _Link(_pattern(rb"^(?:export\s+)?(\w+)\s*[:+?!]?="), _pattern(rb"\$[({](\w+)[)}]")),
)
_IMAGES: Final = (
    _Link(_pattern(rb"(?i:^FROM\s.*\sAS)\s+([\w.-]+)"), _pattern(rb"(?:--from=|(?i:^FROM)\s+)([\w.-]+)")),
    _Link(_pattern(rb"(?i:^(?:ARG|ENV))\s+(\w+)"), _pattern(rb"\$\{?(\w+)")),
)
_MANIFESTS: Final = (
    _Link(_pattern(rb"^[ \t]*\"([\w:.-]+)\"[ \t]*:[ \t]*\""), _pattern(rb"\b(?:npm|pnpm|yarn|bun)\s+run\s+([\w:.-]+)")),
)
_TABLES: Final = (
    _Link(
        _pattern(
            rb"(?:(?i:^CREATE[ \t]+(?:\w+[ \t]+){0,3}?(?:TABLE|VIEW|TYPE)[ \t]+(?:IF[ \t]+NOT[ \t]+EXISTS[ \t]+)?)"
            rb"|^[ \t]+)[\"`]?(\w+)"
        ),
        _pattern(rb"\b([A-Za-z_]\w*)\b"),
        _folded,
    ),
)
_KEYED: Final = rb"^[ \t]*(?:-[ \t]+)?[\"']?([A-Za-z_][\w.-]*)[\"']?[ \t]*:(?:[ \t\r]|$)"
_SCALAR: Final = rb"[\"']?([A-Za-z_][\w.-]*)[\"']?"
_POINTED: Final = _pattern(
    rb"(?:#/(?:[\w.~$-]+/)*|\{\{-?[ \t]*(?:\.?\w+\.)*|\$\{\{?[ \t]*(?:\w+\.)*|\$)([A-Za-z_][\w-]*)"
)
_DATA: Final = (
    _Link(_pattern(_KEYED), _pattern(rb"(?:^[ \t]*-[ \t]+|:[ \t]+|[\[,][ \t]*)" + _SCALAR + rb"[ \t]*(?=[\],:\r#]|$)")),
    _Link(_pattern(_KEYED), _POINTED),
)
_OBJECTS: Final = (
    _Link(_pattern(rb"\"([\w.-]+)\"[ \t]*:"), _pattern(rb"[:\[,{\s]\s*\"([\w.-]+)\"\s*(?=[\],}])")),
    _Link(_pattern(rb"\"([\w.-]+)\"[ \t]*:"), _POINTED),
)
_SETTINGS: Final = (
    _Link(_pattern(rb"^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:]"), _pattern(rb"(?:%\(|\$\{?(?:\w+:)?)([\w.-]+)")),
)
_RESOURCES: Final = (
    _Link(_pattern(rb"^variable[ \t]+\"([\w-]+)\""), _pattern(rb"\bvar\.([\w-]+)")),
    _Link(_pattern(rb"^module[ \t]+\"([\w-]+)\""), _pattern(rb"\bmodule\.([\w-]+)")),
    _Link(_pattern(rb"^(?:data|resource)[ \t]+\"\w+\"[ \t]+\"([\w-]+)\""), _pattern(rb"\b[a-z]+_\w+\.([\w-]+)")),
    _Link(_pattern(rb"^[ \t]+(\w+)[ \t]*=(?!=)"), _pattern(rb"\blocal\.(\w+)")),
)
_SCHEMAS: Final = (
    _Link(
        _pattern(rb"^[ \t]*(?:enum|input|interface|message|scalar|service|struct|type|union)[ \t]+(\w+)"),
        _pattern(rb"(?<![\w\"])([A-Z]\w*)"),
    ),
)
_PACKAGES: Final = (_Link(_pattern(rb"^([\w-]+)\s*=\s*\["), _pattern(rb"[\[,]\s*\"([\w-]+)\"")),)
_PAGES: Final = (
    _Link(_pattern(rb"\bid=\"([^\"{}]+)\""), _pattern(rb"\b(?:href=\"#|for=\"|aria-\w+=\")([^\"{}]+)\"")),
    _Link(_pattern(rb"^[ \t]*\.([\w-]+)[^{};\n]*\{"), _pattern(rb"\bclass=\"([^\"{}]*)\""), are_several=True),
)
_BY_SUFFIX: Final[Mapping[str, tuple[_Link, ...]]] = {
    **dict.fromkeys(("css", "less", "scss"), _STYLES),
    **dict.fromkeys(("markdown", "md", "mdx"), _DOCUMENTS),
    **dict.fromkeys(("json", "jsonc"), _OBJECTS),
    **dict.fromkeys(("yaml", "yml"), _DATA),
    **dict.fromkeys(("cfg", "conf", "env", "ini", "properties"), _SETTINGS),
    **dict.fromkeys(("tf", "tfvars"), _RESOURCES),
    **dict.fromkeys(("htm", "html", "vue", "svelte"), (*_PAGES, *_STYLES)),
    **dict.fromkeys(("ddl", "sql"), _TABLES),
    **dict.fromkeys(("gql", "graphql", "proto", "thrift"), _SCHEMAS),
    "mk": _RECIPES,
    "tex": _PAPERS,
}
_BY_NAME: Final[Mapping[str, tuple[_Link, ...]]] = {
    "cargo.toml": _PACKAGES,
    "dockerfile": _IMAGES,
    "containerfile": _IMAGES,
    "gnumakefile": _RECIPES,
    "makefile": _RECIPES,
    "package.json": _MANIFESTS,
}


def referred_to(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why one side refers to a name that the other took away; None if no such reference is new."""
    file = path.rpartition("/")[2].lower()
    links = _BY_NAME.get(file) or _BY_SUFFIX.get(file.rpartition(".")[2], ())
    for link in links:
        base, ours, theirs = versions
        for gone, new in ((ours, theirs), (theirs, ours)):
            name = _dangling(link, base, gone, new, merged)
            if name is not None:
                shown = name.decode(errors="replace")
                why = f"one side took away what gives {shown!r} a meaning, the other newly refers to it"
                return Spot(Reason.DANGLING, why)
    return None


def _dangling(link: _Link, base: bytes, gone: bytes, new: bytes, merged: bytes) -> bytes | None:
    withdrawn = set(_given(link, base)) - set(_given(link, gone))
    if not withdrawn:
        return None
    known, now = Counter(_referred(link, base)), Counter(_referred(link, new))
    found = {name for name in withdrawn if now[name] > known[name]} - set(_given(link, merged))
    return min(found, default=None)


def _given(link: _Link, text: bytes) -> Iterator[bytes]:
    return (link.form(name) for name in link.gives.findall(text))


def _referred(link: _Link, text: bytes) -> Iterator[bytes]:
    fold = _folded if link.form is _folded else bytes
    for found in link.refers.findall(text):
        yield from found.split() if link.are_several else (fold(found),)
