"""`commonhold who`: who holds and who changed what is at a key."""

import click

from commonhold.cli import describe
from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened, send_json
from commonhold.cli.output import say, shown
from commonhold.wire import shapes


@click.command(
    "who",
    cls=Command,
    examples=("commonhold who src/prices.py",),
)
@click.argument("key", metavar="KEY")
@common
@click.pass_obj
def command(given: Given, key: str) -> int:
    """Tell who holds what overlaps KEY (a file, a folder, a region, any name), and who changed it last."""
    with opened(given) as place:
        found = place.hold.who(place.key(key))
    if given.as_json:
        send_json(shapes.who(found))
    else:
        say(shown(found.key))
        say(describe.picture(found.leases, found.changes, found.debts))
    return 0
