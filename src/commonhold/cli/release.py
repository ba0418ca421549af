"""`commonhold release`: end a lease."""

import click

from commonhold.cli import lease_words
from commonhold.cli.command import Command
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.given import Given, common, request_option
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.wire import shapes


@click.command(
    "release",
    cls=Command,
    examples=("commonhold release lease-b57a98944c10b25e",),
)
@click.argument("lease_id", metavar="LEASE")
@request_option
@common
@click.pass_obj
def command(given: Given, lease_id: str, request_id: str | None) -> int:
    """End your lease LEASE, or give your place in line up; what it held is free at once."""
    with opened(given) as place:
        found = place.hold.release(lease_id, request_id=request_id)
    answer(given, found, shapes.lease_change, lambda found: lease_words.lease_changed(found, given))
    return REFUSED if found.code else DONE
