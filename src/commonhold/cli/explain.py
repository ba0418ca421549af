"""`commonhold explain`: the meaning of a code, or the reasons for past events."""

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.explanations import EXPLANATIONS, Explanation
from commonhold.cli.output import answer, shown
from commonhold.kernel.errors import Code, UsageError

if TYPE_CHECKING:
    from commonhold.cli.opening import Place
    from commonhold.history.answers import Account

Explained = Mapping[str, Explanation]
_LIKE_A_CODE: Final = re.compile(r"[A-Z]+(?:[_-][A-Z]+)*")


@click.command(
    "explain",
    cls=Command,
    examples=(
        "commonhold explain REGION_CHANGED",
        "commonhold explain 12",
        "commonhold explain src/prices.py#total",
        "commonhold explain task:price",
        "commonhold explain run:r12",
        "commonhold explain entry:e12",
        "commonhold explain session:s7",
    ),
)
@click.argument("what", metavar="[CODE|EVENT|LEASE|TASK|RUN|ENTRY|SESSION|KEY]", required=False, shell_complete=files)
@common
@click.pass_obj
def command(given: Given, what: str | None) -> None:
    """Explain a code, or tell from the log why something was refused, waited or changed.

    CODE is an error or refusal code: its meaning and the remedy. EVENT is the number of an event, LEASE the id of a
    lease, TASK a task (task:ID), RUN a run (run:ID), ENTRY an entry of the merge queue (entry:ID), SESSION a managed
    session (session:ID), KEY a file, a region or any name: the events about it, each with its reasons. Without an
    argument all codes are listed.
    """
    if what is None:
        answer(given, EXPLANATIONS, _shape, _list)
    elif (name := what.upper().replace("-", "_")) in EXPLANATIONS:
        answer(given, {name: EXPLANATIONS[name]}, _shape, _whole)
    elif _LIKE_A_CODE.fullmatch(what):
        raise _no_code(what, name)
    else:
        _explain(given, what)


def _no_code(what: str, name: str) -> UsageError:
    near = difflib.get_close_matches(name, EXPLANATIONS, n=1)
    hint = f"did you mean {near[0]}?" if near else "`commonhold explain` lists all codes"
    return UsageError(Code.USAGE, f"there is no code {what!r}", hint=hint)


def _explain(given: Given, what: str) -> None:
    # Loaded here: the meaning of a code needs no repository.
    from commonhold.api.wire import history_shapes  # noqa: PLC0415
    from commonhold.cli.opening import opened  # noqa: PLC0415

    with opened(given) as place:
        found = place.hold.explain(_named(place, what))
    answer(given, found, history_shapes.account, lambda found: _account(found, given))


def _named(place: "Place", what: str) -> str:
    """Return a path as a key for any folder; a bare word that is no file may name a task."""
    is_path = any(mark in what for mark in "/.#") or Path(place.hold.root, place.folder, what).exists()
    return place.key(what) if is_path else what


def _account(found: "Account", given: Given) -> Iterator[str]:
    # Loaded here, as above.
    from commonhold.cli.describe import stamp  # noqa: PLC0415
    from commonhold.cli.next_call import next_lines  # noqa: PLC0415

    if not found.steps:
        since = f" since event {found.since}" if found.since > 1 else ""
        yield f"the log has no event about {shown(found.name)}{since}"
    if found.left_out:
        yield f"{found.left_out} earlier events are left out"
    for each in found.steps:
        yield f"event {each.sequence}  {stamp(each.at)}  {shown(each.text)}"
        yield from (f"  {shown(reason)}" for reason in each.reasons)
        if each.code and found.subject == "event":
            yield from (f"  {line}" for line in _whole({each.code: EXPLANATIONS[each.code]}))
    yield from next_lines(found.next, given)


def _shape(found: Explained) -> dict[str, object]:
    return {"codes": [{"code": name, **each._asdict()} for name, each in found.items()]}


def _list(found: Explained) -> Iterator[str]:
    return (f"{name:<26}{each.meaning}" for name, each in found.items())


def _whole(found: Explained) -> Iterator[str]:
    for name, each in found.items():
        yield f"{name}: {each.meaning}"
        yield f"what to do: {each.remedy}"
