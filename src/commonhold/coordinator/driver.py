"""The coordinator of a run: takes items for N editors at a time, until the run is over, is stopped, or is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from commonhold.coordinator.item_work import ItemWork, Surroundings
from commonhold.coordinator.keeper import Keeper
from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import RoleFailed, Roles
from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import ItemState, RunMove, RunRecord
from commonhold.machine.logs import Log
from commonhold.machine.system import RandomIds

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
_LOST: Final = frozenset({Refusal.RUN_TAKEN, Refusal.RUN_ENDED})
_NO_PLANNER: Final = RoleFailed("no planner was given")
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
        self._ids = RandomIds()
        self.stop = threading.Event()

    def carry_out(self, run: RunRecord) -> RunAnswer:
        """Carry out a run that this session has just started or resumed, and return how it has ended.

        It is stopped if `stop` is set, and after an error, which is raised again: resuming goes on from there. If
        another process takes the run over, the answer is the refusal that says so. Raises InputError `ROLE_FAILED`,
        and StoreError if the store cannot be used for some time.
        """
        while True:
            carrying = _Carrying(self._hold, self._session_of, self._roles, self._pace, run, self.stop)
            answer = carrying.until_end()
            if answer is not None:
                return answer
            # This process slept longer than its lease lives: it goes on, unless another has taken over.
            answer = self._hold.resume_run(run.id, ttl_seconds=self._pace.run_ttl, request_id=self._ids.new("request"))
            if answer.outcome == "refused":
                return answer
            run = answer.runs[0].run


class _Carrying:
    """A run under one lease of its coordinator."""

    def __init__(
        self,
        hold: Commonhold,
        session_of: Callable[[str], Commonhold],
        roles: Roles,
        pace: Pace,
        run: RunRecord,
        stop: threading.Event,
    ) -> None:
        self._hold = hold
        self._session_of = session_of
        self._roles = roles
        self._pace = pace
        self._run = run
        self._asked_to_stop = stop
        self._ids = RandomIds()
        self._ending = threading.Event()  # for the roles: stopped, over or lost
        self._is_lost = False
        self._is_over = False
        self._fault: BaseException | None = None
        self._keeper = Keeper()
        self._progress = threading.Condition()
        self._steps = 0

    def until_end(self) -> RunAnswer | None:
        """Work until the end of the run, or of the coordination. None if the lease of the run was lost."""
        with self._keeper:
            self._keeper.keep(self._hold, self._run.lease_id, self._pace.run_ttl)
            try:
                if not self._hold.runs(self._run.id).runs[0].items:
                    self._plan()
                if not (self._is_lost or self._asked_to_stop.is_set()):
                    self._edit()
            except CommonholdError as fault:
                self._fail(fault)
            if self._is_lost:
                return None
            answer = self._end()
        if self._fault is not None:
            raise self._fault
        return None if answer.code is Refusal.RUN_TAKEN else answer

    def _plan(self) -> None:
        """Ask the planner for the items of a run that has none."""
        planner = self._roles.planner
        found = planner.plan(self._run.run.goal, self._hold.root, self._asked_to_stop) if planner else _NO_PLANNER
        if self._asked_to_stop.is_set():
            return
        hint = f"commonhold run --resume {self._run.id} --planner COMMAND --editor COMMAND"
        if isinstance(found, RoleFailed):
            raise InputError(Code.ROLE_FAILED, f"the planner made no plan: {found.why}", hint=hint)
        answer = self._hold.plan_run(
            self._run.id,
            *found.tasks,
            fence=self._run.fence,
            usage=found.usage,
            request_id=self._ids.new("request"),
        )
        self._note(answer)
        if answer.outcome == "refused" and not self._is_lost:
            raise InputError(Code.PLAN_INVALID, f"the plan was refused: {answer.why}", hint=hint)

    def _edit(self) -> None:
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
        self._ending.set()
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

    def _fail(self, fault: BaseException) -> None:
        self._fault = self._fault or fault
        self._end_work()

    def _again(self, task: str) -> ItemView | None:
        """Return an item as it is now, if it is still this coordinator's."""
        items = self._hold.runs(self._run.id).runs[0].items
        mine = (each for each in items if each.item.task_id == task and each.item.run_fence == self._run.fence)
        return next(mine, None)

    def _take_one(self) -> ItemView | None:
        seen = self._steps
        answer = self._hold.take_item(
            self._run.id,
            fence=self._run.fence,
            ttl_seconds=self._pace.claim_ttl,
            request_id=self._ids.new("request"),
        )
        self._note(answer)
        if answer.item is None and answer.outcome == "none" and answer.is_over:
            self._is_over = True
            self._end_work()
        elif answer.item is None:
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

    def _note(self, answer: RunAnswer) -> None:
        if answer.code in _LOST:
            self._is_lost = True
            self._end_work()

    def _end(self) -> RunAnswer:
        """Record how the run has ended: completed, failed, or stopped."""
        move, note = RunMove.STOP, "stopped by its coordinator"
        if self._fault is not None:
            note = one_line(str(self._fault))
        elif self._is_over:
            items = self._hold.runs(self._run.id).runs[0].items
            is_whole = all(each.item.state is ItemState.ACCEPTED for each in items)
            move, note = (RunMove.COMPLETE, "") if is_whole else (RunMove.FAIL, "some items cannot go on")
        return self._hold.end_run(
            self._run.id, move, fence=self._run.fence, note=note, request_id=self._ids.new("request")
        )
