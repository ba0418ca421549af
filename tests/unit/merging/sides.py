"""Branches of a few files, written as one text with a mark before each line, and the verdict on merging them.

A case begins with `=== proven: NAME` or `=== refused: NAME`, a file of it with `## PATH`. The lines of a file begin
with a blank (both sides have them as the base has), with `-` or `+` (ours took them away or added them), with `<` or
`>` (theirs did), or with `~` or `*` (both did).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from commonhold.code.analysis.repository.contract_conflicts import JoinedStates, SideState, contract_conflicts
from commonhold.code.analysis.repository.library import Shelf
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.merging.contracts import binding
from commonhold.merging.line_maps import LineMap
from commonhold.merging.merge import merge
from commonhold.merging.tree import Changed, bearings
from commonhold.merging.verdict import Proven

Versions = tuple[bytes, bytes, bytes]
Files = Mapping[str, Versions]
_MARKS = (" -<~", " +<*", " ->*")


@dataclass(frozen=True)
class Case:
    """Base, ours and theirs of each file."""

    name: str
    is_proven: bool
    files: Files

    def exchanged(self) -> Files:
        return {path: (base, theirs, ours) for path, (base, ours, theirs) in self.files.items()}


def cases_in(path: Path) -> Iterator[Case]:
    for text in path.read_text(encoding="utf-8").removeprefix("=== ").split("\n=== "):
        head, _, body = text.partition("\n")
        verdict, _, name = head.partition(": ")
        assert verdict in ("proven", "refused")
        files = (each.partition("\n") for each in body.removeprefix("## ").split("\n## "))
        yield Case(name, verdict == "proven", {path: _versions(lines) for path, _, lines in files})


def _versions(text: str) -> Versions:
    lines = [line or " " for line in text.rstrip("\n").split("\n")] if text.strip("\n") else []
    base, ours, theirs = ("".join(f"{line[1:]}\n" for line in lines if line[0] in marks).encode() for marks in _MARKS)
    return base, ours, theirs


def why_not(files: Files) -> list[str]:
    """Return what speaks against merging the branches, as `commonhold merge` asks for it; nothing if it is proven."""
    merged: dict[str, bytes] = {}
    for path, (base, ours, theirs) in files.items():
        answer = merge(base, ours, theirs, path)
        if not isinstance(answer, Proven):
            return [spot.why for spot in answer.spots]
        merged[path] = answer.source
    met = bearings([Changed(path, *versions) for path, versions in files.items()])
    return [each.spot.why for each in met] or broken(files, merged)


def broken(files: Files, merged: Mapping[str, bytes]) -> list[str]:
    """Return what `commonhold check` refuses by contract."""
    base, ours, theirs = ({path: versions[index] for path, versions in files.items()} for index in range(3))
    mine, others = (
        SideState(
            _shelf(side),
            frozenset(path for path in files if side[path] != base[path]),
            frozenset(path for path in files if merged[path] != other[path]),
            LineMap(lambda path, side=side: (merged[path], side[path])).to_side,  # type: ignore[misc]
        )
        for side, other in ((ours, theirs), (theirs, ours))
    )
    conflicts, _ = contract_conflicts(JoinedStates(_shelf(base), mine, others, _shelf(merged)))
    return [each.concern.why(each.concern.path) for each in binding(conflicts)]


def _shelf(texts: Mapping[str, bytes]) -> Shelf:
    found = {path: summarise(path, text) for path, text in texts.items() if text}
    return Shelf({path: summary for path, summary in found.items() if summary is not None})
