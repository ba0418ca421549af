"""`commonhold put`: store the value of a key."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import click

from commonhold.api.wire import shapes
from commonhold.cli import describe
from commonhold.cli.changeset_input import STDIN, read_stdin
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.next_call import next_lines
from commonhold.cli.opening import opened
from commonhold.cli.output import answer, shown
from commonhold.kernel.answers import Next, PutAnswer
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.values import Version

_MAX_DIGITS: Final = 18


class _ReadType(click.ParamType[Version]):
    """KEY=VERSION."""

    name = "read"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Version:
        key, _, version = value.rpartition("=")
        if not key or not (version.isascii() and version.isdigit() and len(version) <= _MAX_DIGITS):
            self.fail(f"{value!r} is not KEY=VERSION; `commonhold get KEY` shows the version", param, ctx)
        return Version(key, int(version))


@click.command(
    "put",
    cls=Command,
    examples=(
        "commonhold put account:12345 frozen --expect 0",
        "commonhold put order:7 - --expect 0 --read account:67890=0 < order.json",
    ),
)
@click.argument("key")
@click.argument("value", required=False)
@click.option(
    *("--expect", "expected_version"),
    metavar="VERSION",
    type=click.IntRange(min=0),
    help="The version that the change is based on; 0: nothing was ever put there.",
)
@click.option("--fence", metavar="N", type=int, help="The fence of your lease on KEY: it must still be live.")
@click.option(
    *("--read", "reads"),
    metavar="KEY=VERSION",
    multiple=True,
    type=_ReadType(),
    help="Another key on which the change is based: it must still have that version; may be repeated.",
)
@click.option("--delete", is_flag=True, help="Let KEY carry nothing any more.")
@request_option
@common
@click.pass_obj
def command(
    given: Given,
    *,
    key: str,
    value: str | None,
    expected_version: int | None,
    fence: int | None,
    reads: tuple[Version, ...],
    delete: bool,
    request_id: str | None,
) -> int:
    """Store VALUE under KEY, a name such as account:12345 (-: read it from standard input).

    VALUE is stored only if KEY still has the version that the change is based on, and so have all keys that --read
    names; otherwise the answer shows the current value. `get` shows versions.
    """
    if expected_version is None:
        raise _without_version()
    text = _text(value, is_deleted=delete)
    with opened(given) as place:
        found = place.hold.put(
            place.key(key), text, expected_version=expected_version, fence=fence, reads=reads, request_id=request_id
        )
    answer(given, found, shapes.put, lambda found: _lines(found, given))
    return REFUSED if found.code else DONE


def _without_version() -> UsageError:
    return UsageError(
        Code.USAGE,
        "--expect is missing, so a change by another session could not be noticed",
        hint="`commonhold get KEY` shows the version; 0 stands for a key that carries nothing yet",
    )


def _text(value: str | None, *, is_deleted: bool) -> str | None:
    if (value is None) != is_deleted:
        why = "--delete takes no VALUE" if is_deleted else "VALUE is missing"
        raise UsageError(Code.USAGE, why, hint="write the value, - for standard input, or --delete")
    if value != STDIN:
        return value
    try:
        return read_stdin("the value").decode()
    except UnicodeDecodeError as fault:
        raise InputError(
            Code.TEXT_INVALID,
            f"the value is not valid UTF-8 (byte {fault.start})",
            hint="keep bytes in a file, and put its name or hash here",
            fields={"field": "value"},
        ) from fault


def _lines(found: PutAnswer, given: Given) -> Iterator[str]:
    if found.value is not None:
        yield f"stored: {shown(found.value.key)}  version {found.value.version}"
    else:
        yield f"refused [{found.code}]: {shown(found.why)}"
    yield from map(describe.conflict, found.conflicts)
    yield from describe.there_now(found.current)
    yield from next_lines(_at_hand(found.next), given)


def _at_hand(call: Next | None) -> Next | None:
    """The next call in words; this output shows the values that the answer only names."""
    return call and replace(call, why=call.why.replace(*describe.ABOVE))
