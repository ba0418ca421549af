"""`commonhold sweep`: end what is over."""

import click

from commonhold.cli import work_words
from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.wire import shapes


@click.command(
    "sweep",
    cls=Command,
    examples=("commonhold sweep",),
)
@common
@click.pass_obj
def command(given: Given) -> None:
    """End leases and places in line whose time is over, and look for what was left half done under them.

    Whoever waits is served. Every call that changes anything does this by itself; without a daemon and without any
    calls, a timer may.
    """
    with opened(given) as place:
        place.hold.sweep()
        found = place.hold.partial_works()
    answer(given, found, shapes.works, lambda found: work_words.works(found, given))
