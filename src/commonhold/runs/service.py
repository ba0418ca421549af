"""The runs of one repository, for one session: the use cases of a coordinator, and of those who watch it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from commonhold.kernel.answers import Next
from commonhold.kernel.clock import Now
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease, Waiter, check_ttl, conflicts
from commonhold.kernel.managed_session import ManagedSessionRecord
from commonhold.kernel.ports import Ids, TaskReader
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import (
    CandidateOutcome,
    ItemRecord,
    ItemState,
    ItemStep,
    RunMove,
    RunRecord,
    RunState,
    TokenUsage,
)
from commonhold.kernel.task import Task
from commonhold.kernel.texts import MAX_TEXT_LENGTH, check_line, short_name
from commonhold.leases.idempotency import IdentifiedRequest, once
from commonhold.leases.registry import task_storage
from commonhold.leases.requests import check_reason
from commonhold.runs.answers import ItemView, RunAnswer, RunView
from commonhold.runs.commands import (
    CancelRun,
    EndRun,
    ItemChanged,
    ItemTaken,
    NoItem,
    PlanRun,
    Post,
    PostStep,
    ResumeRun,
    RunChanged,
    RunCommand,
    RunOutcome,
    RunRefused,
    StartRun,
    TakeItem,
)
from commonhold.runs.decide import unknown
from commonhold.runs.queue import RunQueue
from commonhold.tasks.board import why_not
from commonhold.tasks.definition import MOST_PARTS, MOST_TASKS
from commonhold.tasks.service import Tasks
from commonhold.workspace.place import WorktreeState

MOST_POSTED: Final = 4_000_000
"""The most characters of a candidate, and of the answer that refused it."""
_EDITOR: Final = re.compile(r"[A-Za-z0-9._-]{1,50}")


class Runs:
    """The runs of one repository, for one session."""

    def __init__(self, place: WorktreeState, tasks: Tasks, ids: Ids) -> None:
        """Keep runs where the tasks are kept; `tasks` checks the definitions of new ones."""
        self._tasks = tasks
        self._ids = ids
        self._queue = RunQueue(*task_storage(place), tasks.capabilities)

    def start(
        self,
        holder: str,
        tasks: Sequence[Task],
        goal: str,
        checks: Sequence[str],
        editor: str,
        ttl_seconds: float,
        request_id: str | None,
        *,
        isolated: bool,
    ) -> RunAnswer:
        """Begin a run of `tasks`; without any, its planner adds them."""
        check_ttl(ttl_seconds)
        check_line(goal, "goal", MAX_TEXT_LENGTH)
        for check in checks[: MOST_PARTS + 1]:
            check_line(check, "check", MAX_TEXT_LENGTH)
        if len(tasks) > MOST_TASKS or len(checks) > MOST_PARTS:
            raise UsageError(
                Code.USAGE, "the run is too large", hint=f"give at most {MOST_TASKS} tasks, {MOST_PARTS} checks"
            )
        if not _EDITOR.fullmatch(editor):
            raise UsageError(
                Code.USAGE, f"{editor[:60]!r} cannot name the editors", hint="use letters, digits, dots and dashes"
            )
        lease_id, located = self._ids.new("lease"), self._located(tasks)
        self._tasks.follow(holder, [each.id for each in located])
        command = StartRun(holder, lease_id, ttl_seconds, goal, located, tuple(checks), editor, isolated)
        return self._answer(self._run(command, request_id, replace(command, lease_id="")))

    def plan(
        self, holder: str, run: str, tasks: Sequence[Task], fence: int, usage: TokenUsage | None, request_id: str | None
    ) -> RunAnswer:
        """Add the tasks that the planner has made."""
        command = PlanRun(holder, run, fence, self._located(tasks), usage)
        return self._answer(self._run(command, request_id, command))

    def _located(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Return the tasks as they are added. In a run each lands with its admitted commit, in this working tree."""
        located = self._tasks.located(tasks) if tasks else ()
        branch = self._tasks.branch()
        for each in located:
            if each.target != branch:
                raise InputError(
                    Code.PLAN_INVALID,
                    f"the task {each.id or each.title!r} lands on {each.target!r}, and {branch!r} is checked out here",
                    hint=f"run it in a working tree of that branch, or first: git switch {each.target}",
                    fields={"task": each.id, "target": each.target},
                )
        return located

    def resume(self, holder: str, run: str, ttl_seconds: float, request_id: str | None) -> RunAnswer:
        """Take over a run that has no live coordinator."""
        check_ttl(ttl_seconds)
        with self._queue.read() as reader:
            items = reader.run_items(run)
        self._tasks.follow(holder, [each.task_id for each in items])
        command = ResumeRun(holder, run, self._ids.new("lease"), ttl_seconds)
        return self._answer(self._run(command, request_id, replace(command, lease_id="")))

    def end(
        self, holder: str, run: str, move: RunMove, fence: int | None, note: str, request_id: str | None
    ) -> RunAnswer:
        """End the coordination of a run; `fence` is that of its lease, and is not asked for to cancel it."""
        check_line(note, "note", MAX_TEXT_LENGTH)
        command: RunCommand
        if move is RunMove.CANCEL:
            check_reason(note, "reason")
            command = CancelRun(holder, run, note)
        else:
            command = EndRun(holder, run, -1 if fence is None else fence, move, note)
        return self._answer(self._run(command, request_id, command))

    def take(self, holder: str, run: str, fence: int, ttl_seconds: float, request_id: str | None) -> RunAnswer:
        """Take the best item of a run."""
        check_ttl(ttl_seconds)
        command = TakeItem(holder, run, fence, self._ids.new("lease"), ttl_seconds)
        return self._answer(self._run(command, request_id, replace(command, lease_id="")))

    def post(self, holder: str, run: str, post: Post, fence: int, request_id: str | None) -> RunAnswer:
        """Post a step of an item."""
        texts = [post.candidate.changeset if post.candidate else "", post.outcome.repair if post.outcome else ""]
        if max(map(len, texts)) > MOST_POSTED:
            raise InputError(
                Code.TEXT_INVALID,
                f"the candidate, or the answer to it, has more than {MOST_POSTED:,} characters",
                hint="make a smaller change: split the task",
                fields={"task": post.task},
            )
        command = PostStep(holder, run, fence, post)
        posted = replace(command, post=self._in_effect(run, post))
        return self._answer(self._run(posted, request_id, command))

    def _in_effect(self, run: str, post: Post) -> Post:
        """Return the step as the log of commits has it.

        Instead of an acceptance it is a rejection, if the change was undone after it was written. A candidate that is
        refused although the session has made a commit that the item does not know had been written before: by a
        process that died, or was frozen, longer than answers are kept.
        """
        if post.step not in (ItemStep.ACCEPT, ItemStep.REFUSE):
            return post
        with self._queue.read() as reader:
            item = next((each for each in reader.run_items(run) if each.task_id == post.task), None)
        if item is None:
            return post
        if post.step is ItemStep.ACCEPT:
            why = self._tasks.why_undone(item.admitted)
            return replace(post, step=ItemStep.REJECT, note=why) if why else post
        written = () if item.state is ItemState.EDITING else self._tasks.in_effect(item.session)
        if not (unknown_here := tuple(each for each in written if each not in item.admitted)):
            return post
        outcome = CandidateOutcome(admitted=unknown_here)
        return replace(post, step=ItemStep.WRITE, note="its candidate had been written before", outcome=outcome)

    def list(self, ids: Sequence[str], *, is_all: bool) -> RunAnswer:
        """Return runs, the newest last: those with an id, or all that have not ended, or all. Items only for ids.

        Raises InputError `RUN_UNKNOWN`.
        """
        with self._queue.read() as reader:
            if not ids:
                unended = (RunState.RUNNING, RunState.STOPPED, RunState.FAILED)
                found = [each for each in reader.runs() if is_all or each.state in unended]
                return RunAnswer("listed", tuple(self._view(reader, each) for each in found))
            named = [reader.run(each) for each in ids]
            for name, record in zip(ids, named, strict=True):
                if record is None:
                    raise unknown(name)
            views = (self._view(reader, each, reader.run_items(each.id)) for each in named if each)
            return RunAnswer("listed", tuple(views))

    def _view(self, reader: TaskReader, record: RunRecord, items: Sequence[ItemRecord] = ()) -> RunView:
        now, held = self._queue.now(), reader.leases()
        is_coordinated = any(each.id == record.lease_id and each.is_live(now) for each in held)
        in_line = {each.holder: each for each in reader.waiters() if each.is_live(now)}
        known = {each.id: each for each in reader.tasks_in_question([each.task_id for each in items])}
        sessions = reader.managed_sessions_in_question(()) if record.run.isolated and items else ()
        doing = {each.session.task_id: f"{each.id} {_does(each)}" for each in sessions}
        views = []
        for item in items:
            task = known[item.task_id]
            why = doing.get(item.task_id) or why_not(task, known, now) if item.state is ItemState.OPEN else ""
            if item.is_in_progress and item.session in in_line:
                why = _awaited(in_line[item.session], held, now)
            views.append(ItemView(item, task, why))
        return RunView(record, tuple(views), is_coordinated)

    def _run(self, command: RunCommand, request_id: str | None, content: object) -> RunOutcome:
        return self._queue.execute(command, once(IdentifiedRequest(command.holder, request_id, content)))

    def _answer(self, outcome: RunOutcome) -> RunAnswer:
        match outcome:
            case RunChanged(run, items):
                with self._queue.read() as reader:
                    view = self._view(reader, run, items)
                return RunAnswer("started" if run.since == run.started_at else "changed", (view,))
            case ItemTaken(item, task):
                return RunAnswer("taken", item=ItemView(item, task))
            case NoItem(why, is_over, waiting, ready):
                return RunAnswer("none", is_over=is_over, waiting=waiting, tasks=ready, why=why)
            case ItemChanged(item):
                with self._queue.read() as reader:
                    (task,) = [each for each in reader.tasks_in_question((item.task_id,)) if each.id == item.task_id]
                return RunAnswer("posted", item=ItemView(item, task))
            case RunRefused(code, why, tasks, seconds):
                step = None
                if code is Refusal.TASK_TAKEN:
                    step = Next("run list", {}, "resume that run, or cancel it")
                return RunAnswer("refused", code=code, why=why, tasks=tasks, retry_after_seconds=seconds, next=step)
            case _:
                raise UsageError(
                    Code.REQUEST_ID_REUSED, "the request id was used for another call", hint="take a new id"
                )


def _does(record: ManagedSessionRecord) -> str:
    return "waits to land" if record.is_landing else f"is {record.state.value.replace('_', ' ')}"


def _awaited(waiter: Waiter, held: Sequence[Lease], now: Now) -> str:
    """Return whose leases an editor waits for, as a clause."""
    against = conflicts(map(canonical, waiter.keys), waiter.mode, waiter.holder, held, now)
    leases = dict.fromkeys(f"{short_name(each.holder)}'s lease on {each.held}" for each in against)
    return f"it waits for {', '.join(leases) or 'others in line before it'}"
