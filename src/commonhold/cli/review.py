"""`commonhold review`: what was left half done."""

import click

from commonhold.cli import review_resolve, review_show, work_words
from commonhold.cli.command import Group
from commonhold.cli.given import Given, common
from commonhold.cli.opening import opened
from commonhold.cli.output import answer
from commonhold.wire import shapes


@click.group(
    "review",
    cls=Group,
    invoke_without_command=True,
    examples=("commonhold review", "commonhold review show lease-b57a98944c10b25e"),
)
@common
@click.pass_context
def command(context: click.Context) -> None:
    """List partial work: what the holder of a lease had changed when the lease ended without its doing.

    That is when it expired, or was ended by force. Nothing is reverted; somebody has to look at it.
    """
    given: Given = context.obj
    if context.invoked_subcommand is not None:
        return
    with opened(given) as place:
        found = place.hold.partial_works()
    answer(given, found, shapes.works, lambda found: work_words.works(found, given))


command.add_command(review_show.command)
command.add_command(review_resolve.command)
