"""Lines that change what all lines below them mean: the folder and the user of a script or an image.

One side adds such a line, the other adds lines that come to stand below it, and that were tried without it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from commonhold.merging.changed_rows import changed_lines
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Reason, Spot

_IMAGES: Final = frozenset({"containerfile", "dockerfile"})
_SCRIPTS: Final = frozenset({"bash", "sh", "zsh"})
_PIPELINES: Final = frozenset({"yaml", "yml"})  # with commands in blocks of text
_HEADERS: Final = frozenset({"c", "cc", "cpp", "h", "hpp"})
_MOVING: Final = rb"\s*(?:-[ \t]+)?(?:cd|pushd|popd|shift|umask)\b(?!.*\))"
_ENDING: Final = rb"|(?!\s*#)[^\"'#]*(?:\A|\s|[;|&])(?:exit|return)\b"
_STANDING: Final = {
    **dict.fromkeys(_IMAGES, re.compile(rb"(?i:USER|WORKDIR|SHELL)\s")),
    **dict.fromkeys(_SCRIPTS, re.compile(_MOVING + _ENDING)),
    **dict.fromkeys(_PIPELINES, re.compile(_MOVING + rb"|\s*set[ \t]+[-+]\w|\s*exit\b")),
    **dict.fromkeys(_HEADERS, re.compile(rb"\s*#\s*(?:define|undef|pragma\s+pack)\b")),
}
_OVER: Final = {
    **dict.fromkeys(_IMAGES, re.compile(rb"(?i:FROM)\s")),
    **dict.fromkeys(_SCRIPTS, re.compile(rb"\}")),
    **dict.fromkeys(_PIPELINES, re.compile(rb"\s*(?:-\s+)?[\w.-]+:(?:\s|\Z)")),
    **dict.fromkeys(_HEADERS, re.compile(rb"(?!)")),
}
# The lines whose meaning may change; without an entry, all.
_CHANGED: Final = dict.fromkeys(_HEADERS, re.compile(rb"\s*#\s*include\s*\""))
_TRAP: Final = re.compile(rb"\s*trap\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s+(.+?)\s*\Z")


def acts_on_lines_below(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why the lines of one side would stand below a line of the other that changes their meaning."""
    kind = path.rpartition("/")[2].lower().rpartition(".")[2]
    if kind not in _STANDING:
        return None
    now, new = lines_of(merged), [changed_lines(versions[0], side)[1] for side in versions[1:]]
    if kind in _SCRIPTS and (signal := _trapped_twice(new)):
        return Spot(Reason.SAME_NAME, f"both sides set a trap for {signal.decode(errors='replace')!r}")
    for one, other in (new, new[::-1]):
        standing = _above(now, one, other, kind)
        if standing is not None:
            shown = standing.decode(errors="replace").strip()
            return Spot(Reason.ORDER_MATTERS, f"one side added {shown!r} above lines that the other added")
    return None


def _above(lines: Sequence[bytes], one: Counter[bytes], other: Counter[bytes], kind: str) -> bytes | None:
    """Return a line of one side that is in force where a line of the other stands."""
    standing: bytes | None = None
    for line in lines:
        if _OVER[kind].match(line):
            standing = None
        elif line in one and line not in other and _STANDING[kind].match(line):
            standing = line
        elif standing is not None and line in other and line not in one and _says(line, kind):
            return standing
    return None


def _says(line: bytes, kind: str) -> bool:
    changed = _CHANGED.get(kind)
    if changed is not None:
        return changed.match(line) is not None
    text = line.strip()
    return bool(text) and not text.startswith(b"#")


def _trapped_twice(new: Sequence[Counter[bytes]]) -> bytes:
    signals = [{word for line in side if (match := _TRAP.match(line)) for word in match[1].split()} for side in new]
    return min(signals[0] & signals[1], default=b"")
