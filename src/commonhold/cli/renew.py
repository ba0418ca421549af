"""`commonhold renew`: let a lease last longer."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids, lease_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, request_option, ttl_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "renew",
    cls=Command,
    examples=("commonhold renew lease-b57a98944c10b25e --ttl 600",),
)
@click.argument("lease_id", metavar="LEASE")
@ttl_option
@request_option
@common
@click.pass_obj
def command(given: Given, lease_id: str, ttl_seconds: float | None, request_id: str | None) -> int:
    """Let your lease LEASE end --ttl seconds from now. A lease that has ended is refused, not revived."""
    with opened(given) as place:
        found = place.hold.renew(ids.lease_id(place, lease_id), ttl_seconds=ttl_seconds, request_id=request_id)
    answer(given, found, shapes.lease_change, lambda found: lease_words.lease_changed(found, given))
    return REFUSED if found.code else DONE
