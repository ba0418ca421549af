"""`commonhold explain`: the meaning of a code, and the remedy."""

import difflib
from collections.abc import Iterator, Mapping

import click

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.explanations import EXPLANATIONS, Explanation
from commonhold.cli.output import answer
from commonhold.kernel.errors import Code, UsageError

Explained = Mapping[str, Explanation]


@click.command(
    "explain",
    cls=Command,
    examples=("commonhold explain REGION_CHANGED",),
)
@click.argument("code", required=False)
@common
@click.pass_obj
def command(given: Given, code: str | None) -> None:
    """Explain an error or refusal CODE: its meaning and the remedy. Without CODE, list them all."""
    if code is None:
        answer(given, EXPLANATIONS, _shape, _list)
    else:
        answer(given, _chosen(code), _shape, _whole)


def _chosen(code: str) -> Explained:
    name = code.upper().replace("-", "_")
    if name in EXPLANATIONS:
        return {name: EXPLANATIONS[name]}
    near = difflib.get_close_matches(name, EXPLANATIONS, n=1)
    hint = f"did you mean {near[0]}?" if near else "`commonhold explain` lists all codes"
    raise UsageError(Code.USAGE, f"there is no code {code!r}", hint=hint)


def _shape(found: Explained) -> dict[str, object]:
    return {"codes": [{"code": name, **each._asdict()} for name, each in found.items()]}


def _list(found: Explained) -> Iterator[str]:
    return (f"{name:<26}{each.meaning}" for name, each in found.items())


def _whole(found: Explained) -> Iterator[str]:
    for name, each in found.items():
        yield f"{name}: {each.meaning}"
        yield f"what to do: {each.remedy}"
