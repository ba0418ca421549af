"""`commonhold acquire`: lease keys."""

from typing import TypedDict, Unpack

import click

from commonhold.cli import describe
from commonhold.cli.command import Command, files
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.given import Given, common, request_option, ttl_option
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.domain.modes import Mode
from commonhold.wire import shapes


class _Wish(TypedDict):
    task: str
    ttl_seconds: float | None
    acquisition_id: str | None
    request_id: str | None


@click.command(
    "acquire",
    cls=Command,
    examples=(
        'commonhold acquire src/prices.py#total --task "round to cents"',
        "commonhold acquire src/billing/ account:12345 --ttl 600",
    ),
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True, shell_complete=files)
@click.option("--task", metavar="TEXT", default="", help="What for: others are told, so that they need not guess.")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.EXCLUSIVE.value,
    show_default=True,
    help="shared: several may hold it, and nobody else may change it.",
)
@ttl_option
@click.option("--acquisition-id", metavar="ID", help="A name of your own for this acquisition, kept with the lease.")
@request_option
@common
@click.pass_obj
def command(given: Given, keys: tuple[str, ...], mode: str, **wish: Unpack[_Wish]) -> int:
    """Lease all KEYs, or none if another holds any of them.

    The answer has the lease's id and fence (name them in a commit as ID:FENCE) and the hash of each region. A key
    that is not there yet is reserved. The lease ends by `release`, or when its time is over (30 minutes, unless
    --ttl or the settings say otherwise).
    """
    with opened(given) as place:
        found = place.hold.acquire(*place.keys(keys), mode=Mode(mode), **wish)
    answer(given, found, shapes.acquire, lambda found: describe.acquired(found, given))
    return DONE if found.lease else REFUSED
