"""`commonhold regions`: what a file consists of."""

from collections.abc import Iterator

import click

from commonhold.cli.command import Command
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
@click.argument("path")
@common
@click.pass_obj
def command(given: Given, path: str) -> None:
    """List the regions of the file PATH, found afresh: kind, lines, hash and key of each."""
    with opened(given) as place:
        found = place.hold.regions(place.key(path))
    answer(given, found, shapes.regions, _lines)


def _lines(found: RegionMap) -> Iterator[str]:
    for region in found.regions:
        lines = ",".join(_line_range(found.source, *span) for span in region.spans)
        yield f"{region.kind.value:<13}  {short(region.hash)}  {shown(str(region.key))}  {_size(region, lines)}"
    for problem in found.problems:
        line = _line_at(found.source, problem.span[0])
        yield f"problem: {shown(problem.message)} (line {line}) [{problem.code}]"


def _size(region: Region, lines: str) -> str:
    return "empty" if region.end == region.start else f"lines {lines}"


def _line_range(source: bytes, start: int, end: int) -> str:
    first, last = _line_at(source, start), _line_at(source, max(start, end - 1))
    return str(first) if first == last else f"{first}-{last}"


def _line_at(source: bytes, offset: int) -> int:
    return source.count(b"\n", 0, offset) + 1
