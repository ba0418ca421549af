"""`commonhold hand-over`: give a lease to another agent session."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids, lease_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


@click.command(
    "hand-over",
    cls=Command,
    examples=("commonhold hand-over lease-b57a98944c10b25e --to agent-2",),
)
@click.argument("lease_id", metavar="LEASE")
@click.option("--to", metavar="NAME", required=True, help="The agent session that is to hold it.")
@request_option
@common
@click.pass_obj
def command(given: Given, lease_id: str, to: str, request_id: str | None) -> int:
    """Give your lease LEASE to another agent session, such as a subagent, without a gap.

    It gets a new fence: what you still write under the old one is refused.
    """
    with opened(given) as place:
        lease, holder = ids.lease_id(place, lease_id), ids.holder(place, to)
        found = place.hold.hand_over(lease, to=holder, request_id=request_id)
    answer(given, found, shapes.lease_change, lambda found: lease_words.lease_changed(found, given))
    return REFUSED if found.code else DONE
