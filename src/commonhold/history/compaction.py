"""Compact a log: keep a snapshot of the state in place of its oldest events.

Decisions are made from the tables, not from the events, so they come out the same. Where an old event is needed, it
stays: for the undo of a commit whose contents are kept, for an open debt, whose cause is weighed again, and for a live
lease.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from commonhold.history.answers import CompactionAnswer
from commonhold.history.snapshot import Progress, beginning_of, digest_of
from commonhold.kernel.clock import Now
from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.kernel.events import LogCompacted, Recorded
from commonhold.kernel.hash_chain import ChainLink, broken_at, links_after
from commonhold.kernel.lease import Lease
from commonhold.kernel.obligations import Debt
from commonhold.kernel.options import Options
from commonhold.kernel.ports import Clock, TaskTables
from commonhold.kernel.values import MAX_NUMBER
from commonhold.leases.registry import task_storage
from commonhold.stores import codec
from commonhold.workspace.place import WorktreeState

STEP: Final = 50_000
"""About how many events one transaction deletes: others wait for it, some tenths of a second."""
_PAGE: Final = 5_000
_WORTH_IT: Final = 1_000
"""The fewest events that retention replaces: each compaction is an event itself, and writes a snapshot."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Which events may go: those recorded before a Unix time, up to a number.

    `why_not_later` and `why_not_more` say what needs the others; empty if the caller wants to keep them.
    """

    before: float
    why_not_later: str = ""
    last: int = MAX_NUMBER
    why_not_more: str = ""

    def without(self, sequence: int, why: str) -> "Limit":
        """Return the limit that leaves the event of that number too; 0 is none."""
        return replace(self, last=sequence - 1, why_not_more=why) if 0 < sequence <= self.last else self


def needed(limit: Limit, leases: Iterable[Lease], debts: Iterable[Debt], now: Now) -> Limit:
    """Return the limit that leaves the grants of live leases, and the causes of open debts."""
    for lease in leases:
        if lease.is_live(now):
            limit = limit.without(lease.fence, f"the live lease {lease.id} of {lease.holder}")
    for debt in debts:
        mend = f'`commonhold review waive {debt.key} --note "..."` closes it'
        limit = limit.without(min(debt.since, default=0), f"the open debt on {debt.key} ({mend})")
    return limit


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request to compact: by whom, before which Unix time (None: by the settings), up to which event (None: any).

    `export` names the file to which the events were written before. `is_shared`: the log of the store that machines
    share. `is_dry`: only return the summary, and change nothing.
    """

    by: str
    before: float | None = None
    last: int | None = None
    export: str = ""
    is_shared: bool = False
    is_dry: bool = False


def log_of(place: WorktreeState, *, is_shared: bool) -> tuple[TaskTables, Clock]:
    """Return the tables and the clock of the repository's own log, or of the one that machines share.

    Raises UsageError if no such log is kept in tables.
    """
    if not is_shared:
        return place.store, place.clock
    tables, clock = task_storage(place)
    if tables is place.store:
        raise UsageError(
            Code.USAGE,
            "no PostgreSQL store is shared here; Redis drops its oldest events by itself",
            hint="leave `shared` out: that means the repository's own log",
        )
    return tables, clock


def compact_log(place: WorktreeState, options: Options, wanted: Wanted) -> CompactionAnswer:
    """Compact one log of `place`, as far as nothing needs its events. Raises as `log_of` and `Compaction.run`."""
    tables, clock = log_of(place, is_shared=wanted.is_shared)
    compaction = Compaction(tables, wanted.by, clock.now, _limit(place, options, wanted), wanted.export)
    if wanted.is_dry:
        return compaction.preview()
    answer = compaction.run()
    if answer.events and not wanted.is_shared:
        return replace(answer, freed=place.store.shrink())
    return answer


def apply_retention(place: WorktreeState, options: Options, by: str) -> None:
    """Compact the logs of `place` as `event_days` says. The space is not given back, but used for the next events."""
    shared = task_storage(place)[0] is not place.store
    for is_shared in (False, True) if shared else (False,):
        tables, clock = log_of(place, is_shared=is_shared)
        limit = _limit(place, options, Wanted(by, is_shared=is_shared))
        Compaction(tables, by, clock.now, limit).run(least=_WORTH_IT)


def _limit(place: WorktreeState, options: Options, wanted: Wanted) -> Limit:
    tables, clock = log_of(place, is_shared=wanted.is_shared)
    now = clock.now()
    before = now.wall - options.event_seconds if wanted.before is None else wanted.before
    limit = Limit(before, last=MAX_NUMBER if wanted.last is None else wanted.last)
    with tables.read() as reader:
        leases = reader.leases()
    if wanted.is_shared:
        return needed(limit, leases, (), now)
    if (kept := now.wall - options.retention_seconds) < before:
        why = f"commits since {_day(kept)} can be undone: the setting `retention_days` keeps their contents"
        limit = replace(limit, before=kept, why_not_later=why)
    with place.store.read() as reader:
        return needed(limit, leases, reader.debts(), now)


def _day(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).date().isoformat()


@dataclass
class Compaction:
    """The compaction of one log in the name of `by`, by the clock `now` of its store.

    `export` names the file to which the caller has written the events before. Raises StoreError `STORE_CORRUPT` if the
    events that would go are not a whole chain that results in a state: then they stay.
    """

    tables: TaskTables
    by: str
    now: Callable[[], Now]
    limit: Limit
    export: str = ""
    step: int = STEP
    _why: str = ""

    def preview(self) -> CompactionAnswer:
        """Return what `run` would answer."""
        with self.tables.read() as reader:
            after = beginning_of(reader).after
        parts = [(part[0].sequence, part[-1].sequence, len(part)) for part in self._parts(after)]
        return self._answer(parts)

    def run(self, *, least: int = 1) -> CompactionAnswer:
        """Compact in steps, each one transaction: wherever a process is killed, the log is whole.

        Nothing is done for fewer than `least` events.
        """
        with self.tables.read() as reader:
            beginning = beginning_of(reader)
        if beginning.fault is not None:
            raise _corrupt(beginning.fault.sequence, beginning.fault.why)
        progress, expected, before = Progress(beginning.snapshot), beginning.compaction, beginning.hash
        done: list[tuple[int, int, int]] = []
        for part in self._parts(beginning.after, least):
            if broken := broken_at(part, before):
                raise _corrupt(broken, "its hash does not fit")
            _fold(progress, part)
            expected = self._replace(part, progress.snapshot(part[-1].at), expected)
            if expected is None:
                break  # another process has compacted meanwhile
            before = part[-1].hash
            done.append((part[0].sequence, part[-1].sequence, len(part)))
        return self._answer(done)

    def _replace(self, part: Sequence[ChainLink], snapshot: bytes, expected: Recorded | None) -> Recorded | None:
        """Replace events by a snapshot in one transaction; return the event that records it, None if others did."""
        digits = (part[-1].hash or b"").hex()
        event = LogCompacted(self.by, part[0].sequence, part[-1].sequence, digits, digest_of(snapshot), self.export)
        with self.tables.write() as writer:
            if writer.compaction() != expected:
                return None
            recorded = Recorded(writer.next_sequence, self.now().wall, event)
            writer.compact(event, snapshot, recorded.at)
        return recorded

    def _parts(self, after: int, least: int = 1) -> Iterator[Sequence[ChainLink]]:
        """Yield the events to replace, in parts for one transaction each; none at all for fewer than `least`."""
        part: list[ChainLink] = []
        found = 0
        for group in self._groups(after):
            part += group
            found += len(group)
            if len(part) >= max(self.step, least):
                yield part
                part = []
        if part and found >= least:
            yield part

    def _groups(self, after: int) -> Iterator[Sequence[ChainLink]]:
        """Yield the events to replace by decisions: those of one decision have one time. The newest are left."""
        group: list[ChainLink] = []
        for _, found in groupby(links_after(self._page, after), key=lambda each: each.at):
            if group:
                yield group
            group = list(found)
            if group[0].at >= self.limit.before:
                self._why = self.limit.why_not_later
                return
            if group[-1].sequence > self.limit.last:
                self._why = self.limit.why_not_more
                return

    def _page(self, after: int) -> Sequence[ChainLink]:
        with self.tables.read() as reader:
            return reader.links(after=after, limit=_PAGE)

    def _answer(self, parts: Sequence[tuple[int, int, int]]) -> CompactionAnswer:
        if not parts:
            return CompactionAnswer("nothing", why=self._why)
        return CompactionAnswer("compacted", parts[0][0], parts[-1][1], sum(count for *_, count in parts), self._why)


def _fold(progress: Progress, part: Iterable[ChainLink]) -> None:
    for link in part:
        try:
            progress.apply(Recorded(link.sequence, link.at, codec.decode_event(link.kind, link.body)))
        except (KeyError, ValueError) as fault:
            raise _corrupt(link.sequence, "it does not fit the state before it") from fault


def _corrupt(sequence: int, why: str) -> StoreError:
    return StoreError(
        Code.STORE_CORRUPT,
        f"the log is not compacted from event {sequence} on, since it was changed there: {why}",
        hint="`commonhold replay` shows the first difference; keep the log as it is until its cause is known",
        fields={"event": sequence},
    )
