"""`commonhold break`: end another's lease by force, for people."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids, lease_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, note_option, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "break",
    cls=Command,
    examples=('commonhold break lease-b57a98944c10b25e --note "its machine is gone"',),
)
@click.argument("lease_id", metavar="LEASE")
@note_option("Why: kept for ever, with your name.")
@request_option
@common
@click.pass_obj
def command(given: Given, lease_id: str, note: str, request_id: str | None) -> int:
    """End another's LEASE by force. For people: an agent asks (`ask`), or waits.

    The log records your name, the time and the reason. Unfinished work of the holder is not reverted: it is kept
    for review (`review`). Later writes of the holder under the lease are refused.
    """
    with opened(given) as place:
        found = place.hold.break_lease(ids.lease_id(place, lease_id), reason=note, request_id=request_id)
    answer(given, found, shapes.lease_change, lambda found: lease_words.lease_changed(found, given))
    return REFUSED if found.code else DONE
