"""`commonhold callers`: the uses of a definition, in any file."""

from collections.abc import Iterator, Mapping

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.definition import Meant, meant
from commonhold.cli.output import answer, shown
from commonhold.code.analysis.repository.dependents import Dependent, dependents
from commonhold.kernel.texts import counted


@click.command(
    "callers",
    cls=Command,
    examples=("commonhold callers src/prices.py#total", "commonhold callers src/prices.py#Cart.add --json"),
)
@click.argument("key", metavar="KEY", shell_complete=files)
@common
@click.pass_obj
def command(given: Given, key: str) -> None:
    """List the uses of the definition KEY in any file: calls, imports, subclasses.

    Certain uses come first; a use of which only the name matches is "suspected".
    """
    found = meant(given, key)
    uses = [use for place in found.definitions for use in dependents(found.library, *place)]
    answer(given, (found, uses), _shape, _lines)


def _shape(value: tuple[Meant, list[Dependent]]) -> Mapping[str, object]:
    # Loaded here: the output in words needs no JSON.
    from commonhold.api.wire.reach_shapes import uses  # noqa: PLC0415

    return uses(value[0].definitions, value[1])


def _lines(value: tuple[Meant, list[Dependent]]) -> Iterator[str]:
    found, uses = value
    yield f"{shown(found.key)}: {counted(len(uses), 'use') if uses else 'no uses'}"
    for use in uses:
        within = f"  in {shown(use.qualname)}" if use.qualname else ""
        suspected = "" if use.is_sure else "  (suspected)"
        yield f"  {shown(use.path)}:{use.line}  {shown(use.how)}{within}{suspected}"
