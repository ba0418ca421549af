"""`commonhold exec`: run a command that writes only where this session may, and take what it wrote into the log."""

import os
import sys
from collections.abc import Sequence

import click

from commonhold.adapters.daemon_place import http_address
from commonhold.adapters.repository import find_repository
from commonhold.cli.command import Command
from commonhold.cli.given import Given, common, start_of
from commonhold.cli.opening import agent_of
from commonhold.cli.output import flush
from commonhold.client.launcher import launching
from commonhold.config import load_settings
from commonhold.domain import texts


@click.command(
    "exec",
    cls=Command,
    examples=(
        "commonhold exec -- make test",
        "commonhold exec --agent me -- bash -c 'sed -i s/old/new/ src/*.py'",
    ),
)
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@common
@click.pass_obj
def command(given: Given, words: Sequence[str]) -> int:
    """Run COMMAND so that it writes only where nobody else is at work.

    It may write in the folders of what this session has leased, and of the files that COMMAND plainly names to be
    written, which are leased to it meanwhile; in what git ignores; and outside of the repository. What it wrote is
    recorded when it has ended. The exit code is that of COMMAND.
    """
    holder = texts.check_holder(agent_of(given) or "")
    start = start_of(given)
    repository = find_repository(start)
    settings = load_settings(repository.root)
    line = launching(http_address(repository.state_folder), holder, settings.when_down, words)
    flush()
    os.chdir(start)
    os.execv(sys.executable, line)  # noqa: S606 - the launcher is this process from now on
