"""`commonhold status`: the whole picture."""

from collections.abc import Iterable

import click

from commonhold.api.wire import shapes
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.cli.status_words import whole_picture
from commonhold.kernel.pictures import Status


@click.command(
    "status",
    cls=Command,
    examples=("commonhold status", "commonhold status --watch"),
)
@click.option("--watch", is_flag=True, help="Go on showing it as it changes, until Ctrl-C.")
@common
@click.pass_obj
def command(given: Given, *, watch: bool) -> None:
    """Show who works here, the live leases and the line, the newest commits, open debts and unfinished work.

    With --watch a terminal is kept up to date in place. Elsewhere, and with --plain, each change is printed below the
    last; with --json, as one object a line.
    """
    with opened(given) as place:
        if watch:
            # Loaded here: usually one look is enough.
            from commonhold.cli.watch import watched  # noqa: PLC0415

            watched(given, place.hold.status, shapes.status, lambda found: _words(found, given))
            return
        found = place.hold.status()
    answer(given, found, shapes.status, lambda found: _words(found, given))


def _words(found: Status, given: Given) -> Iterable[str]:
    if not (found.debts or found.works):
        return whole_picture(found)
    # Loaded here: it is seldom that there are any.
    from commonhold.cli.work_words import debts, works  # noqa: PLC0415

    owed = debts(found, given) if found.debts else ()
    left = works(found.works, given) if found.works else ()
    return whole_picture(found, owed, left)
