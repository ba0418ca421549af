"""`commonhold exit-codes`: what each exit code means."""

import click

from commonhold.cli.command import Command
from commonhold.cli.exit_status import MEANINGS
from commonhold.cli.given import Given, common
from commonhold.cli.opening import send_json
from commonhold.cli.output import say


@click.command(
    "exit-codes",
    cls=Command,
    examples=("commonhold exit-codes --json",),
)
@common
@click.pass_obj
def command(given: Given) -> int:
    """List the exit codes and their meanings."""
    if given.as_json:
        send_json({"exit_codes": [{"code": code, "meaning": meaning} for code, meaning in MEANINGS.items()]})
    else:
        say(f"{code:>3}  {meaning}" for code, meaning in MEANINGS.items())
    return 0
