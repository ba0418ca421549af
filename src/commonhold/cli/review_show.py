"""`commonhold review show`: partial work as a diff from the grant."""

import difflib
import shlex
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import click

from commonhold.api.wire import shapes
from commonhold.api.wire.text import Json
from commonhold.cli import describe, ids
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.next_call import next_lines
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer, shown, shown_text
from commonhold.cli.review_resolve import refused
from commonhold.kernel.answers import Next, ReviewAnswer
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.partial_work import PartialWork, UnfinishedChange

_MAX_LINES: Final = 200
_GONE: Final = "(not there)"


class _Seen(NamedTuple):
    """Partial work, and for each key how it differs: a unified diff, or why there is none."""

    work: PartialWork
    diffs: Sequence[str]


@click.command(
    "show",
    cls=Command,
    examples=("commonhold review show lease-b57a98944c10b25e",),
)
@click.argument("lease_id", metavar="LEASE")
@common
@click.pass_obj
def command(given: Given, lease_id: str) -> int:
    """Show the changes made under LEASE before it was lost, key by key, as diffs from the grant."""
    with opened(given) as place:
        lease_id = ids.work_id(place, lease_id)
        work = next((each for each in place.hold.partial_works() if each.lease_id == lease_id), None)
        seen = None if work is None else _Seen(work, [_diff(place, left) for left in work.changes])
    if seen is None:
        answer(given, _nothing(lease_id), shapes.review, lambda found: refused(found, given))
        return REFUSED
    answer(given, seen, _shape, lambda seen: _lines(seen, given))
    return DONE


def _nothing(lease_id: str) -> ReviewAnswer:
    why = f"there is no partial work of the lease {lease_id} that waits for review"
    return ReviewAnswer("refused", None, why, Next("review", {}, "see what waits for review"))


def _diff(place: Place, left: UnfinishedChange) -> str:
    before, after = _kept(place, left.base), _kept(place, left.now)
    if before is None or after is None:
        return "the bytes are not kept any more"
    if b"\0" in before + after:
        return f"binary: {len(before):,} bytes became {len(after):,}"
    names = ("at the grant", "as it was found")
    lines = list(difflib.unified_diff(_texts(before), _texts(after), *names, lineterm=""))
    more = len(lines) - _MAX_LINES
    return "\n".join([*lines[:_MAX_LINES], *([f"... {more} more lines"] if more > 0 else [])])


def _kept(place: Place, content_hash: str | None) -> bytes | None:
    """Return the bytes under a hash; empty if there was no file, None if they are gone."""
    if content_hash is None:
        return b""
    try:
        return place.hold.content(content_hash)
    except InputError as fault:
        if fault.code is not Code.CONTENT_UNKNOWN:
            raise
        return None


def _texts(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def _shape(seen: _Seen) -> Json:
    shape = shapes.work(seen.work)
    for change, diff in zip(shape["changes"], seen.diffs, strict=True):
        change["diff"] = diff
    return shape


def _lines(seen: _Seen, given: Given) -> Iterator[str]:
    yield from list(describe.work(seen.work))[:1]
    for left, diff in zip(seen.work.changes, seen.diffs, strict=True):
        yield f"--- {shown(left.key)}  {_state(left.base)} -> {_state(left.now)}"
        yield shown_text(diff)
    yield "---"
    yield from _ways_back(seen.work)
    yield from next_lines(
        Next(
            "review resolve",
            {"lease_id": seen.work.lease_id},
            "finish it or undo it, then say what you did:",
        ),
        given,
    )


def _state(content_hash: str | None) -> str:
    return describe.short(content_hash) if content_hash else _GONE


def _ways_back(work: PartialWork) -> Iterator[str]:
    """How to get the bytes from before: for one key as an example."""
    base = next((left.base for left in work.changes if left.base), None)
    if base is not None:
        yield f"the previous content is kept: commonhold show {shlex.quote(describe.short(base))}"
