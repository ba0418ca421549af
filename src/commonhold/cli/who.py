"""`commonhold who`: the holders and the changes of a key."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import describe
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "who",
    cls=Command,
    examples=("commonhold who src/prices.py",),
)
@click.argument("key", metavar="KEY", shell_complete=files)
@common
@click.pass_obj
def command(given: Given, key: str) -> None:
    """Tell who holds or waits for what overlaps KEY (a file, a folder, a region, any name), and who changed it last."""
    with opened(given) as place:
        found, here = place.hold.who(place.key(key)), place.hold.root
    answer(given, found, shapes.who, lambda found: describe.at(found, here))
