"""Follows the log, and delivers each decision to every target at least once, in order, beside the daemon's work."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.events import Recorded
from commonhold.machine.correlation import correlated
from commonhold.machine.file_stamps import Stamp
from commonhold.machine.logs import Log
from commonhold.server.notify.decisions import Decision, decision_of
from commonhold.server.notify.targets import Target, targets_file
from commonhold.workspace.private_file import PrivateFile

CURSORS: Final = "notified.json"
LOOK_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 3600.0
MOST_AGE_SECONDS: Final = 7 * 86_400.0
"""A decision that could not be delivered for so long is given up, so that newer ones get through."""
_BATCH: Final = 500
_KEPT_EVERY: Final = 10_000
"""After so many events without a decision the cursor is written: a later daemon need not read them again."""
_log: Final = Log(__name__)

ReadLog = Callable[[int, int], Sequence[Recorded]]
"""Returns events after a sequence, at most so many. Raises CommonholdError."""
Deliver = Callable[[Target, Decision | None, str, float], str]


def _deliver(target: Target, decision: Decision | None, repository: str, now: float) -> str:
    # Loaded here: few daemons have anything to deliver, and TLS takes time to load.
    from commonhold.server.notify.delivery import deliver  # noqa: PLC0415

    return deliver(target, decision, repository, now)


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last event that a target needs no notification of any more."""

    id: str
    sequence: int


class Notifier:
    """Gives each target a thread while it has something to deliver; a target that fails delays no other."""

    def __init__(
        self,
        state_folder: str,
        repository: str,
        read: ReadLog,
        newest: Callable[[], int],
        *,
        send: Deliver = _deliver,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        """Read the log with `read`; `newest` is the sequence of the newest durable event. `repository` is its name."""
        self._targets_file = targets_file(state_folder)
        self._cursors_file = PrivateFile(state_folder, CURSORS, Cursor)
        self._repository = repository
        self._read, self._newest = read, newest
        self._send, self._wall, self._monotonic, self._uniform = send, wall, monotonic, uniform
        self._stamp: Stamp | None = None
        self._targets: tuple[Target, ...] = ()
        self._cursors: dict[str, int] | None = None
        self._kept: dict[str, int] = {}
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self._failures: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        self._look_at = 0.0
        self._closed = threading.Event()

    def look(self, now: float) -> None:
        """Start what there is to deliver; the daemon's loop calls this often, at the monotonic time `now`."""
        if now < self._look_at or self._closed.is_set():
            return
        self._look_at = now + LOOK_SECONDS
        for target in self._known():
            thread = self._threads.get(target.id)
            is_due = self._cursor(target) < self._newest() and now >= self._not_before.get(target.id, 0.0)
            if is_due and (thread is None or not thread.is_alive()):
                thread = threading.Thread(target=self._run, args=(target,), name="commonhold-notify", daemon=True)
                self._threads[target.id] = thread
                thread.start()

    def close(self) -> None:
        """Begin nothing more. A delivery under way may be repeated by the next daemon."""
        self._closed.set()

    def _known(self) -> tuple[Target, ...]:
        stamp = self._targets_file.stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._targets = self._targets_file.read()
            except CommonholdError as fault:
                self._targets = ()
                _log.warning("no notifications are sent", code=fault.code, message=fault.message, hint=fault.hint)
        return self._targets

    def _cursor(self, target: Target) -> int:
        with self._lock:
            if self._cursors is None:
                try:
                    self._kept = {each.id: each.sequence for each in self._cursors_file.read()}
                    self._cursors = dict(self._kept)
                except CommonholdError as fault:  # the file is written anew: some notifications come twice
                    self._cursors = {}
                    _log.warning("notifications may be repeated", code=fault.code, message=fault.message)
            return max(self._cursors.get(target.id, 0), target.after)

    def _advance(self, target: Target, sequence: int, *, is_kept: bool) -> None:
        """Move the cursor of a target; `is_kept`: in the file as well, for later daemons."""
        with self._lock:
            known = {each.id for each in self._targets}
            self._cursors = {id_: each for id_, each in (self._cursors or {}).items() if id_ in known}
            self._cursors[target.id] = sequence
            if is_kept or sequence - self._kept.get(target.id, target.after) >= _KEPT_EVERY:
                self._cursors_file.write([Cursor(*each) for each in self._cursors.items()])
                self._kept = dict(self._cursors)

    def _run(self, target: Target) -> None:
        with correlated():
            try:
                self._deliver_all(target)
            except (CommonholdError, OSError) as fault:  # the log or the disk: the next look begins at the same event
                self._pause(target, str(fault))
            except Exception as fault:  # noqa: BLE001 - a defect of ours must not end the daemon
                self._pause(target, type(fault).__name__)
                _log.error("notifications failed", fault=fault)

    def _deliver_all(self, target: Target) -> None:
        """Deliver the decisions after the cursor, up to the newest durable event or the first failure."""
        newest, cursor = self._newest(), self._cursor(target)
        while cursor < newest and not self._closed.is_set():
            batch = [each for each in self._read(cursor, _BATCH) if each.sequence <= newest]
            for recorded in batch:
                if self._closed.is_set():
                    return
                decision = decision_of(recorded)
                if decision is not None and decision.kind in target.kinds:
                    if not self._is_delivered(target, decision):
                        self._advance(target, recorded.sequence - 1, is_kept=False)
                        return
                    self._advance(target, recorded.sequence, is_kept=True)
            cursor = batch[-1].sequence if batch else newest
            self._advance(target, cursor, is_kept=False)

    def _is_delivered(self, target: Target, decision: Decision) -> bool:
        """Whether a decision was delivered, or is too old to be tried any more."""
        if self._wall() - decision.at > MOST_AGE_SECONDS:
            _log.warning("notification given up", target=target.id, event=decision.sequence)
            return True
        why = self._send(target, decision, self._repository, self._wall())
        if why:
            self._pause(target, why)
            return False
        self._failures.pop(target.id, None)
        _log.debug("notification delivered", target=target.id, event=decision.sequence)
        return True

    def _pause(self, target: Target, why: str) -> None:
        """Wait before the next attempt, twice as long after each failure; at random, or targets would fall in step."""
        failures = self._failures[target.id] = self._failures.get(target.id, 0) + 1
        pause = min(LONGEST_PAUSE_SECONDS, 2.0 ** min(failures, 20)) * self._uniform(0.5, 1.0)
        self._not_before[target.id] = self._monotonic() + pause
        _log.warning(
            "notification failed", target=target.id, place=target.place, why=why, again_in_seconds=round(pause, 1)
        )
