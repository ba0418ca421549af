"""The traces that the attempts at a task left in the log: partial work, and commits through Commonhold."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from commonhold.kernel.events import Committed, Recorded
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.pictures import Change
from commonhold.kernel.ports import Store
from commonhold.kernel.task import TaskRecord
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
