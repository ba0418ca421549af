"""Doing what is asked: lease operations many at a time in one transaction, so that all share one flush.

A transaction that fails is taken back as a whole, and each of its requests is then done by itself: nobody fails for
another's fault, and nobody is answered before what was done is durable.
"""

import queue
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from commonhold.adapters.sqlite.mirror import MirroredStore
from commonhold.app.answers import AcquireAnswer, LeaseAnswer
from commonhold.app.service import Service
from commonhold.domain.errors import Code, CommonholdError, InputError, InternalError, UsageError
from commonhold.domain.exhaustion import exhausted
from commonhold.domain.keys import FILE, parse
from commonhold.server.daemon.peer import Peer
from commonhold.wire import calls

QUICK: Final = frozenset(
    {
        *("show", "acquire", "renew", "release", "ask", "hand_over", "break_lease"),
        *("get", "put", "leases", "status", "who", "news", "intent", "place"),
    }
)
"""Methods that only look at the state: they share a transaction. All others have a thread each."""
PLANNED: Final = frozenset({"commit", "propose", "settle", "take", "notice", "arrive", "rest", "depart", "sweep"})
"""Methods that plan what they write, and wait for their turn: they have threads that nobody else needs."""
THREADS: Final = 4
MOST_PLANNED: Final = 256
"""So many may wait for their turn at once; a thread that waits costs next to nothing."""
RETRY_PART: Final = 3.0
"""Who stands in line is seen to be there this often within its patience."""


@dataclass(slots=True, eq=False)
class Job:
    """One request of one peer, with its arguments, and the service that the peer had when it came.

    The answer of one that stands in line is `kept_back`; before `asks_again_at` it shows that it is still there. It
    `is_beside` while a thread does it, and `is_let_go` where its holder has let go of the ticket meanwhile.
    """

    peer: Peer
    service: Service | None
    number: int
    method: str
    arguments: Sequence[Any]
    named: dict[str, Any]
    keeps_until: float = 0.0
    asks_again_at: float = 0.0
    kept_back: object = None
    is_beside: bool = False
    is_let_go: bool = False

    @property
    def ticket(self) -> str:
        """What an acquire goes by; empty for one that cannot be asked for again."""
        return (self.method == "acquire" and self.named.get("ticket")) or ""

    @property
    def _is_elsewhere(self) -> bool:
        """Whether the leases that it is about are kept on a server, which is not waited for here."""
        return self.service is not None and self.service.is_shared

    @property
    def hold_seconds(self) -> float:
        """How long its answer may be kept back."""
        seconds: float = self.named.get("hold_seconds") or 0.0
        return seconds if self.ticket and seconds > 0 and not self._is_elsewhere else 0.0

    @property
    def agent(self) -> str | None:
        """For whom it is; None where nobody is named."""
        return self.peer.agent

    @property
    def is_quick(self) -> bool:
        """Whether it can be done without looking into a file."""
        if self._is_elsewhere:
            return False
        if self.method == "acquire":
            return not any(parse(key).scheme == FILE for key in self.arguments if isinstance(key, str))
        return self.method in QUICK

    def run(self) -> object:
        """Do it. Raises what the service raises."""
        return getattr(self.service, self.method)(*self.arguments, **self.named)


_LET_GO: Final = AcquireAnswer("denied", notices=("it was let go of while it was still being asked for",))


class Desk:
    """Takes jobs, and sends each its answer."""

    def __init__(self, store: MirroredStore, monotonic: Callable[[], float], wake: Callable[[], None]) -> None:
        """Work on `store`; `wake` tells the loop that a thread has finished something."""
        self._store = store
        self._monotonic = monotonic
        self._wake = wake
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="commonhold")
        self._planning = ThreadPoolExecutor(MOST_PLANNED, thread_name_prefix="commonhold-plans")
        self._finished: queue.SimpleQueue[tuple[Job, object, bytes]] = queue.SimpleQueue()
        self._patient: dict[str, Job] = {}
        self._beside: set[Job] = set()

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for an answer."""
        return not (self._patient or self._beside)

    @property
    def services(self) -> set[Service]:
        """Those that a thread works with, or that somebody waits with."""
        return {job.service for job in (*self._beside, *self._patient.values()) if job.service is not None}

    def take(self, jobs: Iterable[Job]) -> None:
        """Begin all of `jobs`; the quick ones are finished and answered when this returns."""
        self._begin(jobs)
        self._begin(self._due())
        while woken := self._woken():
            self._begin(woken)

    def _begin(self, jobs: Iterable[Job]) -> None:
        quick = []
        for job in jobs:
            if job.method == "acquire" and not job.peer.is_open:  # nobody would learn of a grant
                self._leave_line(job)
            elif _is_quick(job):
                quick.append(job)
            else:
                job.is_beside = True
                self._beside.add(job)
                threads = self._planning if job.method in PLANNED else self._threads
                threads.submit(self._run_beside, job)
        self._run_together(quick)

    def _run_beside(self, job: Job) -> None:
        outcome = _outcome_alone(job)
        self._finished.put((job, outcome, _encoded(job.number, outcome)))
        self._wake()

    def deliver(self) -> None:
        """Send what threads have finished."""
        if self._finished.empty():
            return
        while not self._finished.empty():
            self._finish(*self._finished.get())
        self.take(())

    def _finish(self, job: Job, outcome: object, frame: bytes) -> None:
        self._beside.remove(job)
        job.is_beside = False
        stood_in_line = job.kept_back is not None
        is_kept = not job.is_let_go and self._is_kept(job, outcome)
        if not is_kept:
            job.peer.send(_encoded(job.number, _LET_GO) if job.is_let_go else frame)
        if job.is_let_go or ((is_kept or stood_in_line) and not job.peer.is_open):
            self._leave_line(job)

    def _run_together(self, jobs: list[Job]) -> None:
        for job, outcome in self._outcomes(jobs):
            if not self._is_kept(job, outcome):
                job.peer.send(_encoded(job.number, outcome))
                if not job.peer.is_open:  # it died before we heard of it: what it waited for goes to the next
                    self._leave_line(job)
            if job.method == "release":
                self._let_go(job, outcome)

    def _outcomes(self, jobs: list[Job]) -> list[tuple[Job, object]]:
        if len(jobs) > 1:
            try:
                with self._store.write():
                    return [(job, _outcome(job)) for job in jobs]
            except Exception:  # noqa: BLE001, S110 - whose fault it was shows when each is done by itself
                pass
        return [(job, _outcome_alone(job)) for job in jobs]

    def _is_kept(self, job: Job, outcome: object) -> bool:
        """Whether the answer is kept back: the job stands in line, and its time is not over."""
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
        job.kept_back = outcome
        job.asks_again_at = min(job.keeps_until, now + (job.named.get("patience_seconds") or 1.0) / RETRY_PART)
        self._patient[job.ticket] = job
        return True

    def _end_waiting(self, waiting: Job, job: Job, outcome: object) -> None:
        """Let `waiting` wait no more; where it is not `job` itself, another peer asked for the same, and is told."""
        del self._patient[waiting.ticket]
        if waiting is not job:
            waiting.peer.send(_encoded(waiting.number, outcome))

    def _let_go(self, released: Job, outcome: object) -> None:
        """Nobody waits any more with a ticket that was let go of; what a thread is about to grant is let go of then."""
        ticket = released.named["lease_id"]
        for job in self._beside:
            job.is_let_go = job.is_let_go or (job.ticket == ticket != "" and job.agent == released.agent)
        waiting = self._patient.get(ticket)
        is_over = isinstance(outcome, LeaseAnswer) and outcome.outcome == "cancelled"
        if waiting is not None and is_over and not waiting.is_beside:
            self._end_waiting(waiting, released, waiting.kept_back)

    def _leave_line(self, job: Job) -> None:
        """Take somebody out of the line who waits no more, or give back what was granted meanwhile."""
        if self._patient.get(job.ticket) is job:
            del self._patient[job.ticket]
        if not (job.kept_back or job.is_let_go):
            return
        with suppress(CommonholdError):  # a place in line ends by itself
            job.service.release(job.ticket)  # type: ignore[union-attr]

    def _due(self) -> list[Job]:
        """The jobs that have to show that they still stand in line, or have stood there long enough."""
        now = self._monotonic() if self._patient else 0.0
        return [job for job in self._patient.values() if now >= job.asks_again_at and not job.is_beside]

    def _woken(self) -> list[Job]:
        """The jobs that stand in line no more: they were granted what they wait for, or sent away."""
        index = self._store.index
        waiting = [job for job in self._patient.values() if not job.is_beside]
        return [job for job in waiting if index.waiter(job.ticket) is None]

    def next_look_at(self) -> float | None:
        """When somebody who stands in line must be looked at again."""
        return min((job.asks_again_at for job in self._patient.values() if not job.is_beside), default=None)

    def forget(self, peer: Peer) -> None:
        """Take whoever waited through a peer that is gone out of the line."""
        for job in [job for job in self._patient.values() if job.peer is peer and not job.is_beside]:
            self._leave_line(job)

    def close(self) -> None:
        """Finish what was begun."""
        for threads in (self._planning, self._threads):
            threads.shutdown(wait=True, cancel_futures=False)
        while not self._finished.empty():
            job, _, frame = self._finished.get()
            job.peer.send(frame)


def _is_quick(job: Job) -> bool:
    try:
        return job.is_quick
    except CommonholdError:
        return False


def job_of(peer: Peer, request: calls.Request) -> Job:
    """The job in a request. Raises UsageError for a method or arguments that do not exist."""
    try:
        arguments, named = calls.method(request.method).arguments(request.parameters)
    except (KeyError, *calls.UNREADABLE) as fault:
        raise UsageError(
            Code.USAGE,
            f"there is no call {request.method!r} with such arguments: {fault}",
            hint="use the client of the version that the daemon has",
        ) from fault
    return Job(peer, peer.service, request.number, request.method, arguments, named)


def _outcome(job: Job) -> object:
    """The answer, or an error that changed nothing. Anything else that is raised spoils the transaction."""
    try:
        return job.run()
    except (UsageError, InputError) as fault:
        return exhausted(fault) or fault


def _outcome_alone(job: Job) -> object:
    """The answer, or the error, whatever it was."""
    try:
        return job.run()
    except Exception as fault:  # noqa: BLE001 - a defect of ours must not end the daemon
        return told(fault, job.method)


def told(fault: Exception, method: str) -> CommonholdError:
    """The error to answer where the method of that name raised `fault`: a defect of ours also goes into the log."""
    if busy := exhausted(fault):
        return busy
    if isinstance(fault, CommonholdError):
        return fault
    traceback.print_exception(fault)
    return _defect(f"{method} failed inside the daemon: {type(fault).__name__}: {fault}")


def _encoded(number: int, outcome: object) -> bytes:
    try:
        return _frame_of(number, outcome)
    except Exception as fault:  # noqa: BLE001 - one answer that cannot be sent must not end the daemon
        traceback.print_exc()
        return _frame_of(number, _defect(f"the answer cannot be sent: {fault!a}"))


def _frame_of(number: int, outcome: object) -> bytes:
    if isinstance(outcome, CommonholdError):
        return calls.encode_fault(number, outcome)
    return calls.encode_answer(number, outcome)


def _defect(what: str) -> InternalError:
    hint = "please report it, with the log of the daemon in the state folder"
    return InternalError(Code.INTERNAL, what, hint=hint)
