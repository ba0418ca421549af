"""`commonhold stats`: what coordination has saved and cost."""

from collections.abc import Iterator
from typing import Final

import click

from commonhold.api.wire import stats_shapes
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.cli.describe import key_of, stamp
from commonhold.cli.instant_input import instant_of
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import answer
from commonhold.commits.statistics import Statistics, statistics_of
from commonhold.kernel.events import Recorded
from commonhold.kernel.task import Move
from commonhold.kernel.texts import duration as words_of

_PAGE: Final = 10_000
_MOST_KEYS: Final = 5


@click.command("stats", cls=Command, examples=("commonhold stats", "commonhold stats --since 7d --json"))
@click.option("--since", metavar="WHEN", help="Only from a duration ago on (12h, 7d), or from a time with its zone.")
@common
@click.pass_obj
def command(given: Given, *, since: str | None) -> None:
    """Show what coordination has saved and cost: collisions, merges, refusals and their repairs, waits by cause, tasks.

    Everything is counted from the log. With a store on a server, the events of leases stay there, and only commits and
    tasks are counted.
    """
    begin = 0.0 if since is None else instant_of(since)
    with opened(given) as place:
        found = statistics_of(_events(place), begin)
    answer(given, found, stats_shapes.statistics, _words)


def _events(place: Place) -> Iterator[Recorded]:
    after = 0
    while page := place.hold.log(after=after, limit=_PAGE):
        yield from page
        after = page[-1].sequence


def _words(found: Statistics) -> Iterator[str]:
    if not found.events:
        yield "nothing happened here in this time"
        return
    span = f"since {stamp(found.since)}" if found.since else "since the log began"
    yield f"{span}: {_many(found.events, 'event')}, {_many(len(found.sessions), 'session')}"
    caught = found.collisions + found.queued
    yield f"leases: {found.granted} granted; {_many(caught, 'collision')} caught before a write ({found.queued} waited)"
    if ended := found.expired + found.broken:
        yield f"  {ended} ended without their holders ({found.expired} expired, {found.broken} broken)"
    if found.left:
        yield f"  {_many(found.left, 'unfinished work')} kept for review"
    yield f"commits: {found.commits} admitted, {found.merged} of them merged ({_many(found.merged_regions, 'region')})"
    if found.unadmitted:
        yield f"  {found.unadmitted} were written by a tool before they could be refused"
    if found.refused:
        codes = ", ".join(f"{code} {count}" for code, count in found.refused.most_common())
        repair = f", in {words_of(found.repair_seconds / found.repaired)} on average" if found.repaired else ""
        yield f"  {sum(found.refused.values())} refused ({codes}); {found.repaired} repaired{repair}"
    if found.waits:
        yield "waits:"
    for cause, wait in sorted(found.waits.items(), key=lambda each: -each[1].seconds):
        yield f"  {cause}: {wait.count}, {words_of(wait.seconds)} in all"
    if found.contended:
        yield "most contended:"
    yield from (f"  {key_of(key)}: {count}" for key, count in found.contended.most_common(_MOST_KEYS))
    if found.tasks_added or found.moves:
        yield from _tasks(found)


def _tasks(found: Statistics) -> Iterator[str]:
    moves = {"claimed": Move.CLAIM, "landed": Move.LAND, "returned": Move.RETURN, "failed": Move.EXHAUST}
    parts = [f"{found.moves[move]} {word}" for word, move in moves.items() if found.moves[move]]
    yield f"tasks: {', '.join([f'{found.tasks_added} added', *parts])}"


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
