"""`commonhold adopt`: make the uncommitted work of a session that has ended one's own."""

from collections.abc import Iterator

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.next_call import next_lines
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.kernel.answers import AdoptAnswer


@click.command(
    "adopt",
    cls=Command,
    examples=("commonhold adopt src/prices.py --from claude:8c1f7a2e",),
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, shell_complete=files)
@click.option("--from", "owner", metavar="HOLDER", required=True, help="The session that has ended.")
@common
@click.pass_obj
def command(given: Given, paths: tuple[str, ...], owner: str) -> int:
    """Take over the uncommitted changes that a session which has ended made to PATH....

    No file is touched: from now on this session's `git add` and `git commit` take it, too. The log keeps both names.
    """
    with opened(given) as place:
        found = place.hold.adopt(*place.keys(paths), owner=ids.past_holder(place, owner))
    answer(given, found, shapes.adopted, lambda found: _lines(found, given))
    return DONE if found.outcome == "adopted" else REFUSED


def _lines(found: AdoptAnswer, given: Given) -> Iterator[str]:
    if found.outcome == "refused":
        yield f"refused: {shown(found.why)}"
    yield from (f"adopted: {shown(path)}, from {shown(found.owner)}" for path in found.paths)
    yield from next_lines(found.next, given)
