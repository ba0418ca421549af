"""`commonhold mcp`: serve an agent over the Model Context Protocol."""

from importlib import import_module

import click

from commonhold.cli.command import Command
from commonhold.cli.given import Given, common
from commonhold.cli.opening import agent_of


@click.command(
    "mcp",
    cls=Command,
    examples=("claude mcp add commonhold -- commonhold mcp --agent agent-1",),
)
@common
@click.pass_obj
def command(given: Given) -> int:
    """Serve an agent over the Model Context Protocol, on standard input and output."""
    import_module("commonhold.server.mcp").serve(given.folder or ".", agent_of(given))
    return 0
