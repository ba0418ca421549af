"""`commonhold exec`: run a command that cannot write files leased by others, and record its own writes."""

import os
import sys
from collections.abc import Sequence

import click

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.opening import agent_of
from commonhold.cli.output import flush
from commonhold.client.launcher import launching
from commonhold.config import load_settings
from commonhold.kernel import texts
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.repository import find_repository


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
    """Run COMMAND so that it cannot write files that other sessions hold.

    It can write everything else; while no other session holds anything, it runs as it would without Commonhold. Its
    changes are recorded when it has ended. A COMMAND that names a held file as its target is refused. The exit code
    is that of COMMAND.
    """
    holder = texts.check_holder(agent_of(given) or "")
    start = start_of(given)
    repository = find_repository(start)
    settings = load_settings(repository.root)
    line = launching(http_address(repository.state_folder), holder, settings.when_down, words)
    flush()
    os.chdir(start)
    os.execv(sys.executable, line)  # noqa: S606 - the launcher is this process from now on
