"""`commonhold sweep`: end expired leases."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import work_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "sweep",
    cls=Command,
    examples=("commonhold sweep",),
)
@common
@click.pass_obj
def command(given: Given) -> None:
    """End expired leases and places in line, and find the work left unfinished under them.

    The next waiter gets the lease. Every command that changes something does this first, and so does the daemon;
    run it from a timer where neither runs.
    """
    with opened(given) as place:
        place.hold.sweep()
        found = place.hold.partial_works()
    answer(given, found, shapes.works, lambda found: work_words.works(found, given))
