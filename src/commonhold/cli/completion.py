"""`commonhold completion`: completing commands and options in a shell."""

from typing import Final

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from commonhold.cli.command import Command
from commonhold.cli.output import say
from commonhold.cli.program import COMPLETE_VARIABLE, NAME, cli

_SHELLS: Final = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(
    "completion",
    cls=Command,
    examples=('eval "$(commonhold completion bash)"',),
)
@click.argument("shell", type=click.Choice(tuple(_SHELLS)))
def command(shell: str) -> None:
    """Print the script that makes SHELL complete commands and options."""
    complete = _SHELLS[shell](cli, {}, NAME, COMPLETE_VARIABLE)
    say(complete.source_template % complete.source_vars())
