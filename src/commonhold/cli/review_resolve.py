"""`commonhold review resolve`: close partial work."""

from collections.abc import Iterator

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, note_option
from commonhold.cli.describe import who
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.next_call import next_lines
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.kernel.answers import ReviewAnswer


@click.command(
    "resolve",
    cls=Command,
    examples=('commonhold review resolve lease-b57a98944c10b25e --note "finished it myself"',),
)
@click.argument("lease_id", metavar="LEASE")
@note_option("How it was resolved: kept in the log.")
@common
@click.pass_obj
def command(given: Given, lease_id: str, note: str) -> int:
    """Close the partial work of LEASE, after having looked at it. The files stay as they are."""
    with opened(given) as place:
        found = place.hold.review(ids.work_id(place, lease_id), note=note)
    answer(given, found, shapes.review, lambda found: _lines(found, given))
    return DONE if found.work else REFUSED


def _lines(found: ReviewAnswer, given: Given) -> Iterator[str]:
    if found.work is None:
        yield from refused(found, given)
    else:
        yield f"reviewed: {shown(found.work.lease_id)} of {who(found.work.holder)}"


def refused(found: ReviewAnswer, given: Given) -> Iterator[str]:
    """Yield why there is nothing to review, and the command to run instead."""
    yield f"refused: {shown(found.why)}"
    yield from next_lines(found.next, given)
