"""The process that runs a merge queue: it holds the lease on the queue, and lands its entries until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from commonhold.coordinator.keeper import Keeper
from commonhold.coordinator.merge_queue import QueueRunner, Turn
from commonhold.coordinator.queue_ports import QueueLostError, QueuePort
from commonhold.kernel.errors import CommonholdError, InputError, StoreError
from commonhold.kernel.refs import short_ref
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
"""How often in a row the store, git or the machine may be unusable before the runner leaves the queue to others."""
_IDLE_SECONDS: Final = 1.0
_HELD_SECONDS: Final = 3.0
_AWAY_SECONDS: Final = 30.0
_FAULTS: Final = (StoreError, InputError, OSError)
"""Errors that may end by themselves, or when a person mends something: a branch that was deleted, a full disk."""
_log: Final = Log(__name__)


class MergeQueue:
    """Runs the queue of the ref `onto`. Set `stop` to end in order; the next runner finishes a batch that was begun."""

    def __init__(
        self,
        hold: Commonhold,
        onto: str,
        runner: Callable[[QueuePort], QueueRunner],
        *,
        ttl_seconds: float = QUEUE_TTL_SECONDS,
        show: Callable[[tuple[EntryRecord, ...]], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
        is_quiet: bool = False,
    ) -> None:
        """Act as `hold`, whose name no other process may have; `runner` makes the runner of the entries.

        `show` is called with the entries after each of their steps, `say` with the reason for each wait: if
        it `is_quiet`, not where it merely waits for entries.
        """
        self._hold = hold
        self._onto = onto
        self._runner = runner
        self._ttl = ttl_seconds
        self._show = show
        self._say = say
        self._is_quiet = is_quiet
        self._said = ""
        self.stop = threading.Event()

    def run(self, *, until_empty: bool = False) -> str:
        """Land entries until `stop` is set; with `until_empty`, until none is left that can go on.

        Returns what keeps the entries that are left; empty if none is. While another process runs the queue, this one
        stands by. If the store, git or this machine cannot be used, the queue waits; with `until_empty`, StoreError,
        InputError or OSError is raised after some time.
        """
        while not self.stop.is_set():
            try:
                return self._served(until_empty=until_empty)
            except _FAULTS as fault:
                if until_empty:
                    raise
                self._tell(f"waiting: {_words(fault)}")
                self.stop.wait(_AWAY_SECONDS)
        return ""

    def _served(self, *, until_empty: bool) -> str:
        """Hold the lease on the queue, or wait for it, and work; see `run`."""
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
        runner = self._runner(_Port(self._hold, self._onto, fence, self._show))
        faults, has_worked = 0, False
        while not self.stop.is_set():
            try:
                turn = runner.turn(self.stop)
                faults = 0
            except _FAULTS as fault:
                faults += 1
                # Another process, on another machine, may be able to go on.
                if faults >= MOST_FAULTS or (until_empty and isinstance(fault, InputError)):
                    raise
                _log.warning("merge queue waits", onto=self._onto, why=str(fault))
                self._tell(f"waiting: {_words(fault)}")
                self.stop.wait(min(_IDLE_SECONDS * faults, 5.0))
                continue
            if turn is Turn.HELD:
                self._tell(f"held up: {runner.held}")
            if turn is Turn.WORKED:
                self._said, has_worked = "", True
            else:
                if turn is Turn.IDLE and not self._is_quiet and not (until_empty and has_worked):
                    word = "nothing is queued for" if until_empty else "waiting for entries of"
                    self._tell(f"{word} {short_ref(self._onto)}")
                if until_empty:
                    return runner.held if turn is Turn.HELD else ""
                self.stop.wait(_IDLE_SECONDS if turn is Turn.IDLE else _HELD_SECONDS)
        return ""

    def _tell(self, text: str) -> None:
        if text != self._said:
            self._say(text)
            self._said = text


def _words(fault: Exception) -> str:
    return f"{fault.message}; {fault.hint}" if isinstance(fault, CommonholdError) else str(fault)


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
