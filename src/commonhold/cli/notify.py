"""`commonhold notify`: targets of notifications of decisions that need a person."""

from pathlib import Path
from typing import Final

import click

from commonhold.api.wire.text import Json
from commonhold.cli.command import Command, Group
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.exit_status import DONE, FAMILIES, REFUSED
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.kernel.errors import StoreError
from commonhold.machine.system import SystemClock
from commonhold.server.notify import targets
from commonhold.server.notify.decisions import Kind
from commonhold.server.notify.targets import DESKTOP, Target
from commonhold.workspace.repository import find_repository

_EXAMPLES: Final = (
    "commonhold notify add https://hooks.example.org/commonhold",
    "commonhold notify add desktop --kind partial_work",
    "commonhold notify test",
    "commonhold notify remove 3f9a6c1e",
)
_KINDS: Final = [each.value for each in Kind]


@click.group("notify", cls=Group, examples=_EXAMPLES)
@common
def command() -> None:
    """Send a notification when a person must decide.

    partial_work: a session lost its lease before its work was done. task_proposed: a task waits to be accepted.
    task_failed: a task has used up its attempts. run_failed: a run cannot go on. entry_returned: the merge queue has
    refused an entry. landing_held: a batch that has passed cannot move its branch, or the branch itself fails a check.
    session_review: the work of a session waits for approval. session_failed: a session has failed.

    The daemon delivers each to every target at least once, and tries again after failures. `commonhold help operations`
    describes the requests, and how a receiver checks their signatures.
    """


@command.command("add", cls=Command, examples=_EXAMPLES[:2])
@click.argument("url", metavar="URL|desktop")
@click.option(
    *("--kind", "kinds"),
    type=click.Choice(_KINDS),
    multiple=True,
    help="Send only decisions of this kind; may be repeated.",
)
@click.option("--private", "is_private", is_flag=True, help="The host is this machine, or one of your own network.")
@common
@click.pass_obj
def _add(given: Given, url: str, kinds: tuple[str, ...], *, is_private: bool) -> int:
    """Add a webhook, or the desktop of the daemon's user. It gets the decisions from now on.

    The secret that signs a webhook's requests is printed once: give it to the receiver.
    """
    with opened(given) as place:
        newest = place.hold.log(limit=1)
    after = newest[-1].sequence if newest else 0
    made = targets.add(_folder(given), url, [Kind(each) for each in kinds], after, is_private=is_private)
    answer(given, made, lambda each: {**_shape(each), "secret": each.secret}, _added)
    return DONE


@command.command("list", cls=Command, examples=("commonhold notify list",))
@common
@click.pass_obj
def _list(given: Given) -> int:
    """List the targets, the oldest first, without their secrets."""
    found = _targets(given)
    answer(given, found, lambda known: {"targets": [_shape(each) for each in known]}, _described)
    return DONE


@command.command("remove", cls=Command, examples=("commonhold notify remove 3f9a6c1e",))
@click.argument("id_", metavar="ID")
@common
@click.pass_obj
def _remove(given: Given, id_: str) -> int:
    """Remove the target with this ID: it gets no more notifications."""
    removed = targets.remove(_folder(given), id_)
    answer(given, removed, lambda each: {"removed": _shape(each)}, lambda each: f"removed {_line(each)}")
    return DONE


@command.command("test", cls=Command, examples=("commonhold notify test", "commonhold notify test 3f9a6c1e --json"))
@click.argument("id_", metavar="[ID]", required=False)
@common
@click.pass_obj
def _test(given: Given, id_: str | None) -> int:
    """Send a test to the target with this ID, or to all of them, and show what arrived.

    The exit code is 4 if a test did not arrive, and 1 if there are no targets.
    """
    # Loaded here: only this command sends anything.
    from commonhold.server.notify.delivery import deliver  # noqa: PLC0415

    known = _targets(given)
    chosen = known if id_ is None else (targets.find(known, id_),)
    name, now = Path(find_repository(start_of(given)).root).name, SystemClock().now().wall
    results = [(each, deliver(each, None, name, now)) for each in chosen]
    answer(
        given,
        results,
        lambda tested: {"results": [{"id": each.id, "delivered": not why, "why": why} for each, why in tested]},
        lambda tested: [_tested(*each) for each in tested] or _described(()),
    )
    if not results:
        return REFUSED
    return FAMILIES[StoreError] if any(why for _, why in results) else DONE


def _tested(target: Target, why: str) -> str:
    return f"{_line(target)}: {f'failed: {shown(why)}' if why else 'delivered'}"


def _added(target: Target) -> list[str]:
    if target.is_desktop:
        return [f"added {_line(target)}", f"try it: commonhold notify test {target.id}"]
    return [
        f"added {_line(target)}",
        f"secret, which is not shown again: {target.secret}",
        f"try it: commonhold notify test {target.id}",
    ]


def _described(known: tuple[Target, ...]) -> list[str]:
    return [_line(each) for each in known] or ["there are no targets; add one: commonhold notify add URL"]


def _line(target: Target) -> str:
    kinds = "all kinds" if set(target.kinds) == set(Kind) else ", ".join(target.kinds)
    return "  ".join((target.id, shown(target.place), kinds))


def _shape(target: Target) -> Json:
    return {
        "id": target.id,
        "target": DESKTOP if target.is_desktop else "webhook",
        "place": target.place,
        "kinds": [each.value for each in target.kinds],
        "private": target.is_private,
        "after": target.after,
    }


def _targets(given: Given) -> tuple[Target, ...]:
    return targets.targets_file(_folder(given)).read()


def _folder(given: Given) -> str:
    return find_repository(start_of(given)).state_folder
