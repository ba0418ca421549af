"""`commonhold release`: end a lease, or all of one's own."""

from collections.abc import Iterator, Sequence

import click

from commonhold.api.wire import shapes
from commonhold.cli import ids, lease_words
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer, shown
from commonhold.kernel.answers import LeaseAnswer
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.lease import Lease, Waiter


@click.command(
    "release",
    cls=Command,
    examples=(
        "commonhold release lease-b57a98944c10b25e",
        'commonhold release lease-b57a98944c10b25e --result "applied 42"',
        "commonhold release --all",
    ),
)
@click.argument("lease_id", metavar="[LEASE]", required=False)
@click.option("--all", "is_all", is_flag=True, help="All leases of yours, and your places in line.")
@click.option(
    "--result", metavar="TEXT", help="The result of work that was acquired with --once: the work is done, for ever."
)
@request_option
@common
@click.pass_obj
def command(given: Given, lease_id: str | None, result: str | None, request_id: str | None, *, is_all: bool) -> int:
    """End your lease LEASE, or give up your place in line; its keys are free at once.

    A lease that was acquired with --once is released with the result of its work, which all that ask later are given;
    or without one, which leaves the work to the next in line.
    """
    if is_all and result is not None:
        raise UsageError(Code.USAGE, "--all and --result exclude each other", hint="name the lease of the result")
    if is_all == (lease_id is not None):
        hint = "commonhold release LEASE, or commonhold release --all; `commonhold leases` lists yours"
        raise UsageError(Code.USAGE, "name one lease, or say --all", hint=hint)
    with opened(given) as place:
        if lease_id is None:
            every = _release_all(place, request_id)
            answer(given, every, _shape, lambda every: _lines(every, place.hold.holder))
            return REFUSED if any(each.code for each in every) else DONE
        found = place.hold.release(ids.lease_id(place, lease_id), request_id=request_id, result=result)
    answer(given, found, shapes.lease_change, lambda found: lease_words.lease_changed(found, given))
    return REFUSED if found.code else DONE


def _release_all(place: Place, request_id: str | None) -> list[LeaseAnswer]:
    """Release all leases and places in line of this holder, each under its own request id if one was given."""
    me, status = place.hold.holder, place.hold.status()
    claims: tuple[Lease | Waiter, ...] = (*status.leases, *status.waiters)
    mine = [each.id for each in claims if each.holder == me]
    return [
        place.hold.release(each, request_id=None if request_id is None else f"{request_id}:{each}") for each in mine
    ]


def _shape(every: Sequence[LeaseAnswer]) -> dict[str, object]:
    return {"outcome": "released", "leases": [shapes.lease_change(each) for each in every]}


def _lines(every: Sequence[LeaseAnswer], holder: str) -> Iterator[str]:
    if not every:
        yield f"nothing to release: {shown(holder)} holds no lease and waits for none"
    for each in every:
        yield from lease_words.lease_changed(each, Given())
