"""`commonhold record-read`: for hooks, to record files that an agent has read with its own tools."""

import click

from commonhold.api.wire import shapes
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.describe import short
from commonhold.cli.opening import agent_of, opened
from commonhold.cli.output import answer, shown
from commonhold.cli.usage_words import NAME_IT
from commonhold.kernel.errors import Code, UsageError


@click.command(
    "record-read",
    cls=Command,
    examples=("commonhold record-read src/prices.py", "commonhold record-read src/prices.py#total"),
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True, shell_complete=files)
@common
@click.pass_obj
def command(given: Given, keys: tuple[str, ...]) -> None:
    """Record that this session has read files or regions without `show`.

    A hook calls this after the agent's own tool has read a file. If another session then changes them, this one is
    notified with its next call, and new text that relies on a changed contract is refused.
    """
    if not (agent_of(given) or "").strip():
        raise UsageError(
            Code.HOLDER_MISSING,
            "this needs a session name, under which the read is recorded",
            hint=NAME_IT,
        )
    with opened(given) as place:
        found = place.hold.record_read(*place.keys(keys))
    answer(given, found, shapes.seen, lambda found: [f"{shown(each.key)}  hash {short(each.hash)}" for each in found])
