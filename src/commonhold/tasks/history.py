"""The traces that the attempts at a task left in the log: partial work, and commits through Commonhold."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from commonhold.kernel.events import Committed, Recorded, holder_of
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.pictures import Change
from commonhold.kernel.ports import Store
from commonhold.kernel.task import TaskRecord
from commonhold.kernel.texts import short_name
from commonhold.kernel.undone_commits import undone_by
from commonhold.leases.key_history import change_of

_MOST_COMMITS: Final = 500


def works_of(records: Iterable[TaskRecord], works: Iterable[PartialWork]) -> Iterator[PartialWork]:
    """Yield the partial work that sessions left under other leases, found since they claimed one of these tasks."""
    attempts = [attempt for record in records for attempt in record.attempts]
    for work in works:
        if any(each.holder == work.holder and each.began_at <= work.found_at for each in attempts):
            yield work


def commits_since(store: Store, wall: float) -> tuple[tuple[Recorded, Committed], ...]:
    """Return the commits recorded since a Unix time, newest first, at most the last 500."""
    with store.read() as reader:
        newest = reader.latest_commits(_MOST_COMMITS)
    return tuple(takewhile(lambda each: each[0].at >= wall, newest))


def changes_of(store: Store, records: Sequence[TaskRecord]) -> Iterator[Change]:
    """Yield the commits that sessions made during their attempts at these tasks, newest first."""
    attempts = [attempt for record in records for attempt in record.attempts]
    if not attempts:
        return
    for recorded, commit in commits_since(store, min(each.began_at for each in attempts)):
        if any(
            each.holder == commit.holder and each.began_at <= recorded.at <= (each.ended_at or recorded.at)
            for each in attempts
        ):
            yield change_of(recorded, commit)


def undone_among(store: Store, numbers: Collection[int]) -> Mapping[int, Recorded]:
    """Return those of the commits `numbers` that an undo among the last 500 commits has taken back, with the undo.

    An undo that was itself undone counts for nothing.
    """
    if not numbers:
        return {}
    with store.read() as reader:
        known = {recorded.sequence: (recorded, commit) for recorded, commit in reader.latest_commits(_MOST_COMMITS)}
        named = {number for _, commit in known.values() for number in commit.undoes} & set(numbers)
        for number in named - known.keys():
            for recorded in reader.events(after=number - 1, limit=1):
                if isinstance(recorded.event, Committed):
                    known[number] = recorded, recorded.event
    undone = undone_by(known[number] for number in sorted(known, reverse=True)) if named else {}
    return {number: known[undone[number]][0] for number in named if number in undone}


def words_of_undo(undos: Iterable[Recorded]) -> str:
    """Return that these undos, each named once, have taken the commits of a task back, as a clause."""
    once = {each.sequence: each for each in undos}.values()
    by = ", ".join(f"{short_name(holder_of(each.event))} (event {each.sequence})" for each in once)
    return f"its commits were undone by {by}"
