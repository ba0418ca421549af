"""`commonhold impact`: the dependents of a definition, step by step."""

from collections.abc import Iterator
from pathlib import Path

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.definition import meant
from commonhold.cli.output import answer, say, shown
from commonhold.code.analysis.repository.reach import Definition, Reach, Reached, reach
from commonhold.kernel.errors import Code, UsageError

DEPTH = 3


@click.command(
    "impact",
    cls=Command,
    examples=(
        "commonhold impact src/prices.py#total",
        "commonhold impact src/prices.py#total --depth 1 --json",
        "commonhold impact src/prices.py#total --svg impact.svg",
    ),
)
@click.argument("key", metavar="KEY", shell_complete=files)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(min=1),
    default=DEPTH,
    show_default=True,
    help="How many steps to follow.",
)
@click.option("--dot", "as_dot", is_flag=True, help="Answer in the language of Graphviz.")
@click.option("--svg", metavar="FILE", shell_complete=files, help="Also draw it into FILE.")
@common
@click.pass_obj
def command(given: Given, key: str, depth: int, svg: str | None, *, as_dot: bool) -> None:
    """Show which code depends on the definition KEY, what depends on that, and so on, in any file.

    Each place is shown once, on its shortest path, with the line of its first use. A use of which only the name matches
    is "suspected", and is not followed further.
    """
    if as_dot and given.as_json:
        raise UsageError(Code.USAGE, "an answer is in JSON or for Graphviz, not both", hint="leave one of them out")
    found = meant(given, key)
    reached = reach(found.library, found.definitions, depth)
    if svg is not None:
        # Loaded here, as below: the output as a tree needs none of it.
        from commonhold.api.wire.reach_svg import svg as drawn  # noqa: PLC0415

        Path(svg).write_text(drawn(reached), encoding="utf-8")
    if as_dot:
        from commonhold.api.wire.reach_dot import dot  # noqa: PLC0415

        say(dot(reached).splitlines())
    else:
        answer(given, reached, _shape, lambda value: _lines(found.key, value))


def _shape(value: Reach) -> dict[str, object]:
    from commonhold.api.wire.reach_shapes import reach as shape  # noqa: PLC0415

    return shape(value)


def _lines(key: str, value: Reach) -> Iterator[str]:
    """The tree, drawn by its branches."""
    users: dict[Definition, list[Reached]] = {}
    for each in value.reached:
        users.setdefault(each.target, []).append(each)
    yield shown(key)
    if not value.reached:
        yield "nothing is known to use it"
    for start in value.starts:
        is_one = len(value.starts) == 1
        if not is_one and start in users:
            yield f"{shown(start[1])}"
        yield from _branches(users, start, "")
    if value.is_cut:
        yield f"and more: this list has only the first {len(value.reached)}"


def _branches(users: dict[Definition, list[Reached]], place: Definition, before: str) -> Iterator[str]:
    own = users.get(place, [])
    for number, each in enumerate(own, 1):
        is_last = number == len(own)
        yield f"{before}{'└── ' if is_last else '├── '}{_label(each)}"
        yield from _branches(users, each.place, before + ("    " if is_last else "│   "))


def _label(each: Reached) -> str:
    name = shown(each.qualname) or "(top level)"
    more = f" and {len(each.uses) - 1} more" if len(each.uses) > 1 else ""
    suspected = "" if each.is_sure else "  (suspected)"
    return f"{name}  {shown(each.path)}:{each.line}{more}  {shown(each.uses[0].how)}{suspected}"
