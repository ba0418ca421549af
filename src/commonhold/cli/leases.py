"""`commonhold leases`: the leases and their waiters."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import describe, ids
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "leases",
    cls=Command,
    examples=("commonhold leases --holder agent-1",),
)
@click.option(
    "--holder",
    metavar="NAME",
    help="Only those of this agent session; its short name, or the beginning of it, is enough.",
)
@common
@click.pass_obj
def command(given: Given, holder: str | None) -> None:
    """List the live leases, oldest first, and who waits in line, the first in line first."""
    with opened(given) as place:
        holder = holder and ids.holder(place, holder)
        found = place.hold.status()
    held, waiting = describe.of_holder(found, holder)
    answer(given, (held, waiting), lambda found: shapes.leases(*found), lambda found: describe.leases(*found))
