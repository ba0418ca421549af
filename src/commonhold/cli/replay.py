"""`commonhold replay`: reconstruct the states of the log, and make its decisions again."""

from collections.abc import Iterator
from typing import Final

import click

from commonhold.api.wire import history_shapes
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.log import MAX_SEQUENCE
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.history.answers import ReplayAnswer
from commonhold.kernel.texts import counted

_WIDTH: Final = 18


@click.command(
    "replay",
    cls=Command,
    examples=(
        "commonhold replay",
        "commonhold replay --from 100 --to 200 --json",
    ),
)
@click.option("--from", "since", metavar="N", type=click.IntRange(0, MAX_SEQUENCE), default=0, help="Check from there.")
@click.option("--to", "until", metavar="N", type=click.IntRange(0, MAX_SEQUENCE), help="Replay up to this event.")
@common
@click.pass_obj
def command(given: Given, since: int, until: int | None) -> int:
    """Reconstruct every state from the log, and check that the recorded decisions come out the same.

    Decisions on leases, values, tasks and runs are made again by the same code, from the state before them; of commits
    it is checked that the author held the named leases, and that no one else held the changed regions. Refused commits
    are not decided again, since the log does not have the files. Without --to the last state is compared with the
    stored one. Exit code 1, and the first difference, if anything differs: the log or the state was changed.
    """
    with opened(given) as place:
        found = place.hold.replay(since=since, until=until)
    answer(given, found, history_shapes.replay, _lines)
    return DONE if found.difference is None else REFUSED


def _lines(found: ReplayAnswer) -> Iterator[str]:
    if found.difference is not None:
        yield f"different at event {found.difference.sequence}: {shown(found.difference.why)}"
        yield from _side("recorded", found.difference.found)
        yield from _side("expected", found.difference.expected)
    if found.compacted:
        yield f"the replay began with the snapshot in place of the events up to {found.compacted}"
    total, again = sum(found.events.values()), sum(found.checked.values())
    yield f"events {found.first} to {found.last}: {total} replayed, {again} decisions checked"
    for kind, count in found.events.items():
        rest = count - found.checked.get(kind, 0)
        yield f"  {kind:<{_WIDTH}} {count:>6}{f'  ({rest} not decided again)' if rest else ''}"
    claimed = sum(each.state.value == "claimed" for each in found.tasks)
    leases, tasks = counted(len(found.leases), "lease"), counted(len(found.tasks), "task")
    held = f"{leases}, {len(found.waiters)} waiting, {tasks} ({claimed} claimed)"
    yield f"then: {held}{'; the stored state is the same' if found.is_stored else ''}"


def _side(name: str, text: str) -> Iterator[str]:
    if text:
        yield f"  {name}: {shown(text)}"
