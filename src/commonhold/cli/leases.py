"""`commonhold leases`: what is held."""

import click

from commonhold.cli import describe
from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.domain.texts import short_name
from commonhold.wire import shapes


@click.command(
    "leases",
    cls=Command,
    examples=("commonhold leases --holder agent-1",),
)
@click.option("--holder", metavar="NAME", help="Only those of this agent session.")
@common
@click.pass_obj
def command(given: Given, holder: str | None) -> None:
    """List the live leases, oldest first, and who waits in line, the first in line first."""
    with opened(given) as place:
        found = place.hold.status()
    held = [each for each in found.leases if _is_of(each.holder, holder)]
    waiting = [each for each in found.waiters if _is_of(each.holder, holder)]
    answer(given, (held, waiting), lambda found: shapes.leases(*found), lambda found: describe.leases(*found))


def _is_of(holder: str, wanted: str | None) -> bool:
    """Whether that holder was asked for, by its whole name or by the short one."""
    return wanted in (None, holder, short_name(holder))
