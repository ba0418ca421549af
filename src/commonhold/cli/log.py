"""`commonhold log`: the events."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import sleep
from typing import Any, Final, TypedDict, Unpack

import click

from commonhold.api.wire import event_shapes
from commonhold.cli import queue_words, run_words, session_words
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.describe import innermost, quoted, short, stamp, who
from commonhold.cli.exit_status import DONE
from commonhold.cli.log_export import Asked, export, send_lines
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer, flush, say, shown, some
from commonhold.kernel.entry import EntryAdded, EntryMoved
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.events import (
    KIND_OF,
    KINDS,
    CommitRefused,
    Committed,
    CommitUndone,
    DebtWaived,
    Event,
    LeaseBroken,
    LeaseDenied,
    LeaseGranted,
    LeaseHandedOver,
    LeaseQueued,
    LogCompacted,
    Recorded,
    ReleaseAsked,
    ValuePut,
    WaiterLeft,
    WorkLeft,
    WorkReviewed,
    holder_of,
    lease_id_of,
)
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.managed_session import SessionMoved, SessionQueued
from commonhold.kernel.run import ItemMoved, RunMoved, RunPlanned, RunStarted
from commonhold.kernel.task import Move, TaskAdded, TaskMoved
from commonhold.kernel.write_slots import shown_key

_POLL_SECONDS: Final = 0.5
_SHOWN: Final = 100
_WIDTH: Final = max(map(len, KINDS))
# The largest number that the state can store.
MAX_SEQUENCE: Final = 2**63 - 1


class _Range(TypedDict):
    after: int | None
    limit: int
    lease_id: str | None


@click.command(
    "log",
    cls=Command,
    examples=(
        "commonhold log --limit 20",
        "commonhold log --follow --json",
        "commonhold log --jsonl > events.jsonl",
        "commonhold log --otel trace.json",
        "commonhold log --verify old-events.jsonl",
    ),
)
@click.option("--after", metavar="SEQUENCE", type=click.IntRange(0, MAX_SEQUENCE), help="Only events after this one.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 100_000), help="How many; default: 100, in an export all.")
@click.option("--lease", "lease_id", metavar="LEASE", help="Only the events of this lease.")
@click.option("--follow", is_flag=True, help="Go on with new events as they come (one JSON object a line).")
@click.option("--jsonl", "as_lines", is_flag=True, help="Export: one JSON object a line.")
@click.option(
    "--otel", "otel", metavar="FILE", help="Export to a file: OpenTelemetry traces (OTLP/JSON); - for standard output."
)
@click.option(
    "--verify",
    "exports",
    metavar="FILE",
    multiple=True,
    shell_complete=files,
    help="Check that the events of an export and those of the log are one chain; repeat it for several, oldest first.",
)
@click.option("--shared", is_flag=True, help="With --verify: the log of the PostgreSQL store that machines share.")
@common
@click.pass_obj
def command(
    given: Given,
    *,
    follow: bool,
    as_lines: bool,
    otel: str | None,
    exports: tuple[str, ...],
    shared: bool,
    **span: Unpack[Asked],
) -> int:
    """Show events in order: those after SEQUENCE, or else the newest.

    --jsonl and --otel export them: from the first event on, unless --after or --limit says otherwise. In the traces a
    span is a run, an item of it, an attempt at a task, a lease, a wait or a commit; a commit is part of the trace of
    its lease, and an attempt of that of its run.

    --verify is for the files that `commonhold doctor --compact --export FILE` has written. The exit code is 1 if an
    event was changed, removed or inserted.
    """
    if follow + as_lines + (otel is not None) + bool(exports) > 1:
        raise UsageError(
            Code.USAGE,
            "--follow, --jsonl, --otel and --verify exclude each other",
            hint="make one call for each of them",
        )
    with opened(given) as place:
        if exports:
            from commonhold.cli.chain_export import verify  # noqa: PLC0415 - seldom asked for, as above

            return verify(given, lambda last: place.hold.chain(after=last, shared=shared), exports)
        if span["lease_id"] is not None:
            # Loaded here: usually the whole log is requested.
            from commonhold.cli.ids import past_lease_id  # noqa: PLC0415

            span["lease_id"] = past_lease_id(place, span["lease_id"])
        if as_lines or otel is not None:
            export(given, place, span, otel)
            return DONE
        chosen: _Range = {**span, "limit": span["limit"] or _SHOWN}
        if follow:
            _follow(place, chosen, given)
        events = place.hold.log(**chosen)
    answer(given, events, event_shapes.log, _lines)
    return DONE


def _follow(place: Place, span: _Range, given: Given) -> None:
    while True:
        events = place.hold.log(**span)
        _print(events, given)
        flush()
        if events:
            span["after"] = events[-1].sequence
        sleep(_POLL_SECONDS)


def _print(events: Sequence[Recorded], given: Given) -> None:
    if given.as_json:
        send_lines(events)
    else:
        say(_lines(events))


def _lines(events: Sequence[Recorded]) -> Iterator[str]:
    return map(_line, events)


def _line(recorded: Recorded) -> str:
    event = recorded.event
    head = f"{recorded.sequence:>5}  {stamp(recorded.at)}  {KIND_OF[type(event)]:<{_WIDTH}}"
    return f"{head}  {who(holder_of(event))}  {_story(event)}"


def _story(event: Event) -> str:
    told = _STORIES.get(type(event))
    lease = shown(lease_id_of(event) or "")
    return told(event) if told else f"{lease}{_MORE.get(type(event), _nothing)(event)}"


def _nothing(_: Event) -> str:
    return ""


def _claim(claim: Lease | Waiter) -> str:
    return f"{shown(claim.id)} on {_keys(claim.keys)}{quoted(claim.task)}"


def _denied(event: LeaseDenied) -> str:
    holders = ", ".join(sorted({who(each.holder) for each in event.conflicts}))
    return f"{_keys(event.keys)} held by {holders}{quoted(event.task)}"


def _undone(event: CommitUndone) -> str:
    return f"put back: {_keys(event.restored) or 'nothing'}; left alone: {_keys(event.left) or 'nothing'}"


def _left(event: WorkLeft) -> str:
    return f" {_keys([each.key for each in event.changes]) or 'nothing was left half done'}"


def _keys(keys: Sequence[str]) -> str:
    return some(list(map(shown_key, keys)), " ")


def _changes(event: Committed) -> list[str]:
    """The written regions with their hashes; whole files if the commit named only those."""
    after = {each.key: each.after for each in event.regions}
    regions = [f"{key} {short(after[key])}" for key in innermost(after)]
    return regions or [f"{each.path} {short(each.after)}" for each in event.files]


def _merged(event: Committed) -> str:
    """Return which edits were merged rather than applied as sent, and the hash of the version each was merged with."""
    joined = [f"{each.key} with {short(each.found)}" for each in event.merged]
    return f" (merged: {some(joined)})" if joined else ""


def _undoes(event: Committed) -> str:
    return f" (undoes {some(list(map(str, event.undoes)))})" if event.undoes else ""


_PAST: Final = {
    Move.ACCEPT: "accepted",
    Move.DECLINE: "declined",
    Move.CLAIM: "claimed",
    Move.HAND_OVER: "handed over",
    Move.RETURN: "returned",
    Move.GIVE_BACK: "given back",
    Move.EXHAUST: "failed",
    Move.FINISH: "done",
    Move.LAND: "landed",
    Move.REFUSE: "refused at landing",
    Move.STRAND: "not landed any more",
    Move.UNDO: "undone",
    Move.CANCEL: "cancelled",
    Move.REOPEN: "reopened",
}


def _moved(event: TaskMoved) -> str:
    to = f" to {who(event.to)}" if event.move is Move.HAND_OVER else ""
    commit = f" as {event.result.commit[:12]}" if event.result and event.result.commit else ""
    return f"{shown(event.task_id)} {_PAST[event.move]}{to}{commit} (attempt {event.attempt}){quoted(event.note)}"


# The words for each kind of event; all others show their lease and its outcome.
_STORIES: Final[Mapping[type[Event], Callable[[Any], str]]] = {
    LeaseGranted: lambda event: _claim(event.lease),
    LeaseQueued: lambda event: _claim(event.waiter),
    LeaseDenied: _denied,
    ValuePut: lambda event: f"{shown(event.key)}{' carries nothing any more' if event.text is None else ''}",
    Committed: lambda event: f"{some(_changes(event))}{_merged(event)}{_undoes(event)}{quoted(event.intent)}",
    DebtWaived: lambda event: f"{shown(event.key)}{quoted(event.note)}",
    CommitRefused: lambda event: f"{event.code} {_keys(event.keys)}{quoted(event.intent)}",
    CommitUndone: _undone,
    LogCompacted: lambda event: f"events {event.first} to {event.last}{quoted(event.export)}",
    TaskAdded: lambda event: (
        f"{shown(event.task.id)}{' proposed' if event.is_proposed else ''}{quoted(event.task.title)}"
    ),
    TaskMoved: _moved,
    RunStarted: run_words.started,
    RunPlanned: run_words.planned,
    RunMoved: run_words.run_moved,
    ItemMoved: run_words.item_moved,
    EntryAdded: queue_words.added,
    EntryMoved: queue_words.moved,
    SessionQueued: session_words.queued,
    SessionMoved: session_words.moved,
}
_MORE: Final[Mapping[type[Event], Callable[[Any], str]]] = {
    LeaseBroken: lambda event: f" by {who(event.by)}{quoted(event.reason)}",
    ReleaseAsked: lambda event: f" by {who(event.wish.by)}{quoted(event.wish.why)}",
    LeaseHandedOver: lambda event: f" to {who(event.to)}",
    WaiterLeft: lambda event: f" {event.why.value.replace('_', ' ')}",
    WorkLeft: _left,
    WorkReviewed: lambda event: quoted(event.note),
}
