"""`commonhold status`: the whole picture."""

import click

from commonhold.cli import describe
from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened, send_json
from commonhold.cli.output import say, shown
from commonhold.wire import shapes


@click.command(
    "status",
    cls=Command,
    examples=("commonhold status --json",),
)
@common
@click.pass_obj
def command(given: Given) -> int:
    """Show the live leases, the newest commits and the open debts of this repository."""
    with opened(given) as place:
        found = place.hold.status()
    if given.as_json:
        send_json(shapes.status(found))
    else:
        say(shown(found.root))
        say(describe.picture(found.leases, found.changes, found.debts))
    return 0
