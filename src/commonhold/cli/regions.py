"""`commonhold regions`: the regions of a file."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import region_words
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import say, send_json


@click.command(
    "regions",
    cls=Command,
    examples=("commonhold regions src/prices.py",),
)
@click.argument("path", shell_complete=files)
@common
@click.pass_obj
def command(given: Given, path: str) -> None:
    """List the regions of the file PATH as it is now: kind, hash, key and lines of each."""
    with opened(given) as place:
        key = place.key(path)
        if given.as_json:
            send_json(shapes.regions(place.hold.regions(key)))
        else:
            say(region_words.lines(place.hold.list_regions(key)))
