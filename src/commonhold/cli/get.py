"""`commonhold get`: the values of keys."""

import click

from commonhold.api.wire import shapes
from commonhold.cli import describe
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import complain, is_terminal, say, send, send_json, shown_text
from commonhold.kernel.values import Value


@click.command(
    "get",
    cls=Command,
    examples=(
        "commonhold get account:12345",
        "commonhold get account:12345 account:67890 --json",
    ),
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@common
@click.pass_obj
def command(given: Given, keys: tuple[str, ...]) -> None:
    """Print the values of KEYs (names such as account:12345) that `put` has stored.

    For one key the text alone goes to standard output, and its version (for `put --expect`) to standard error; several
    keys get a heading each. Version 0: nothing was ever stored.
    """
    with opened(given) as place:
        found = [place.hold.get(key) for key in place.keys(keys)]
    if given.as_json:
        send_json(shapes.values(found))
    elif len(found) == 1:
        _print(found[0])
    else:
        say(line for each in found for line in describe.value(each))


def _print(carried: Value) -> None:
    complain(next(iter(describe.value(carried))))
    text = carried.text or ""
    if is_terminal():
        say(shown_text(text).splitlines())
    else:
        send(text.encode())
