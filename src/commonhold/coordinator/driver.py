"""The coordinator of a run: takes items for N editors at a time, until the run is over, is stopped, or is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from commonhold.coordinator.carrying import Carrying, carried_out
from commonhold.coordinator.item_work import ItemWork, Surroundings
from commonhold.coordinator.roles import Roles
from commonhold.kernel.errors import StoreError
from commonhold.kernel.run import RunRecord
from commonhold.machine.logs import Log

if TYPE_CHECKING:
    from commonhold.client.session import Commonhold
    from commonhold.runs.answers import ItemView, RunAnswer
    from commonhold.runs.commands import Post

RUN_TTL_SECONDS: Final = 15.0
CLAIM_TTL_SECONDS: Final = 1800.0
"""Claims outlive the lease of the run by far: a run that is resumed after a crash finds them, and counts no attempt."""
LEASES_PER_RUN_TTL: Final = 4
"""Leases on code block others, so they outlive a coordinator only for as long as a prompt resume takes."""
MOST_FAULTS: Final = 20
"""How often in a row an editor tries again when the store cannot be used."""
_IDLE_SECONDS: Final = 1.0
_log: Final = Log(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How many editors work at a time, and for how long the lease of the run and the claims outlive their process."""

    editors: int = 1
    run_ttl: float = RUN_TTL_SECONDS
    claim_ttl: float = CLAIM_TTL_SECONDS

    @property
    def lease_ttl(self) -> float:
        """How long leases on code outlive the coordinator."""
        return LEASES_PER_RUN_TTL * self.run_ttl


class Coordinator:
    """Carries out runs of one repository. Set `stop` to end in order: claims given back, leases released."""

    def __init__(
        self, hold: Commonhold, session_of: Callable[[str], Commonhold], roles: Roles, pace: Pace | None = None
    ) -> None:
        """Coordinate as `hold`; `session_of` opens the session of a name, which is closed after its item."""
        self._hold = hold
        self._session_of = session_of
        self._roles = roles
        self._pace = pace or Pace()
        self.stop = threading.Event()

    def carry_out(self, run: RunRecord) -> RunAnswer:
        """Carry out a run that this session has just started or resumed; it ends as `carried_out` says.

        It is stopped if `stop` is set.
        """
        return carried_out(
            self._hold,
            run,
            self._pace.run_ttl,
            lambda run: _Editing(self._hold, self._session_of, self._roles, self._pace, run, self.stop),
        )


class _Editing(Carrying):
    """A run whose items several editors do in one checkout."""

    def __init__(
        self,
        hold: Commonhold,
        session_of: Callable[[str], Commonhold],
        roles: Roles,
        pace: Pace,
        run: RunRecord,
        stop: threading.Event,
    ) -> None:
        super().__init__(hold, roles.planner, pace.run_ttl, run, stop)
        self._session_of = session_of
        self._roles = roles
        self._pace = pace
        self._progress = threading.Condition()
        self._steps = 0

    def _work(self) -> None:
        names = [f"editor-{number}" for number in range(1, self._pace.editors + 1)]
        editors = [threading.Thread(target=self._editor, name=name, daemon=True) for name in names]
        for each in editors:
            each.start()
        while any(each.is_alive() for each in editors):
            if self._asked_to_stop.is_set():
                self._end_work()
            for each in editors:
                each.join(0.05)

    def _end_work(self) -> None:
        super()._end_work()
        with self._progress:
            self._progress.notify_all()

    def _editor(self) -> None:
        """Take items and work on them, one after the other; errors of the store are waited out for a while."""
        faults, left = 0, ""  # the item at which an error has interrupted the work
        while not self._ending.is_set():
            try:
                view = self._again(left) if left else self._take_one()
                if view is not None:
                    left = view.item.task_id
                    self._work_on(view)
                faults, left = 0, ""
            except StoreError as fault:
                faults += 1
                _log.warning("store not usable", run=self._run.id, code=fault.code)
                if faults >= MOST_FAULTS:
                    self._fail(fault)
                self._ending.wait(min(_IDLE_SECONDS * faults, 5.0))
            except BaseException as fault:  # noqa: BLE001 - raised again by the main thread
                self._fail(fault)

    def _again(self, task: str) -> ItemView | None:
        """Return an item as it is now, if it is still this coordinator's."""
        items = self._hold.runs(self._run.id).runs[0].items
        mine = (each for each in items if each.item.task_id == task and each.item.run_fence == self._run.fence)
        return next(mine, None)

    def _take_one(self) -> ItemView | None:
        seen = self._steps
        answer = self._take(self._pace.claim_ttl)
        if answer.item is None and not self._ending.is_set():
            # Wait until an item of this run has made a step, or others may have changed something.
            with self._progress:
                if self._steps == seen and not self._ending.is_set():
                    self._progress.wait(_IDLE_SECONDS)
        return answer.item

    def _work_on(self, view: ItemView) -> None:
        around = Surroundings(
            self._run.run, self._roles, self._keeper, self._ending, self._posted, self._pace.lease_ttl
        )
        with self._session_of(view.item.session) as session:
            self._keeper.keep(session, view.task.lease_id, self._pace.claim_ttl)
            try:
                ItemWork(around, session).carry_on(view)
            finally:
                self._keeper.forget(session)

    def _posted(self, post: Post) -> RunAnswer:
        answer = self._hold.post(self._run.id, post, fence=self._run.fence, request_id=self._ids.new("request"))
        self._note(answer)
        with self._progress:
            self._steps += 1
            self._progress.notify_all()
        return answer
