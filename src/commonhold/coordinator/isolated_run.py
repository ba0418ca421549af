"""The coordinator of an isolated run: a managed session does each item, and the merge queue lands its work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from commonhold.coordinator.carrying import Carrying, carried_out
from commonhold.coordinator.driver import MOST_FAULTS
from commonhold.coordinator.isolation import Isolation, Start, in_states
from commonhold.kernel.errors import StoreError
from commonhold.kernel.managed_session import MOST_LISTED_SESSIONS, SessionState
from commonhold.kernel.run import ENDED, ItemState, RunState
from commonhold.kernel.task import TaskState
from commonhold.machine.logs import Log
from commonhold.sessions.commands import SessionAction
from commonhold.sessions.service import MOST_PRIORITY

if TYPE_CHECKING:
    from commonhold.client.session import Commonhold
    from commonhold.coordinator.queue_driver import MergeQueue
    from commonhold.coordinator.roles import Planner
    from commonhold.kernel.run import Run, RunRecord
    from commonhold.kernel.task import Task
    from commonhold.runs.answers import ItemView, RunAnswer
    from commonhold.sessions.answers import ManagedSessionView
    from commonhold.sessions.options import SessionOptions

_LOOK_SECONDS: Final = 0.5
_MOST_LOOKS: Final = 10
_CLOCKS_DIFFER_SECONDS: Final = 3600.0
"""How far the clock of the store may be from that of this machine."""
_AT_STOP: Final = {
    SessionState.RUNNING: SessionAction.PAUSE,
    SessionState.PAUSED: SessionAction.PAUSE,
    SessionState.QUEUED: SessionAction.CANCEL,
}
_OPEN: Final = (SessionState.RUNNING, SessionState.QUEUED, SessionState.PAUSED)
_AT_CANCEL: Final = dict.fromkeys(_OPEN, SessionAction.CANCEL)
_log: Final = Log(__name__)


@dataclass(frozen=True, slots=True)
class Isolated:
    """The sessions of an isolated run: at most `most` at once, of `agent`, with `options`; `prompt` is their text."""

    agent: str
    most: int
    options: SessionOptions
    prompt: Callable[[Run, Task], str]


@dataclass(frozen=True)
class IsolatedCoordinator:
    """Carries out isolated runs of one repository, and runs its merge queue meanwhile.

    Set `stop` to end in order: running sessions are paused, and waiting ones cancelled.
    """

    hold: Commonhold
    queue: MergeQueue
    isolated: Isolated
    planner: Planner | None
    run_ttl: float
    stop: threading.Event = field(default_factory=threading.Event)

    def carry_out(self, run: RunRecord) -> RunAnswer:
        """Carry out a run that this session has just started or resumed; it ends as `carried_out` says."""
        return carried_out(self.hold, run, self.run_ttl, lambda run: _InSessions(self, run))


class _InSessions(Carrying):
    def __init__(self, coordinator: IsolatedCoordinator, run: RunRecord) -> None:
        super().__init__(coordinator.hold, coordinator.planner, coordinator.run_ttl, run, coordinator.stop)
        self._queue = coordinator.queue
        self._isolated = coordinator.isolated
        self._faults = 0
        self._has_gone_on = False

    def _work(self) -> None:
        self._queue.stop.clear()
        landing = threading.Thread(target=self._land, name="merge-queue", daemon=True)
        landing.start()
        try:
            while not (self._ending.is_set() or self._asked_to_stop.is_set()):
                self._step()
                self._ending.wait(_LOOK_SECONDS)
        except BaseException as fault:  # noqa: BLE001 - raised again once the run has ended
            self._fail(fault)
        finally:
            self._queue.stop.set()
            landing.join()
        if not self._is_over:
            try:
                self._halt()
            except StoreError as fault:  # the sessions go on: a resumed run finds them
                _log.warning("sessions not stopped", run=self._run.id, code=fault.code)

    def _land(self) -> None:
        try:
            self._queue.run()
        except BaseException as fault:  # noqa: BLE001 - raised again by the main thread
            self._fail(fault)

    def _step(self) -> None:
        """Begin what can begin, and note whether the run is over; errors of the store are waited out for a while."""
        try:
            if not self._has_gone_on:
                self._go_on()
                self._has_gone_on = True
            answer = self._take(self._run_ttl)
            if self._ending.is_set():
                return
            now = self._look(answer.tasks)
            for each in now.starts(self._isolated.most):
                self._begin(each)
            stuck = now.stuck()
            if now.items and len(stuck) == len(now.items):
                self._why_over = "; ".join(f"{task}: {why}" for task, why in stuck.items())
                self._is_over = True
                self._end_work()
            self._faults = 0
        except StoreError as fault:
            self._faults += 1
            _log.warning("store not usable", run=self._run.id, code=fault.code)
            if self._faults >= MOST_FAULTS:
                self._fail(fault)

    def _look(self, ready: tuple[str, ...] = ()) -> Isolation:
        items = self._hold.runs(self._run.id).runs[0].items
        left, ended = in_states(items, ItemState.OPEN), in_states(items, *ENDED)
        sessions = sessions_of(self._hold, self._run, left)
        if done := [each.item.task_id for each in left if each.task.state is TaskState.DONE]:
            self._hold.tasks(*done)  # it looks whether their commits are part of the branch
        return Isolation(left, sessions, ready, [each.item.task_id for each in ended])

    def _begin(self, start: Start) -> None:
        task = start.item.task.task
        if start.retry:
            self._hold.change_managed_session(start.retry, SessionAction.RETRY, note=f"by {self._run.id}")
            return
        options: SessionOptions = {
            **self._isolated.options,
            "task_id": task.id,
            "lands": True,
            "priority": max(-MOST_PRIORITY, min(task.priority, MOST_PRIORITY)),
        }
        text = self._isolated.prompt(self._run.run, task)
        self._hold.start_managed_session(text, agent=self._isolated.agent, **options)

    def _go_on(self) -> None:
        """Go on with the sessions that a stop of this run has paused, or kept from beginning; with no others."""
        for view in self._look().sessions.values():
            record = view.record
            if record.note != self._stopped:
                continue
            if record.state is SessionState.PAUSED and not record.is_due:
                self._hold.change_managed_session(record.id, SessionAction.RESUME, attempt=record.attempt)
            elif record.state is SessionState.CANCELLED:
                note = f"by {self._run.id}"
                self._hold.change_managed_session(record.id, SessionAction.RETRY, note=note, attempt=record.attempt)

    @property
    def _stopped(self) -> str:
        return f"{self._run.id} was stopped"

    def _halt(self) -> None:
        """Pause the sessions that run, and cancel those that wait; of a cancelled run all end, of a lost one none."""
        is_cancelled = self._hold.runs(self._run.id).runs[0].run.state is RunState.CANCELLED
        if self._is_lost and not is_cancelled:
            return
        actions = _AT_CANCEL if is_cancelled else _AT_STOP
        note = f"{self._run.id} was cancelled" if is_cancelled else self._stopped
        for _ in range(_MOST_LOOKS):
            records = [each.record for each in self._look().sessions.values()]
            moving = [each for each in records if each.state in actions and each.wish is None]
            if not is_cancelled:  # one that waits until a person resumes it stays so
                moving = [each for each in moving if each.state is not SessionState.PAUSED or each.is_due]
            if not moving:
                return
            for record in moving:  # one that has just begun to run is refused, and looked at again
                self._hold.change_managed_session(record.id, actions[record.state], note=note, attempt=record.attempt)


def sessions_of(hold: Commonhold, run: RunRecord, items: Sequence[ItemView]) -> dict[str, ManagedSessionView]:
    """Return the newest session of each item that has one, by task: those of the run, and older ones that are open."""
    tasks = {each.item.task_id for each in items}
    # Not all that ever ended: this is asked twice a second. One that ends between the two calls is in both.
    going_on = hold.managed_sessions(limit=MOST_LISTED_SESSIONS).sessions
    age = time.time() - run.started_at + _CLOCKS_DIFFER_SECONDS
    lately = hold.managed_sessions(all_states=True, within_seconds=age, limit=MOST_LISTED_SESSIONS).sessions
    return {
        each.record.session.task_id: each
        for each in sorted((*going_on, *lately), key=lambda each: each.record.number)
        if each.record.session.task_id in tasks and (each.record.number > run.number or not each.record.is_final)
    }
