"""`commonhold demo`: see it work, in a throw-away repository."""

import os

import click

from commonhold.cli.command import Command, files
from commonhold.demo import DemoOptions, run
from commonhold.workspace.loopback import MAX_PORT


@click.command(
    "demo",
    cls=Command,
    examples=(
        "commonhold demo --quick",
        "commonhold demo --dashboard",
        "commonhold demo --agents 20 --report demo.json",
    ),
)
@click.option("--report", metavar="FILE", shell_complete=files, help="Also write the measurements to FILE as JSON.")
@click.option("--agents", metavar="N", type=click.IntRange(1, 1000), help="How many agents work at once.")
@click.option("--edits", metavar="N", type=click.IntRange(1, 100_000), help="How many edits each of them makes.")
@click.option(
    "--think", metavar="SECONDS", type=click.FloatRange(0, 3600), help="How long an agent thinks, on average."
)
@click.option("--seed", metavar="N", type=int, help="Repeat the run that had this seed.")
@click.option("--quick", is_flag=True, help="A small run, which says nothing of speed.")
@click.option("--plain", is_flag=True, help="No colours and no live display.")
@click.option("--keep", is_flag=True, help="Keep the repository to look at afterwards.")
@click.option("--dashboard", is_flag=True, help="Only let two agents collide beside a server, to watch in a browser.")
@click.option("--port", metavar="PORT", type=click.IntRange(0, MAX_PORT), help="The port of that server; default: any.")
@click.option("--json", is_flag=True, help="Print the measurements as JSON.")
def command(**wishes: object) -> int:
    """Watch agents edit one repository, without Commonhold and with it, and count lost edits.

    First two agents change one function, kept apart by the hooks that `commonhold install` sets up. Then eight agents
    edit one package under three policies. It takes about a minute.

    With --dashboard it prints a link instead, and goes on until Ctrl-C: two agents change one function again and again.

    The exit code is 0 if Commonhold lost nothing and applied everything, and 1 if not.
    """
    chosen = {name: value for name, value in wishes.items() if value is not None}
    environment = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    return run(DemoOptions(**chosen, environment=environment))  # type: ignore[arg-type]
