"""`commonhold review waive`: close debts."""

from collections.abc import Iterator

import click

from commonhold.api.wire import shapes
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, note_option
from commonhold.cli.describe import who
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.next_call import next_lines
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.kernel.answers import WaiveAnswer


@click.command(
    "waive",
    cls=Command,
    examples=('commonhold review waive src/prices.py#report --note "it has no callers any more"',),
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@note_option("Why nothing is to be done: kept in the log.")
@common
@click.pass_obj
def command(given: Given, keys: tuple[str, ...], note: str) -> int:
    """Close the debts at KEY... after a review, if there is nothing to repair.

    Debts that are repaired, or whose cause is reverted, close by themselves.
    """
    with opened(given) as place:
        found = place.hold.waive(*place.keys(keys), note=note)
    answer(given, found, shapes.waived, lambda found: _lines(found, given))
    return DONE if found.outcome == "waived" else REFUSED


def _lines(found: WaiveAnswer, given: Given) -> Iterator[str]:
    if found.outcome == "refused":
        yield f"refused: {shown(found.why)}"
    yield from (f"waived: {shown(debt.key)}, owed by {who(debt.holder)}" for debt in found.debts)
    yield from next_lines(found.next, given)
