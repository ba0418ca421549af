"""`commonhold ask`: ask the holder of a lease to release it."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids, lease_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, note_option, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "ask",
    cls=Command,
    examples=('commonhold ask lease-b57a98944c10b25e --note "my fix waits for it"',),
)
@click.argument("lease_id", metavar="LEASE")
@note_option("The reason, which the holder sees.")
@request_option
@common
@click.pass_obj
def command(given: Given, lease_id: str, note: str, request_id: str | None) -> int:
    """Ask the holder of LEASE to release it.

    The holder sees the request with its next answers, and decides; it keeps the lease until then.
    """
    with opened(given) as place:
        found = place.hold.ask(ids.lease_id(place, lease_id), why=note, request_id=request_id)
    answer(given, found, shapes.lease_change, lambda found: lease_words.lease_changed(found, given))
    return REFUSED if found.code else DONE
