"""`commonhold top`: the present moment as a live view in the terminal."""

import time
from collections.abc import Callable
from typing import Any, Final

import click
import msgspec

from commonhold.cli import colours
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, flush, is_terminal
from commonhold.cli.top_view import lines, shown_live
from commonhold.cli.watch import watched
from commonhold.views.overview import Overview

_SECONDS: Final = 1.0


@click.command("top", cls=Command, examples=("commonhold top", "commonhold top --once", "commonhold top --once --json"))
@click.option("--once", is_flag=True, help="Print the present moment, and end.")
@common
@click.pass_obj
def command(given: Given, *, once: bool) -> None:
    """Show live what needs you, each agent with what it holds, does and waits for, and conflicts as they happen.

    Each state has its source (hooks, line or lease) and its age. Ctrl-C ends it. Elsewhere than in a terminal, and with
    --plain, each change is printed below the last; with --json, as one object a line, with the fields of
    `GET /api/v1/overview` (`commonhold help server`).
    """
    with opened(given) as place:

        def look() -> Overview:
            return place.hold.overview()

        if once:
            answer(given, look(), _shape, lines)
        elif given.as_json or not is_terminal() or colours.is_plain():
            watched(given, _changed(look), _shape, lines)
        else:
            shown_live(look, lambda: time.sleep(_SECONDS))
            flush()


def _changed(look: Callable[[], Overview]) -> Callable[[], Overview]:
    """Return the same function, which repeats its last result while only time has passed."""
    last: Overview | None = None

    def changed() -> Overview:
        nonlocal last
        found = look()
        if last is None or found != last:
            last = found
        return last

    return changed


def _shape(found: Overview) -> dict[str, Any]:
    shape: dict[str, Any] = msgspec.to_builtins(found)
    return shape
