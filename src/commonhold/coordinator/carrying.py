"""A run under one lease of its coordinator: the parts that are the same in a shared checkout and in isolation."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from commonhold.coordinator.keeper import Keeper
from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import RoleFailed
from commonhold.kernel.errors import Code, CommonholdError, InputError
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import ItemState, RunMove, RunRecord
from commonhold.machine.system import RandomIds

if TYPE_CHECKING:
    from commonhold.client.session import Commonhold
    from commonhold.coordinator.roles import Planner
    from commonhold.runs.answers import RunAnswer

_LOST: Final = frozenset({Refusal.RUN_TAKEN, Refusal.RUN_ENDED})
_NO_PLANNER: Final = RoleFailed("no planner was given")


class Carrying(ABC):
    """Carries out a run until its end, until `stop` is set, or until the lease of the run is lost."""

    def __init__(
        self, hold: Commonhold, planner: Planner | None, run_ttl: float, run: RunRecord, stop: threading.Event
    ) -> None:
        """Coordinate as `hold`, which holds the lease of the run for `run_ttl` seconds at a time."""
        self._hold = hold
        self._planner = planner
        self._run_ttl = run_ttl
        self._run = run
        self._asked_to_stop = stop
        self._ids = RandomIds()
        self._ending = threading.Event()  # for the work: stopped, over or lost
        self._is_lost = False
        self._is_over = False
        self._why_over = ""
        self._fault: BaseException | None = None
        self._keeper = Keeper()

    def until_end(self) -> RunAnswer | None:
        """Work until the end of the run, or of the coordination. None if the lease of the run was lost."""
        with self._keeper:
            self._keeper.keep(self._hold, self._run.lease_id, self._run_ttl)
            try:
                if not self._hold.runs(self._run.id).runs[0].items:
                    self._plan()
                if not (self._is_lost or self._asked_to_stop.is_set()):
                    self._work()
            except CommonholdError as fault:
                self._fail(fault)
            if self._is_lost:
                return None
            answer = self._end()
        if self._fault is not None:
            raise self._fault
        return None if answer.code is Refusal.RUN_TAKEN else answer

    @abstractmethod
    def _work(self) -> None:
        """Have the items done, until `_ending` is set, or `_asked_to_stop`."""

    def _plan(self) -> None:
        """Ask the planner for the items of a run that has none."""
        planner = self._planner
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

    def _take(self, ttl_seconds: float) -> RunAnswer:
        """Ask for the next item, and note whether the run is lost, or over."""
        answer = self._hold.take_item(
            self._run.id, fence=self._run.fence, ttl_seconds=ttl_seconds, request_id=self._ids.new("request")
        )
        self._note(answer)
        if answer.item is None and answer.outcome == "none" and answer.is_over:
            self._is_over = True
            self._end_work()
        return answer

    def _end_work(self) -> None:
        self._ending.set()

    def _fail(self, fault: BaseException) -> None:
        self._fault = self._fault or fault
        self._end_work()

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
            left = [each.item.task_id for each in items if each.item.state is not ItemState.ACCEPTED]
            why = self._why_over or f"these items cannot go on: {', '.join(left)}"
            move, note = (RunMove.FAIL, one_line(why)) if left else (RunMove.COMPLETE, "")
        return self._hold.end_run(
            self._run.id, move, fence=self._run.fence, note=note, request_id=self._ids.new("request")
        )


def carried_out(
    hold: Commonhold, run: RunRecord, run_ttl: float, carrying: Callable[[RunRecord], Carrying]
) -> RunAnswer:
    """Carry out a run that the session `hold` has just started or resumed, and return how it has ended.

    It is stopped after an error, which is raised again: resuming goes on from there. If another process takes the run
    over, the answer is the refusal that says so. Raises InputError `ROLE_FAILED`, and StoreError if the store cannot
    be used for some time.
    """
    while True:
        answer = carrying(run).until_end()
        if answer is not None:
            return answer
        # This process slept longer than its lease lives: it goes on, unless another has taken over.
        answer = hold.resume_run(run.id, ttl_seconds=run_ttl, request_id=RandomIds().new("request"))
        if answer.outcome == "refused":
            return answer
        run = answer.runs[0].run
