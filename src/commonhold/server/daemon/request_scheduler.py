"""Schedule requests: run many lease operations in one transaction, so that they share one flush.

If a transaction fails it is rolled back as a whole, and each of its requests then runs by itself: no request fails for
another's fault, and none is answered before its effect is durable.
"""

import queue
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from commonhold.api.operations import Schedule
from commonhold.api.service import OPERATIONS, Service
from commonhold.api.wire import calls
from commonhold.kernel.answers import AcquireAnswer, LeaseAnswer
from commonhold.kernel.errors import Code, CommonholdError, InputError, InternalError, StoreError, UsageError
from commonhold.kernel.keys import FILE, parse
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.machine.correlation import accepted, correlated
from commonhold.machine.logs import Log
from commonhold.server.call_counts import CallCounts
from commonhold.server.daemon.peer import Peer
from commonhold.stores.sqlite.mirror import MirroredStore

THREADS: Final = 4
MOST_PLANNED: Final = 256
"""Limit of calls that wait for their turn at once; a waiting thread costs next to nothing."""
RETRY_PART: Final = 3.0
"""A job in line renews its place this many times within its patience."""


class Client(Protocol):
    """The sender of a request: a connected client, or a thread of the daemon."""

    @property
    def agent(self) -> str | None:
        """The agent in whose name it calls; None if it names none."""

    @property
    def is_open(self) -> bool:
        """Whether it still waits for answers."""

    def send(self, frame: bytes) -> None:
        """Take an answer; never blocks."""


@dataclass(slots=True, eq=False)
class Job:
    """One request of one peer, with its arguments, and the service that the peer had when the request came.

    `kept_back` is the deferred answer of a job that waits in line; at `asks_again_at` the job asks again, to keep its
    place. `is_beside` while a thread runs it; `is_let_go` if its holder has released the ticket meanwhile. `seconds` is
    how long it ran.
    """

    peer: Client
    service: Service | None
    number: int
    method: str
    arguments: Sequence[Any]
    named: dict[str, Any]
    correlation: str = ""
    keeps_until: float = 0.0
    asks_again_at: float = 0.0
    kept_back: object = None
    is_beside: bool = False
    is_let_go: bool = False
    seconds: float = 0.0

    @property
    def ticket(self) -> str:
        """The ticket of an acquire; empty for a job that cannot ask again."""
        return (self.method == "acquire" and self.named.get("ticket")) or ""

    @property
    def _is_elsewhere(self) -> bool:
        """Whether its leases are kept on a server, which the loop does not wait for."""
        return self.service is not None and self.service.is_shared

    @property
    def hold_seconds(self) -> float:
        """How long its answer may be deferred, in seconds."""
        seconds: float = self.named.get("hold_seconds") or 0.0
        return seconds if self.ticket and seconds > 0 and not self._is_elsewhere else 0.0

    @property
    def agent(self) -> str | None:
        """The agent in whose name the peer calls; None if it names none."""
        return self.peer.agent

    @property
    def is_quick(self) -> bool:
        """Whether it can run without reading a file."""
        if self._is_elsewhere:
            return False
        if self.method == "acquire":
            try:
                return not any(parse(key).scheme == FILE for key in self.arguments if isinstance(key, str))
            except CommonholdError:  # no key, which the service says in its answer
                return False
        return OPERATIONS[self.method].schedule is Schedule.QUICK

    def run(self) -> object:
        """Run the call and return its answer. Raises all errors of the service."""
        began_at = time.monotonic()
        with correlated(self.correlation):
            _log.debug("call begins", method=self.method, holder=self.agent)
            try:
                return getattr(self.service, self.method)(*self.arguments, **self.named)
            finally:
                self.seconds = time.monotonic() - began_at


_log: Final = Log(__name__)
_LET_GO: Final = AcquireAnswer("denied", notices=("the request was released before it was granted",))


class RequestScheduler:
    """Runs jobs, and sends each its answer."""

    def __init__(
        self,
        store: MirroredStore,
        monotonic: Callable[[], float],
        wake: Callable[[], None],
        counts: CallCounts | None = None,
    ) -> None:
        """Work on `store`; a thread calls `wake` when it has finished, so that the loop delivers the answer.

        Answers are counted in `counts`.
        """
        self._counts = counts or CallCounts()
        self._store = store
        self._monotonic = monotonic
        self._wake = wake
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="commonhold")
        self._planning = ThreadPoolExecutor(MOST_PLANNED, thread_name_prefix="commonhold-plans")
        self._finished: queue.SimpleQueue[tuple[Job, object, bytes]] = queue.SimpleQueue()
        self._patient: dict[str, Job] = {}
        self._beside: set[Job] = set()
        self._submitted: queue.SimpleQueue[Job] = queue.SimpleQueue()

    @property
    def is_idle(self) -> bool:
        """Whether no job waits for an answer."""
        return not (self._patient or self._beside)

    @property
    def services(self) -> set[Service]:
        """The services that a thread works with, or whose jobs wait in line."""
        return {job.service for job in (*self._beside, *self._patient.values()) if job.service is not None}

    def take(self, jobs: Iterable[Job]) -> None:
        """Start all of `jobs`; the quick ones are finished and answered when this returns."""
        arrived = list(jobs)
        while not self._submitted.empty():
            arrived.append(self._submitted.get())
        self._begin(arrived)
        # Those in line that must renew their place, or have waited for their full time.
        now = self._monotonic() if self._patient else 0.0
        self._begin([job for job in self._patient.values() if now >= job.asks_again_at and not job.is_beside])
        while woken := self._woken():
            self._begin(woken)

    def submit(self, job: Job) -> None:
        """Start a job in the next turn; callable in any thread."""
        self._submitted.put(job)
        self._wake()

    def look_again(self) -> None:
        """Look after the jobs in line in the next turn, since a call outside the desk may have ended their wait."""
        if self._patient:
            self._wake()

    def _begin(self, jobs: Iterable[Job]) -> None:
        quick = []
        for job in jobs:
            if job.method == "acquire" and not job.peer.is_open:  # no peer would learn of a grant
                self._leave_line(job)
            elif job.is_quick:
                quick.append(job)
            else:
                job.is_beside = True
                self._beside.add(job)
                is_planned = OPERATIONS[job.method].schedule is Schedule.PLANNED
                threads = self._planning if is_planned else self._threads
                threads.submit(self._run_beside, job)
        self._run_together(quick)

    def _run_beside(self, job: Job) -> None:
        outcome = _outcome_alone(job)
        self._finished.put((job, outcome, _encoded(job.number, outcome)))
        self._wake()

    def deliver(self) -> None:
        """Send the answers of jobs that threads have finished."""
        if self._finished.empty():
            return
        while not self._finished.empty():
            job, outcome, frame = self._finished.get()
            self._beside.remove(job)
            job.is_beside = False
            stood_in_line = job.kept_back is not None
            is_kept = not job.is_let_go and self._is_kept(job, outcome)
            if not is_kept:
                self._count(job, outcome)
                job.peer.send(_encoded(job.number, _LET_GO) if job.is_let_go else frame)
            if job.is_let_go or ((is_kept or stood_in_line) and not job.peer.is_open):
                self._leave_line(job)
        self.take(())

    def _run_together(self, jobs: list[Job]) -> None:
        for job, outcome in self._outcomes(jobs):
            if not self._is_kept(job, outcome):
                self._count(job, outcome)
                job.peer.send(_encoded(job.number, outcome))
                if not job.peer.is_open:  # it died before that was noticed: the next in line gets the grant
                    self._leave_line(job)
            if job.method == "release":
                self._let_go(job, outcome)

    def _count(self, job: Job, outcome: object) -> None:
        """Count the answer of a connected client; a thread of the daemon counts its own calls."""
        if isinstance(job.peer, Peer):
            self._counts.add(job.method, outcome, job.seconds)

    def _outcomes(self, jobs: list[Job]) -> list[tuple[Job, object]]:
        if len(jobs) > 1:
            try:
                with self._store.write():
                    return [(job, _outcome(job)) for job in jobs]
            except Exception as fault:  # noqa: BLE001 - running each job by itself shows which one is at fault
                _log.caught("transaction of several calls failed", fault, calls=len(jobs))
        return [(job, _outcome_alone(job)) for job in jobs]

    def _is_kept(self, job: Job, outcome: object) -> bool:
        """Whether the answer is deferred: the job waits in line, and its time is not over."""
        now = self._monotonic()
        job.keeps_until = job.keeps_until or now + job.hold_seconds
        before = self._patient.get(job.ticket)
        if not (isinstance(outcome, AcquireAnswer) and outcome.outcome == "queued"):
            if before is not None and not before.is_beside:
                self._end_waiting(before, job, outcome)
            return False
        if now >= job.keeps_until:
            if before is job:
                del self._patient[job.ticket]
            return False
        if before is not None:
            self._end_waiting(before, job, before.kept_back)
        if job.kept_back is None:
            self._counts.add_wait()
        job.kept_back = outcome
        job.asks_again_at = min(job.keeps_until, now + (job.named.get("patience_seconds") or 1.0) / RETRY_PART)
        self._patient[job.ticket] = job
        return True

    def _end_waiting(self, waiting: Job, job: Job, outcome: object) -> None:
        """Stop the wait of `waiting`; if another call with the same ticket replaces it, send it `outcome`."""
        del self._patient[waiting.ticket]
        if waiting is not job:
            waiting.peer.send(_encoded(waiting.number, outcome))

    def _let_go(self, released: Job, outcome: object) -> None:
        """End the wait for a released ticket; if a thread is acquiring it, mark the job, to be released afterwards."""
        ticket = released.named["lease_id"]
        for job in self._beside:
            job.is_let_go = job.is_let_go or (job.ticket == ticket != "" and job.agent == released.agent)
        waiting = self._patient.get(ticket)
        is_over = isinstance(outcome, LeaseAnswer) and outcome.outcome == "cancelled"
        if waiting is not None and is_over and not waiting.is_beside:
            self._end_waiting(waiting, released, waiting.kept_back)

    def _leave_line(self, job: Job) -> None:
        """Take a job that no longer waits out of the line, or release the lease that it was granted meanwhile."""
        if self._patient.get(job.ticket) is job:
            del self._patient[job.ticket]
        if not (job.kept_back or job.is_let_go):
            return
        with suppress(CommonholdError):  # a place in line expires by itself
            job.service.release(job.ticket)  # type: ignore[union-attr]

    def _woken(self) -> list[Job]:
        """Return the jobs that are no longer in line: their wait was granted, or ended."""
        waiting = [job for job in self._patient.values() if not job.is_beside]
        if not waiting:
            return []
        try:
            index = self._store.index
        except StoreError as fault:  # the state was removed: the daemon notices it and ends
            _log.warning("jobs in line cannot be looked at", fault=fault)
            return []
        return [job for job in waiting if index.waiter(job.ticket) is None]

    def next_look_at(self) -> float | None:
        """Return the time at which a job in line must be looked at next; None if none waits."""
        return min((job.asks_again_at for job in self._patient.values() if not job.is_beside), default=None)

    def forget(self, peer: Peer) -> None:
        """Take all jobs of a closed peer out of the line."""
        for job in [job for job in self._patient.values() if job.peer is peer and not job.is_beside]:
            self._leave_line(job)

    def close(self) -> None:
        """Wait for all threads, then send their answers."""
        for threads in (self._planning, self._threads):
            threads.shutdown(wait=True, cancel_futures=False)
        while not self._finished.empty():
            job, _, frame = self._finished.get()
            job.peer.send(frame)


def job_of(peer: Peer, request: calls.Request) -> Job:
    """Return the job for a request. Raises UsageError for an unknown method or unfit arguments."""
    try:
        arguments, named = calls.method(request.method).arguments(request.parameters)
    except (KeyError, *calls.UNREADABLE) as fault:
        raise UsageError(
            Code.USAGE,
            f"there is no call {request.method!r} with such arguments: {fault}",
            hint="use the client of the version that the daemon has",
        ) from fault
    correlation = accepted(request.correlation)
    return Job(peer, peer.service, request.number, request.method, arguments, named, correlation)


def _outcome(job: Job) -> object:
    """Return the answer, or an error that changed nothing. Any other exception spoils the transaction."""
    try:
        return job.run()
    except (UsageError, InputError) as fault:
        return exhausted(fault) or fault


def _outcome_alone(job: Job) -> object:
    """Return the answer, or the error of any kind."""
    try:
        return job.run()
    except Exception as fault:  # noqa: BLE001 - a defect of ours must not end the daemon
        with correlated(job.correlation):
            return told(fault, job.method)


def told(fault: Exception, method: str) -> CommonholdError:
    """Return the error to answer when `method` raised `fault`; a defect of ours also goes into the log."""
    if busy := exhausted(fault):
        return busy
    if isinstance(fault, CommonholdError):
        return fault
    _log.error("call failed", fault=fault, method=method)
    return _defect(f"{method} failed inside the daemon: {type(fault).__name__}: {fault}")


def _encoded(number: int, outcome: object) -> bytes:
    try:
        return _frame_of(number, outcome)
    except Exception as fault:  # noqa: BLE001 - one answer that cannot be sent must not end the daemon
        _log.error("answer cannot be sent", fault=fault, number=number)
        return _frame_of(number, _defect(f"the answer cannot be sent: {fault!a}"))


def _frame_of(number: int, outcome: object) -> bytes:
    if isinstance(outcome, CommonholdError):
        return calls.encode_fault(number, outcome)
    return calls.encode_answer(number, outcome)


def _defect(what: str) -> InternalError:
    hint = "please report it, with the log of the daemon in the state folder"
    return InternalError(Code.INTERNAL, what, hint=hint)
