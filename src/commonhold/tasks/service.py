"""The coordinator of tasks: adds, claims and ends them, and follows the branches that their commits must reach."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonhold.kernel.answers import Next
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.events import Recorded
from commonhold.kernel.lease import check_ttl
from commonhold.kernel.ports import Ids, Revisions
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import Result, Task, TaskRecord, TaskState
from commonhold.leases.idempotency import IdentifiedRequest, once
from commonhold.leases.registry import task_storage
from commonhold.leases.requests import check_reason
from commonhold.reads.reading import RegionReader
from commonhold.tasks.agents import agents_of
from commonhold.tasks.answers import TaskAction, TaskAnswer, TaskView
from commonhold.tasks.board import Condition, condition, why_not
from commonhold.tasks.capabilities import Capabilities
from commonhold.tasks.commands import (
    REFUSAL_PATIENCE_SECONDS,
    AcceptTask,
    AddTasks,
    CancelTask,
    ClaimTask,
    Collisions,
    DeclineTask,
    FailTask,
    FinishTask,
    NoTask,
    RefuseTask,
    ReopenTask,
    SettleTasks,
    TaskChanged,
    TaskClaimed,
    TaskCommand,
    TaskOutcome,
    TaskRefused,
    TasksAdded,
    TasksRefused,
)
from commonhold.tasks.definition import MOST_TASKS, checked
from commonhold.tasks.history import changes_of, commits_since, undone_among, words_of_undo, works_of
from commonhold.tasks.landings import TaskLandings
from commonhold.tasks.offers import offers
from commonhold.tasks.queue import TaskQueue, board_of
from commonhold.tasks.turn import unknown_task
from commonhold.workspace.place import WorktreeState


class Tasks:
    """The tasks of one repository, for one agent session."""

    def __init__(
        self,
        place: WorktreeState,
        reading: RegionReader,
        ids: Ids,
        revisions: Revisions | None,
        capabilities: Mapping[str, Iterable[str]],
        *,
        is_shared: bool,
    ) -> None:
        """Keep tasks where `place` keeps leases, or beside the repository if only leases can be kept there.

        `revisions` answer about commits; without them (in a plain folder) tasks land without a commit. `capabilities`
        are words by pattern of session names. `is_shared`: the leases are kept elsewhere than beside the repository.
        """
        self._place = place
        self._reading = reading
        self._ids = ids
        self._revisions = revisions
        tables, clock = task_storage(place)
        self.capabilities = Capabilities(capabilities)
        self._queue = TaskQueue(tables, clock, self.capabilities)
        self._landings = TaskLandings(
            self._queue, place.store, revisions, is_shared=is_shared and tables is not place.store
        )

    def add(
        self, holder: str, tasks: Sequence[Task], request_id: str | None, *, is_proposed: bool = False
    ) -> TaskAnswer:
        """Add or propose all tasks or none. A task without a target lands on the branch that is checked out now."""
        if not tasks or len(tasks) > MOST_TASKS:
            raise UsageError(Code.USAGE, f"{len(tasks)} tasks were given", hint=f"give 1 to {MOST_TASKS} tasks")
        command = AddTasks(holder, self.located(tasks), is_proposed)
        return self._answer(self._run(command, request_id, replace(command, tasks=tuple(tasks))))

    def branch(self) -> str:
        """Return the branch that is checked out; empty if none is, or if this is no git repository."""
        return self._revisions.branch() if self._revisions else ""

    def located(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Return the tasks with canonical keys, and with the branch that is checked out where they name no target.

        Raises InputError `PLAN_INVALID`, `REVISION_UNKNOWN` for a target that does not exist, and those of keys.
        """
        branch = self.branch()
        located = [checked(each, lambda key: str(self._reading.locate(key))) for each in tasks]
        if self._revisions is not None and not branch and not all(each.target for each in located):
            raise InputError(
                Code.PLAN_INVALID,
                "no branch is checked out here, so the tasks have no branch to land on",
                hint="name it: --target BRANCH, or `target` in the plan",
            )
        if self._revisions is not None:
            # The branch that is checked out may have no commit yet.
            for target in {each.target for each in located} - {"", branch}:
                self._revisions.commit_of(target)
        return tuple(replace(each, target=each.target or branch) for each in located)

    def claim(
        self,
        holder: str,
        wanted: str | None,
        ttl_seconds: float,
        labels: Sequence[str],
        collisions: Collisions | None,
        request_id: str | None,
    ) -> TaskAnswer:
        """Claim a task, or the best one. Landed work is noticed first, since it sets other tasks free."""
        check_ttl(ttl_seconds)
        self.follow(holder, () if wanted is None else (wanted,))
        command = ClaimTask(
            holder, self._ids.new("lease"), ttl_seconds, wanted, tuple(labels), collisions or Collisions.LAST
        )
        return self._answer(self._run(command, request_id, replace(command, lease_id="")))

    def follow(self, holder: str, ids: Sequence[str] = (), *, is_all: bool = False) -> None:
        """Record which work has landed, or no longer counts, of the tasks `ids` and all that are not final (or all)."""
        with self._queue.read() as reader:
            records = reader.tasks() if is_all else reader.tasks_in_question(ids)
        self._landings.follow(holder, records)

    def change(
        self,
        holder: str,
        task_id: str,
        action: TaskAction,
        fence: int | None,
        commit: str,
        note: str,
        request_id: str | None,
    ) -> TaskAnswer:
        """Change a task; see TaskAction. Every action but DONE and ACCEPT needs a reason."""
        if action not in (TaskAction.DONE, TaskAction.ACCEPT):
            check_reason(note, "reason")
        command = self._command(holder, task_id, action, fence, commit, note)
        given = (task_id, action, fence, commit, note)
        outcome = self._run(command, request_id, given)
        if isinstance(outcome, TaskChanged) and outcome.record.state is TaskState.DONE:
            self._landings.follow(holder, [outcome.record])
            outcome = TaskChanged(self._record(task_id))
        return self._answer(outcome)

    def _command(
        self, holder: str, task_id: str, action: TaskAction, fence: int | None, commit: str, note: str
    ) -> TaskCommand:
        match action:
            case TaskAction.DONE:
                record = self._record(task_id)
                return FinishTask(holder, task_id, self._result(holder, record, commit), fence, note)
            case TaskAction.UNCHANGED:
                return FinishTask(holder, task_id, Result(), fence, note)
            case TaskAction.FAIL:
                return FailTask(holder, task_id, -1 if fence is None else fence, note)
            case TaskAction.REFUSE:
                return RefuseTask(holder, task_id, note, REFUSAL_PATIENCE_SECONDS)
            case _:
                return _BY_PEOPLE[action](holder, task_id, note)

    def _result(self, holder: str, record: TaskRecord, commit: str) -> Result:
        """Return the named commit, or what this session has committed through Commonhold since its claim.

        Commits through Commonhold count only in a working tree of the target: on another branch they have not landed.
        """
        if commit:
            if self._revisions is None:
                raise InputError(
                    Code.REPOSITORY_PLAIN,
                    "this folder is in no git repository, so there are no commits to name",
                    hint="leave --commit out: changes that were committed through Commonhold count here",
                )
            return Result(self._revisions.commit_of(commit))
        is_target = self._revisions is None or self._revisions.branch() == record.task.target
        began_at = record.attempts[-1].began_at if record.attempts else record.added_at
        admitted, undone = self._made_by(holder, began_at)
        if is_target and admitted:
            return Result(admitted=admitted)
        if is_target and undone:
            raise UsageError(
                Code.USAGE,
                f"{record.id} has no change in effect: {words_of_undo(undone.values())}",
                hint="commit the work again; or, if nothing has to be changed: --unchanged --note WHY",
                fields={"task": record.id},
            )
        why = "" if is_target else f", and this working tree is not on {record.task.target}, where {record.id} lands"
        raise UsageError(
            Code.USAGE,
            f"nothing says what {record.id} has changed: this session has committed nothing here since its claim{why}",
            hint="name the git commit: --commit REVISION; or, if nothing had to be changed: --unchanged --note WHY",
            fields={"task": record.id},
        )

    def list(self, holder: str, ids: Sequence[str], *, is_all: bool) -> TaskAnswer:
        """Return tasks in the order in which they were added: those with an id, or all that are not final, or all.

        A list without ids has the known agents, too. For named tasks the answer has the partial work and the commits of
        their attempts. Raises InputError `TASK_UNKNOWN`.
        """
        with self._queue.read() as reader:
            records = reader.tasks()
        self._landings.follow(holder, records)
        if any(record.state is TaskState.CLAIMED for record in records):
            self._queue.execute(SettleTasks(holder))
        with self._queue.read() as reader:
            found = {record.id: record for record in reader.tasks()}
            works = reader.works() if ids else ()
            board = board_of(reader, (), self.capabilities)
        for each in ids:
            if each not in found:
                raise unknown_task(each)
        wanted = (
            [found[each] for each in ids] if ids else [each for each in found.values() if is_all or not each.is_final]
        )
        views = tuple(self._views(wanted, found))
        if not ids:
            with self._place.store.read() as present:
                presences = present.presences(self._place.files.root)
            return TaskAnswer("listed", views, agents=agents_of(board, presences, self._queue.now()))
        return TaskAnswer(
            "listed", views, works=tuple(works_of(wanted, works)), changes=tuple(changes_of(self._place.store, wanted))
        )

    def next_for(self, holder: str) -> TaskAnswer:
        """Return the best task whose keys are free for a session that has claimed tasks before, and holds none now."""
        with self._queue.read() as reader:
            records = reader.tasks()
            board = board_of(reader, (), self.capabilities)
        tries = [each for record in records for each in record.attempts if each.holder == holder]
        if not tries or any(each.ended_at is None for each in tries):
            return TaskAnswer("none")
        free = [each.record for each in offers(board, holder, self._queue.now()) if not each.collisions]
        return TaskAnswer("listed", self._seen(free[:1]))

    def _made_by(self, holder: str, since: float) -> tuple[tuple[int, ...], Mapping[int, Recorded]]:
        """Return the commits of a session here since a Unix time that are in effect, and the undos of the others."""
        made = {
            recorded.sequence: event
            for recorded, event in commits_since(self._place.store, since)
            if event.holder == holder and event.worktree == self._place.name
        }
        undone = undone_among(self._place.store, made.keys())
        # An undo of the session's own work is no result either.
        admitted = tuple(
            number
            for number, event in made.items()
            if number not in undone and not (event.undoes and made.keys() >= set(event.undoes))
        )
        return admitted, undone

    def in_effect(self, holder: str) -> tuple[int, ...]:
        """Return the commits of a session here, among the last 500, that no undo has taken back."""
        return self._made_by(holder, 0.0)[0]

    def why_undone(self, admitted: Sequence[int]) -> str:
        """Return that undos have taken back all of these commits, as a clause; empty if any is in effect."""
        undone = undone_among(self._place.store, admitted)
        if not undone or not undone.keys() >= set(admitted):
            return ""
        return words_of_undo(undone.values())

    def free_for(self, holder: str) -> str:
        """Return the id of a task that this session could do while it is blocked; empty if there is none."""
        with self._queue.read() as reader:
            board = board_of(reader, (), self.capabilities)
        return next((each.record.id for each in offers(board, holder, self._queue.now()) if not each.collisions), "")

    def _run(self, command: TaskCommand, request_id: str | None, content: object) -> TaskOutcome:
        return self._queue.execute(command, once(IdentifiedRequest(command.holder, request_id, content)))

    def _record(self, task_id: str) -> TaskRecord:
        with self._queue.read() as reader:
            found = {each.id: each for each in reader.tasks_in_question((task_id,))}
        if task_id not in found:
            raise unknown_task(task_id)
        return found[task_id]

    def _answer(self, outcome: TaskOutcome) -> TaskAnswer:
        match outcome:
            case TasksAdded(records, unchanged):
                views = self._seen(records)
                is_waiting = any(each.condition is Condition.PROPOSED for each in views)
                step = Next("task list", {}, "it shows whether they were accepted") if is_waiting else None
                return TaskAnswer("added", views, unchanged=unchanged, next=step or Next("task claim", {}))
            case TasksRefused(code, why, tasks):
                circle = tasks if code is Refusal.TASK_IN_CIRCLE else ()
                return TaskAnswer("refused", code=code, why=why, circle=circle)
            case TaskClaimed(record, lease, collisions, others):
                return self._claimed(record, TaskAnswer("claimed", lease=lease, collisions=collisions, others=others))
            case NoTask(code, why, waiting, instead, collisions):
                step = Next("task claim", {"task": instead}, "another task is free") if instead else None
                return TaskAnswer(
                    "none", (), code, why, collisions=collisions, waiting=waiting, instead=instead, next=step
                )
            case TaskChanged(record):
                return TaskAnswer("changed", self._seen([record]))
            case TaskRefused(code, why, record):
                step = Next("task show", {"task": record.id})
                return TaskAnswer("refused", self._seen([record]), code, why, next=step)
            case _:
                raise UsageError(
                    Code.REQUEST_ID_REUSED, "the request id was used for another call", hint="take a new id"
                )

    def _claimed(self, record: TaskRecord, answer: TaskAnswer) -> TaskAnswer:
        with self._queue.read() as reader:
            works = reader.works()
        return replace(
            answer,
            tasks=self._seen([record]),
            works=tuple(works_of([record], works)),
            changes=tuple(changes_of(self._place.store, [record])),
            next=Next(
                "task done", {"task": record.id, "fence": record.fence}, "do the work, and say so when it is done"
            ),
        )

    def _seen(self, records: Iterable[TaskRecord]) -> tuple[TaskView, ...]:
        listed = list(records)
        with self._queue.read() as reader:
            known = {each.id: each for each in reader.tasks_in_question([each.id for each in listed])}
        return tuple(self._views(listed, known))

    def _views(self, records: Iterable[TaskRecord], known: dict[str, TaskRecord]) -> Iterator[TaskView]:
        now = self._queue.now()
        for record in records:
            due = record.task.deadline_at
            is_late = due is not None and due < now.wall and record.state is not TaskState.LANDED
            age = max(0.0, now.wall - record.since)
            found = condition(record, known, now)
            why = why_not(record, known, now)
            if found is Condition.READY:
                why = self.capabilities.why_unclaimable(record.task)
            yield TaskView(record, found, why, is_late, age)


_BY_PEOPLE: Final[Mapping[TaskAction, Callable[[str, str, str], TaskCommand]]] = {
    TaskAction.ACCEPT: AcceptTask,
    TaskAction.DECLINE: DeclineTask,
    TaskAction.CANCEL: CancelTask,
    TaskAction.REOPEN: ReopenTask,
}
"""The commands that need nothing but a reason."""
