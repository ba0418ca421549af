"""`commonhold status`: the whole picture."""

from collections.abc import Iterator

import click

from commonhold.app.pictures import Status
from commonhold.cli.command import Command
from commonhold.cli.describe import picture, quoted, until, who
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.domain.at_work import Presence
from commonhold.wire import shapes


@click.command(
    "status",
    cls=Command,
    examples=("commonhold status --json",),
)
@common
@click.pass_obj
def command(given: Given) -> None:
    """Show the live leases and the line, the newest commits, the open debts and what waits for review."""
    with opened(given) as place:
        found = place.hold.status()
    answer(given, found, shapes.status, lambda found: _words(found, given))


def _session(presence: Presence) -> str:
    """An agent, and what it was asked for."""
    how = "at rest" if presence.is_at_rest else "at work"
    return f"{who(presence.holder)}  {how}, begun {until(presence.began_at)}{quoted(presence.intent)}"


def _words(found: Status, given: Given) -> Iterator[str]:
    """The whole picture, what is owed, and what waits for review."""
    yield from picture(found.root, found)
    if found.debts:
        # Loaded here, as below: it is seldom that there are any.
        from commonhold.cli.work_words import debts  # noqa: PLC0415

        yield from debts(found, given)
    if found.sessions:
        yield "agents at work:"
        yield from (f"  {_session(value)}" for value in found.sessions)
    if found.works:
        from commonhold.cli.work_words import works  # noqa: PLC0415

        yield from works(found.works, given)
