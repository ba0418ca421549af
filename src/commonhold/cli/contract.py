"""`commonhold contract`: the contract of a definition."""

from collections.abc import Iterator, Mapping

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.definition import Meant, meant
from commonhold.cli.output import answer, shown
from commonhold.code.analysis.repository.summary import Offer


@click.command(
    "contract",
    cls=Command,
    examples=("commonhold contract src/prices.py#total", "commonhold contract src/prices.py#Cart --json"),
)
@click.argument("key", metavar="KEY", shell_complete=files)
@common
@click.pass_obj
def command(given: Given, key: str) -> None:
    """Show the contract of KEY: the signature of a function, the members of a class, or the names in a file.

    A change of anything shown here changes the contract; any other change is of the body alone.
    """
    answer(given, meant(given, key), _shape, _lines)


def _offers(value: Meant) -> list[Offer]:
    """The definitions, each with its members."""
    summary = value.library.summary(value.path)
    every = summary.offers if summary else ()
    return [each for own in value.offers for each in (own, *(part for part in every if part.owner == own.qualname))]


def _shape(value: Meant) -> Mapping[str, object]:
    # Loaded here: the output in words needs no JSON.
    from commonhold.api.wire.reach_shapes import contract  # noqa: PLC0415

    return contract(value.path, _offers(value))


def _lines(value: Meant) -> Iterator[str]:
    yield shown(value.key)
    offers = _offers(value)
    if not offers:
        yield "it offers nothing that others could use"
    for each in offers:
        yield from (f"  {shown(line)}" for line in _offer(each))


def _offer(each: Offer) -> Iterator[str]:
    where = f"line {each.line}" if each.line == each.end_line else f"lines {each.line}-{each.end_line}"
    if each.shape is not None:
        yield from (f"@{text}" for text in each.shape.decorators)
        bases = ", ".join((*each.shape.texts, *(f"{name}={value}" for name, value in each.shape.keywords)))
        yield f"class {each.qualname}{f'({bases})' if bases else ''}  {where}"
    for signature in each.signatures:
        yield from (f"@{text}" for text in signature.decorators)
        returns = f" -> {signature.returns}" if signature.returns else ""
        yield f"{'async ' if signature.is_async else ''}{each.qualname}{signature}{returns}  {where}"
    if each.shape is None and not each.signatures:
        yield f"{each.qualname}  {each.sort.value}  {where}"
