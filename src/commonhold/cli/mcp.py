"""`commonhold mcp`: serve an agent over the Model Context Protocol."""

import os
from importlib import import_module
from typing import Final

import click

from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import AGENT

# Claude Code names its session in the environment of a server that it starts.
_SESSION: Final = "CLAUDE_CODE_SESSION_ID"


@click.command(
    "mcp",
    cls=Command,
    examples=("claude mcp add commonhold -- commonhold mcp --agent agent-1",),
)
@common
@click.pass_obj
def command(given: Given) -> None:
    """Serve an agent over the Model Context Protocol, on standard input and output."""
    import_module("commonhold.server.mcp").serve(given.folder or ".", _agent(given))


def _agent(given: Given) -> str | None:
    """The name given, else the user's word in the environment, else the session's as its hooks have it; or None."""
    session = os.environ.get(_SESSION)
    return given.agent or os.environ.get(AGENT) or (f"claude:{session}" if session else None)
