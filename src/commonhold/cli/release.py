"""`commonhold release`: end a lease."""

import click

from commonhold.cli import describe
from commonhold.cli.command import Command
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.given import Given, common, request_option
from commonhold.cli.opening import opened, send_json
from commonhold.cli.output import say
from commonhold.wire import shapes


@click.command(
    "release",
    cls=Command,
    examples=("commonhold release lease-7k2v9mzq4hpw",),
)
@click.argument("lease_id", metavar="LEASE")
@request_option
@common
@click.pass_obj
def command(given: Given, lease_id: str, request_id: str | None) -> int:
    """End your lease LEASE; what it held is free at once."""
    with opened(given) as place:
        answer = place.hold.release(lease_id, request_id=request_id)
    if given.as_json:
        send_json(shapes.lease_change(answer))
    else:
        say(describe.lease_changed(answer, given))
    return DONE if answer.lease else REFUSED
