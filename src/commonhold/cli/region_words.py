"""Regions, and their text, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from commonhold.cli.describe import short
from commonhold.cli.output import complain, is_terminal, say, send, shown, shown_text

if TYPE_CHECKING:
    from commonhold.commits.region_list import Lines, ListedRegion, RegionList
    from commonhold.kernel.answers import RegionText


def lines(found: RegionList) -> Iterator[str]:
    """The regions of a file, one a line, and its problems."""
    for region in found.regions:
        yield f"{region.kind:<13}  {short(region.hash)}  {shown(region.key)}  {_size(region)}"
    for problem in found.problems:
        yield f"problem: {shown(problem.message)} (line {problem.line}) [{problem.code}]"


def _size(region: ListedRegion) -> str:
    return "empty" if region.is_empty else f"lines {','.join(map(_range, region.lines))}"


def _range(of: Lines) -> str:
    first, last = of
    return str(first) if first == last else f"{first}-{last}"


def tell(regions: Sequence[RegionText], keys: Sequence[str]) -> None:
    """Print the text of the regions that `keys` name: of one alone on standard output, with its heading beside it."""
    if len(regions) == 1 and regions[0].text is None and is_terminal():
        import shlex  # noqa: PLC0415

        to_get = f"commonhold show {shlex.quote(keys[0])} > FILE"
        say(f"{_heading(regions[0])}\nThis is binary. To get its bytes: {to_get}")
    elif len(regions) == 1 and len(regions[0].pieces) <= 1:
        complain(_heading(regions[0]))
        send(_bytes_of(regions[0]))
    else:
        send("".join(part for region in regions for part in _parts(region)).encode())


def _heading(region: RegionText) -> str:
    """The kind of a region."""
    return f"{shown(region.key)}  {region.kind}  hash {region.hash}"


def _bytes_of(region: RegionText) -> bytes:
    if region.text is None:
        import base64  # noqa: PLC0415 - loaded here, as below: most files are text

        return base64.b64decode(region.data or "")
    return (shown_text(region.text) if is_terminal() else region.text).encode()


def _parts(region: RegionText) -> Iterator[str]:
    yield f"==> {_heading(region)}\n"
    if region.text is None:
        yield "(no text; --json gives it as base64)\n"
    elif not region.pieces:
        yield _block(region.text)
    for piece in region.pieces:
        yield f"--> span {piece.span}  hash {piece.hash}\n{_block(piece.text)}"


def _block(text: str) -> str:
    safe = shown_text(text)
    return safe if safe.endswith("\n") or not safe else safe + "\n"
