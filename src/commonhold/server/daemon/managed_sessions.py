"""The engine of managed sessions: it claims the next one whenever there is room, and starts its supervisor.

A daemon has one, and so has a worker. It keeps nothing: the store says which sessions wait and run. A supervisor
outlives both.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Final

from commonhold.api.service import Service
from commonhold.config import Settings, load_settings
from commonhold.kernel.entry import Entry
from commonhold.kernel.errors import CommonholdError, InputError, UsageError
from commonhold.kernel.managed_session import ManagedSessionRecord
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import MAX_TEXT_LENGTH
from commonhold.machine.correlation import correlated
from commonhold.machine.logs import Log
from commonhold.session_host.session_files import SessionFiles
from commonhold.session_host.supervisor import TTL_SECONDS
from commonhold.session_host.worktrees import branch_of
from commonhold.sessions.commands import ChangeSession, SessionAction, SessionLimits
from commonhold.sessions.decide import ENGINE
from commonhold.sessions.landing import LandingMove
from commonhold.sessions.service import ManagedSessions
from commonhold.workspace.repository import Repository

LOOK_SECONDS: Final = 0.25
SHARED_LOOK_SECONDS: Final = 5.0
"""The same for leases on a server: other machines queue sessions for this one there without calling the daemon."""
FOLLOW_SECONDS: Final = 2.0
"""How long a session may go on waiting for work that has landed: branches are read so often while one waits."""
SWEEP_SECONDS: Final = 60.0
_ACTIONS: Final = {LandingMove.APPROVE: SessionAction.APPROVE, LandingMove.RETRY: SessionAction.RETRY}
_LOG_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
_log: Final = Log(__name__)


class SessionEngine:
    """Starts the supervisors of one repository."""

    def __init__(self, repository: Repository, service: Callable[[], Service], *, takes_any: bool = False) -> None:
        """Claim sessions by the `service` of the process itself; a worker also takes those that any may run."""
        self._repository = repository
        self._takes_any = takes_any
        self._service = service
        self._has_work = True
        self._looks_at = 0.0
        self._looked_at = 0.0
        self._follows_at = 0.0
        self._sweeps_at = 0.0
        self._seen_event = -1
        self._fault = ""

    @property
    def has_work(self) -> bool:
        """Whether a session is running, or waits for a place: then the daemon stays."""
        return self._has_work

    def wake(self) -> None:
        """Let the next look be soon: the queue has changed."""
        self._looks_at = min(self._looks_at, self._looked_at + LOOK_SECONDS)

    def look(self, now: float, newest_event: int) -> None:
        """Note lost supervisors, and start those for which there is room.

        Without sessions and new events this is one comparison. `now` is on the monotonic clock, `newest_event` the
        sequence of the last event in the store.
        """
        if now < self._looks_at or not (self._has_work or newest_event != self._seen_event):
            return
        self._seen_event, self._looked_at, self._looks_at = newest_event, now, now + LOOK_SECONDS
        with correlated():
            try:
                settings = load_settings(self._repository.root)
                if settings.store:
                    self._looks_at = now + SHARED_LOOK_SECONDS
                self._claim(settings, now)
                self._fault = ""
            except (CommonholdError, OSError) as fault:  # a full disk, say: the next look tries again
                # Where no session waits or runs, the fault concerns others alone, who are told.
                is_news = self._has_work and str(fault) != self._fault
                self._fault = str(fault)
                (_log.warning if is_news else _log.debug)("sessions wait", why=str(fault))

    def _claim(self, settings: Settings, now: float) -> None:
        queue = self._service().session_queue
        limits = SessionLimits(int(settings.max_sessions), int(settings.max_reviews), settings.quotas)
        seen = queue.look(limits, takes_any=self._takes_any)
        lost = queue.settle() if seen.has_lost else ()
        if lost:
            seen = queue.look(limits, takes_any=self._takes_any)
        if seen.awaited and now >= self._follows_at:
            self._follows_at = now + FOLLOW_SECONDS
            self._service().task_queue.follow(ENGINE, seen.awaited)
            seen = queue.look(limits, takes_any=self._takes_any)
        if seen.has_landing:
            self._land(queue)
            seen = queue.look(limits, takes_any=self._takes_any)
        while seen.can_begin:
            record = queue.claim(limits, TTL_SECONDS, takes_any=self._takes_any)
            if record is None:  # another machine was quicker
                break
            self._start(record, settings)
            seen = queue.look(limits, takes_any=self._takes_any)
        self._has_work = bool(settings.store) or seen.has_work
        if lost or now >= self._sweeps_at:
            self._sweeps_at = now + SWEEP_SECONDS
            if SessionFiles.of(self._repository, settings).with_workspaces():
                _log.info("sessions swept", lost=lost)
                _begin(self._repository, settings, "sweep")

    def _land(self, queue: ManagedSessions) -> None:
        """Carry the sessions that land without a review one step on: into the merge queue, and out of it.

        The review of one that the queue does not take ends with the reason: another call would give the same answer.
        """
        for record, step in queue.landing():
            action, note, commit = _ACTIONS.get(step.move), step.why, step.entry.built if step.entry else ""
            if step.move is LandingMove.ENQUEUE and (why := self._enqueued(record)):
                action, note = SessionAction.DISCARD, f"its work cannot land: {why}"
                _log.info("work not queued", session=record.id, why=why)
            if action is not None:
                change = ChangeSession(ENGINE, record.id, action, note[:MAX_TEXT_LENGTH], record.attempt, commit=commit)
                queue.change(change, None)

    def _enqueued(self, record: ManagedSessionRecord) -> str:
        """Add the work of a session to the merge queue. Return why that is not possible; empty if it is, or may be."""
        session = record.session
        wish = Entry(
            id="",
            branch=branch_of(record.id),
            commit="",
            onto=session.branch,
            task=session.task_id,
            session=record.id,
            checks=session.checks,
            priority=session.priority,
        )
        request = f"land-{record.id}-{record.attempt}"
        try:
            answer = self._service().merge_queue.add(session.worker, wish, request, again=False)
        except (InputError, UsageError) as fault:  # its branch, or the one that it lands on, is gone
            return fault.message
        tip = record.result.tip if record.result else ""
        if answer.code is Refusal.ENTRY_CHANGED:  # an older commit of the branch is landing just now
            return ""
        if answer.code is None and all(each.record.entry.commit != tip for each in answer.entries):
            return f"{wish.branch} does not end with the commit {tip[:12]} any more"
        return answer.why if answer.code is not None else ""

    def _start(self, record: ManagedSessionRecord, settings: Settings) -> None:
        _log.info("session begins", session=record.id, attempt=record.attempt, fence=record.fence)
        _begin(self._repository, settings, record.id, record.id)


def _begin(repository: Repository, settings: Settings, name: str, *words: str) -> None:
    """Start a process of the session host, detached; it logs to the folder of that name. Raises OSError."""
    place = SessionFiles.of(repository, settings).of_session(name) / "supervisor.log"
    log = os.open(place, _LOG_FLAGS, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            (sys.executable, "-I", "-m", "commonhold.session_host", repository.root, *words),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )
    finally:
        os.close(log)
    # If it ends before this process does, no zombie is left.
    threading.Thread(target=process.wait, name="commonhold-session", daemon=True).start()
