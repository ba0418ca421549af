"""`commonhold status`: the whole picture."""

import click

from commonhold.cli import describe
from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.wire import shapes


@click.command(
    "status",
    cls=Command,
    examples=("commonhold status --json",),
)
@common
@click.pass_obj
def command(given: Given) -> None:
    """Show the live leases and the line, the newest commits, the open debts and what waits for review."""
    with opened(given) as place:
        found = place.hold.status()
    answer(given, found, shapes.status, lambda found: describe.whole_picture(found, given))
