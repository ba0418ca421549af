"""The process that runs a merge queue: it holds the lease on the queue, and lands its entries until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from commonhold.coordinator.keeper import Keeper
from commonhold.coordinator.merge_queue import (
    MOST_IN_BATCH,
    BranchPort,
    ChecksPort,
    QueueLostError,
    QueueRunner,
    Turn,
)
from commonhold.kernel.errors import StoreError
from commonhold.kernel.refusals import Refusal
from commonhold.landing.decide import queue_key
from commonhold.machine.logs import Log
from commonhold.machine.system import RandomIds

if TYPE_CHECKING:
    from commonhold.client.session import Commonhold
    from commonhold.kernel.entry import EntryRecord
    from commonhold.landing.commands import EntryStep

QUEUE_TTL_SECONDS: Final = 15.0
MOST_FAULTS: Final = 20
"""How often in a row the store may be unusable before the runner gives up."""
_IDLE_SECONDS: Final = 1.0
_log: Final = Log(__name__)


class MergeQueue:
    """Runs the queue of the ref `onto`. Set `stop` to end in order; the next runner finishes a batch that was begun."""

    def __init__(
        self,
        hold: Commonhold,
        onto: str,
        branch: BranchPort,
        checks: ChecksPort,
        *,
        most: int = MOST_IN_BATCH,
        ttl_seconds: float = QUEUE_TTL_SECONDS,
        show: Callable[[tuple[EntryRecord, ...]], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Act as `hold`, whose name no other runner may have.

        `show` is called with the entries after each of their steps, `say` with what keeps the queue from going on.
        """
        self._hold = hold
        self._onto = onto
        self._branch = branch
        self._checks = checks
        self._most = most
        self._ttl = ttl_seconds
        self._show = show
        self._say = say
        self._said = ""
        self.stop = threading.Event()

    def run(self, *, until_empty: bool = False) -> str:
        """Land entries until `stop` is set; with `until_empty`, until none is left that can go on.

        Returns what keeps the entries that are left; empty if none is. While another process runs the queue, this one
        stands by. Raises StoreError if the store cannot be used for some time.
        """
        while not self.stop.is_set():
            answer = self._hold.acquire(queue_key(self._onto), task="runs the merge queue", ttl_seconds=self._ttl)
            if answer.lease is None:
                other = answer.conflicts[0].holder if answer.conflicts else "another process"
                self._tell(f"standing by: {other} runs the queue of {self._onto}")
                self.stop.wait(_IDLE_SECONDS)
                continue
            with Keeper() as keeper:
                keeper.keep(self._hold, answer.lease.id, self._ttl)
                try:
                    return self._work(answer.lease.fence, until_empty=until_empty)
                except QueueLostError as lost:
                    _log.info("queue lost", onto=self._onto, why=lost.why)
                finally:
                    keeper.drop(answer.lease.id)
                    self._hold.release(answer.lease.id)
        return ""

    def _work(self, fence: int, *, until_empty: bool) -> str:
        port = _Port(self._hold, self._onto, fence, self._show)
        runner = QueueRunner(port, self._branch, self._checks, self._most)
        faults = 0
        while not self.stop.is_set():
            try:
                turn = runner.turn(self.stop)
                faults = 0
            except StoreError as fault:
                faults += 1
                if faults >= MOST_FAULTS:
                    raise
                _log.warning("store or git not usable", onto=self._onto, code=fault.code)
                self._tell(f"waiting: {fault}")
                self.stop.wait(min(_IDLE_SECONDS * faults, 5.0))
                continue
            if turn is Turn.HELD:
                self._tell(f"held up: {runner.held}")
            if turn is not Turn.WORKED:
                if until_empty:
                    return runner.held if turn is Turn.HELD else ""
                self.stop.wait(_IDLE_SECONDS)
        return ""

    def _tell(self, text: str) -> None:
        if text != self._said:
            self._say(text)
            self._said = text


class _Port:
    """The entries of one branch through a session; see `QueuePort`."""

    def __init__(
        self, hold: Commonhold, onto: str, fence: int, show: Callable[[tuple[EntryRecord, ...]], None]
    ) -> None:
        self._hold = hold
        self._onto = onto
        self._fence = fence
        self._show = show
        self._ids = RandomIds()

    def entries(self) -> tuple[EntryRecord, ...]:
        """Return the entries that have not ended."""
        return tuple(each.record for each in self._hold.entries(onto=self._onto).entries)

    def post(self, *steps: EntryStep) -> tuple[EntryRecord, ...]:
        """Post steps; none is returned if an entry has moved on."""
        answer = self._hold.post_entries(self._onto, *steps, fence=self._fence, request_id=self._ids.new("request"))
        if answer.code is Refusal.QUEUE_TAKEN:
            raise QueueLostError(answer.why)
        if answer.outcome == "refused":
            return ()
        records = tuple(each.record for each in answer.entries)
        self._show(records)
        return records
