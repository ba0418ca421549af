"""`commonhold explain`: what a code means, and what to do."""

import difflib

import click

from commonhold.cli.command import Command
from commonhold.cli.explanations import EXPLANATIONS, Explanation
from commonhold.cli.given import Given, common
from commonhold.cli.opening import send_json
from commonhold.cli.output import say
from commonhold.domain.errors import Code, UsageError
from commonhold.wire.shapes import Json


@click.command(
    "explain",
    cls=Command,
    examples=("commonhold explain REGION_CHANGED",),
)
@click.argument("code", required=False)
@common
@click.pass_obj
def command(given: Given, code: str | None) -> int:
    """Explain an error or refusal CODE: what it means and what to do. Without CODE, list them all."""
    found = dict(EXPLANATIONS) if code is None else _chosen(code)
    if given.as_json:
        send_json({"codes": [_shape(name, each) for name, each in found.items()]})
    elif code is None:
        say(f"{name:<26}{each.meaning}" for name, each in found.items())
    else:
        say(line for name, each in found.items() for line in (f"{name}: {each.meaning}", f"what to do: {each.remedy}"))
    return 0


def _chosen(code: str) -> dict[str, Explanation]:
    name = code.upper().replace("-", "_")
    if name in EXPLANATIONS:
        return {name: EXPLANATIONS[name]}
    near = difflib.get_close_matches(name, EXPLANATIONS, n=1)
    hint = f"did you mean {near[0]}?" if near else "`commonhold explain` lists all codes"
    raise UsageError(Code.USAGE, f"there is no code {code!r}", hint=hint)


def _shape(name: str, each: Explanation) -> Json:
    return {"code": name, "meaning": each.meaning, "remedy": each.remedy}
