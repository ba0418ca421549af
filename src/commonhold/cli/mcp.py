"""`commonhold mcp`: serve an agent over the Model Context Protocol."""

import os
from importlib import import_module
from typing import Final

import click

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, log_on_screen
from commonhold.cli.opening import AGENT

# Claude Code names its session in the environment of a server that it starts.
_SESSION: Final = "CLAUDE_CODE_SESSION_ID"
# The session in whose shell this is.
_HOLDER: Final = "COMMONHOLD_HOLDER"


@click.command(
    "mcp",
    cls=Command,
    examples=("claude mcp add commonhold -- commonhold mcp --agent agent-1",),
)
@common
@click.pass_obj
def command(given: Given) -> None:
    """Serve an agent over the Model Context Protocol, on standard input and output."""
    if given.log_level is None:
        log_on_screen(given, "warning", "commonhold mcp")  # it serves for hours: its user must learn what fails
    import_module("commonhold.server.mcp").serve(given.folder or ".", _agent(given))


def _agent(given: Given) -> str | None:
    """Return the given name, else the one in the user's environment, else the session's name in its hooks; or None.

    Variables that a session's shell has set are about that session, not about an agent that is started in it.
    """
    session, named = os.environ.get(_SESSION), os.environ.get(AGENT)
    is_of_shell = named == os.environ.get(_HOLDER)
    return given.agent or ("" if is_of_shell else named) or (f"claude:{session}" if session else None)
