"""`commonhold queue`: the merge queue, in which finished branches land one tested batch after the other."""

from typing import TypedDict, Unpack

import click

from commonhold.api.wire import entry_shapes
from commonhold.cli import queue_words
from commonhold.cli.command import Command, Group, Parts
from commonhold.cli.common_options import Given, common, note_option, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer


class _Wish(TypedDict):
    onto: str
    task: str
    session: str
    checks: tuple[str, ...]
    priority: int


_onto = click.option("--onto", metavar="BRANCH", default="", help="Only what lands on BRANCH.")


@click.group(
    "queue",
    cls=Group,
    commands=Parts({"run": "queue_running:run", "check": "queue_predictions:check"}),
    examples=(
        "commonhold queue add feature",
        "commonhold queue run --check 'pytest -q'",
        "commonhold queue list",
    ),
)
@common
def command() -> None:
    """Land finished branches: they are merged in batches, tested together, and the branch moves to the tested tree.

    An entry that conflicts, breaks code that others rely on, or fails the checks is returned with a repair packet; all
    others land. `commonhold help landing` has the whole.
    """


@command.command(
    "add",
    cls=Command,
    examples=(
        "commonhold queue add feature",
        "commonhold queue add feature --task price --check 'pytest -q tests/billing'",
        "commonhold queue add hotfix --onto release --priority 5",
    ),
)
@click.argument("branch")
@click.option("--onto", metavar="BRANCH", default="", help="Where it lands; default: its task's target, else main.")
@click.option("--task", metavar="TASK", default="", help="The task that it completes, which must be done with it.")
@click.option("--session", metavar="ID", default="", help="The session that made the change; for its attribution.")
@click.option("--check", "checks", metavar="COMMAND", multiple=True, help="Must pass as well; may be repeated.")
@click.option("--priority", metavar="N", type=int, default=0, show_default=True, help="The higher goes first.")
@click.option("--again", is_flag=True, help="Try a commit once more that was returned before.")
@request_option
@common
@click.pass_obj
def _add(
    given: Given,
    *,
    branch: str,
    again: bool,
    request_id: str | None,
    **wish: Unpack[_Wish],
) -> int:
    """Add the present commit of BRANCH. If the branch is in the queue with an older one, that is replaced.

    A commit that was returned before is refused at once, with the same repair packet.
    """
    with opened(given) as place:
        found = place.hold.enqueue(branch, again=again, request_id=request_id, **wish)
    answer(given, found, entry_shapes.answer, lambda found: queue_words.answer(found, given))
    return REFUSED if found.code else DONE


@command.command("list", cls=Command, examples=("commonhold queue list", "commonhold queue list --all --json"))
@_onto
@click.option("--all", "all_states", is_flag=True, help="Those that have landed or were returned, too.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 1000), default=200, show_default=True, help="With --all.")
@click.option("--before", metavar="ENTRY", default="", help="With --all: those that were added before it.")
@common
@click.pass_obj
def _list(given: Given, *, onto: str, all_states: bool, limit: int, before: str) -> int:
    """List the entries, oldest first; and for each branch the last landing, and the process that runs its queue.

    With --all: the newest N entries, in whatever state; --before shows older ones.
    """
    with opened(given) as place:
        found = place.hold.entries(onto=onto, all_states=all_states or bool(before), limit=limit, before=before)
    is_whole = all_states and not (onto or before)
    answer(given, found, entry_shapes.answer, lambda found: queue_words.listed(found, is_whole=is_whole))
    return DONE


@command.command("show", cls=Command, examples=("commonhold queue show e12",))
@click.argument("entry")
@common
@click.pass_obj
def _show(given: Given, entry: str) -> int:
    """Show ENTRY; if it was returned, with its repair packet: conflicts, their authors, the present text."""
    with opened(given) as place:
        found = place.hold.entries(entry)
    answer(given, found, entry_shapes.answer, queue_words.details)
    return DONE


@command.command(
    "remove", cls=Command, examples=('commonhold queue remove e12 --note "a better change is on its way"',)
)
@click.argument("entry")
@note_option("Why: kept with the entry.", is_required=False)
@request_option
@common
@click.pass_obj
def _remove(given: Given, entry: str, note: str, request_id: str | None) -> int:
    """Take ENTRY out of the queue. Its branch and its task stay as they are; the entries behind it are merged again."""
    with opened(given) as place:
        found = place.hold.remove_entry(entry, note=note, request_id=request_id)
    answer(given, found, entry_shapes.answer, lambda found: queue_words.answer(found, given))
    return REFUSED if found.code else DONE


@command.command("watch", cls=Command, examples=("commonhold queue watch",))
@_onto
@common
@click.pass_obj
def _watch(given: Given, *, onto: str) -> int:
    """Show the queue as it changes, until Ctrl-C; with --json, as one object a line."""
    # Loaded here: the other commands look once.
    from commonhold.cli.watch import watched  # noqa: PLC0415

    with opened(given) as place:
        watched(given, lambda: place.hold.entries(onto=onto), entry_shapes.answer, queue_words.listed)
    return DONE
