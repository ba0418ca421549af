"""`commonhold exit-codes`: the meaning of each exit code."""

from collections.abc import Iterator, Mapping

import click

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import MEANINGS
from commonhold.cli.output import answer


@click.command(
    "exit-codes",
    cls=Command,
    examples=("commonhold exit-codes --json",),
)
@common
@click.pass_obj
def command(given: Given) -> None:
    """List the exit codes and their meanings."""
    answer(given, MEANINGS, _shape, _lines)


def _shape(meanings: Mapping[int, str]) -> dict[str, object]:
    return {"exit_codes": [{"code": code, "meaning": meaning} for code, meaning in meanings.items()]}


def _lines(meanings: Mapping[int, str]) -> Iterator[str]:
    return (f"{code:>3}  {meaning}" for code, meaning in meanings.items())
