"""`commonhold regions`: what a file consists of."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import click

from commonhold.cli.command import Command, files
from commonhold.cli.describe import short
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.regions.region import Region, RegionMap
from commonhold.wire import shapes


@click.command(
    "regions",
    cls=Command,
    examples=("commonhold regions src/prices.py",),
)
@click.argument("path", shell_complete=files)
@common
@click.pass_obj
def command(given: Given, path: str) -> None:
    """List the regions of the file PATH, found afresh: kind, lines, hash and key of each."""
    with opened(given) as place:
        found = place.hold.regions(place.key(path))
    answer(given, found, shapes.regions, _lines)


def _lines(found: RegionMap) -> Iterator[str]:
    starts = [0, *(match.end() for match in re.finditer(b"\n", found.source))]
    for region in found.regions:
        lines = ",".join(_line_range(starts, *span) for span in region.spans)
        yield f"{region.kind.value:<13}  {short(region.hash)}  {shown(str(region.key))}  {_size(region, lines)}"
    for problem in found.problems:
        line = _line_at(starts, problem.span[0])
        yield f"problem: {shown(problem.message)} (line {line}) [{problem.code}]"


def _size(region: Region, lines: str) -> str:
    return "empty" if region.end == region.start else f"lines {lines}"


def _line_range(starts: Sequence[int], start: int, end: int) -> str:
    first, last = _line_at(starts, start), _line_at(starts, max(start, end - 1))
    return str(first) if first == last else f"{first}-{last}"


def _line_at(starts: Sequence[int], offset: int) -> int:
    """The number of the line at `offset`, from where the lines start; asked often, so not counted anew."""
    return bisect_right(starts, offset)
