"""`commonhold review`: unfinished work and debts."""

import time
from pathlib import Path
from typing import Final

import click

from commonhold.api.wire import shapes
from commonhold.cli import review_resolve, review_show, review_waive, work_words
from commonhold.cli.command import Group
from commonhold.cli.common_options import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.commits.external.lost_files import lost_files

_MOST_EVENTS: Final = 10_000


@click.group(
    "review",
    cls=Group,
    invoke_without_command=True,
    examples=("commonhold review", "commonhold review show lease-b57a98944c10b25e"),
)
@common
@click.pass_context
def command(context: click.Context) -> None:
    """List unfinished work and open debts, which need a person. Nothing is reverted.

    Unfinished work is the changes that a holder had made when its lease expired or was ended by force. A debt is code
    that a commit broke, or may have broken, and that its author leased to fix later. A lost file is one that a session
    wrote and that was deleted outside any session within a day: its bytes are kept.
    """
    given: Given = context.obj
    if context.invoked_subcommand is not None:
        return
    with opened(given) as place:
        place.hold.partial_works()  # searches for work not found yet
        found = place.hold.status()
        told = lost_files(place.hold.log(limit=_MOST_EVENTS), found.root, time.time())
    lost = [each for each in told if not Path(found.root, each.path).exists()]
    answer(
        given,
        (found, lost),
        lambda found: shapes.to_review(*found),
        lambda found: work_words.to_review(*found, given),
    )


command.add_command(review_show.command)
command.add_command(review_resolve.command)
command.add_command(review_waive.command)
