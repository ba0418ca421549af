"""The operations on tasks, on runs, on the merge queue, and on managed sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from commonhold.api import terms
from commonhold.api.operations import Operation
from commonhold.api.service_base import ServiceBase
from commonhold.kernel import texts
from commonhold.kernel.managed_session import SessionChoice
from commonhold.kernel.scopes import Scope


class WorkOperations(ServiceBase):
    """Hands out tasks, carries out runs, lands branches, and starts sessions."""

    @Operation(once=True, command="task add", tool="task", route="POST /tasks")
    def add_tasks(self, *tasks: terms.Task, request_id: str | None = None) -> terms.TaskAnswer:
        """Add tasks, all or none; one without an id gets one from the store. Needs may name tasks of the same call.

        Tasks that are there already with the same definition are left as they are. Refused: a circle of needs
        (`TASK_IN_CIRCLE`), an id that another definition has (`TASK_EXISTS`). Raises InputError `PLAN_INVALID`,
        `TASK_UNKNOWN`, and those of keys.
        """
        return self._uses.tasks.add(self.holder, tasks, request_id)

    @Operation(once=True, command="task propose", tool="task", route="POST /tasks/propose")
    def propose_tasks(self, *tasks: terms.Task, request_id: str | None = None) -> terms.TaskAnswer:
        """Propose tasks, all or none, as by `add_tasks`: each waits until another session or a person accepts it.

        `change_task` accepts or declines one. Refused and raises as `add_tasks`.
        """
        return self._uses.tasks.add(self.holder, tasks, request_id, is_proposed=True)

    @Operation(once=True, command="task claim", tool="task", route="POST /tasks/claim")
    def claim_task(
        self,
        task: str | None = None,
        *,
        ttl_seconds: float | None = None,
        labels: Sequence[str] = (),
        collisions: terms.Collisions | None = None,
        request_id: str | None = None,
    ) -> terms.TaskAnswer:
        """Claim a task, by default the best one: a lease on its key, which ends like any other.

        With `labels`, only a task that has all of them. `collisions` says whether a task whose keys others use may be
        given: as the last resort (the default), or never. Without a task the answer says what each one waits for.
        """
        ttl = self._uses.options.ttl_seconds if ttl_seconds is None else ttl_seconds
        return self._uses.tasks.claim(self.holder, task, ttl, labels, collisions, request_id)

    @Operation(once=True, command="task done", tool="task", route="POST /tasks/{task}/change")
    def change_task(
        self,
        task: str,
        action: terms.TaskAction,
        *,
        fence: int | None = None,
        commit: str = "",
        note: str = "",
        request_id: str | None = None,
    ) -> terms.TaskAnswer:
        """End a claim (done, unchanged, fail; `fence` is that of the claim), or refuse, cancel or reopen a task.

        Accept and decline are for proposed tasks. Done needs a `commit`, unless this session has committed through
        Commonhold since its claim in a working tree of the task's target. Every other action but accept needs a reason
        in `note`. Refused: the acceptance of a session's own proposal (`TASK_NOT_YOURS`). Raises InputError
        `TASK_UNKNOWN`, `REVISION_UNKNOWN`, and UsageError `USAGE` if no commit is known.
        """
        return self._uses.tasks.change(self.holder, task, action, fence, commit, note, request_id)

    @Operation(command="task list", tool="task", route="GET /tasks")
    def tasks(self, *ids: str, all_states: bool = False) -> terms.TaskAnswer:
        """Return the tasks that are not final, or those with these ids, with the traces of their attempts.

        `all_states`: the final ones too. Raises InputError `TASK_UNKNOWN`.
        """
        return self._uses.tasks.list(self._agent or texts.NOBODY, ids, is_all=all_states)

    @Operation(once=True, command="run start")
    def start_run(
        self,
        *tasks: terms.Task,
        goal: str = "",
        checks: Sequence[str] = (),
        editor: str = "editor",
        isolated: bool = False,
        ttl_seconds: float | None = None,
        request_id: str | None = None,
    ) -> terms.RunAnswer:
        """Begin to coordinate a run, whose items are `tasks`; without any, `plan_run` adds them.

        This session is its coordinator as long as its lease on `run:ID` lasts, whose fence the other calls ask for.
        `checks` must pass after each item. Each item is edited by a session of its own, `EDITOR:RUN.TASK`; if
        `isolated`, by a managed session, which claims its task. Tasks are added as by `add_tasks`, with the branch that
        is checked out here as their target. Raises as `add_tasks`.
        """
        ttl = self._ttl(ttl_seconds)
        return self._uses.runs.start(self.holder, tasks, goal, checks, editor, ttl, request_id, isolated=isolated)

    @Operation(once=True)
    def plan_run(
        self,
        run: str,
        *tasks: terms.Task,
        fence: int,
        usage: terms.TokenUsage | None = None,
        request_id: str | None = None,
    ) -> terms.RunAnswer:
        """Add tasks to a run, with what the call of its planner has used. Raises as `start_run`."""
        return self._uses.runs.plan(self.holder, run, tasks, fence, usage, request_id)

    @Operation(once=True, command="run start")
    def resume_run(
        self, run: str, *, ttl_seconds: float | None = None, request_id: str | None = None
    ) -> terms.RunAnswer:
        """Coordinate a run that was stopped or has failed, or whose coordinator's lease has ended.

        Refused while that lease is live (`RUN_TAKEN`, with the time that is left), and if the run has ended
        (`RUN_ENDED`). Raises InputError `RUN_UNKNOWN`.
        """
        return self._uses.runs.resume(self.holder, run, self._ttl(ttl_seconds), request_id)

    @Operation(once=True)
    def take_item(
        self, run: str, *, fence: int, ttl_seconds: float | None = None, request_id: str | None = None
    ) -> terms.RunAnswer:
        """Take the best work item of a run, and claim its task for the item's session.

        Items that were left in progress come first, in the state in which they are. Items whose keys overlap are never
        given out together. Without an item the answer says what each one waits for, and whether the run `is_over`. In
        an isolated run none is taken: `tasks` are those that a managed session could claim, the best first.
        """
        return self._uses.runs.take(self.holder, run, fence, self._ttl(ttl_seconds), request_id)

    @Operation(once=True)
    def post(self, run: str, post: terms.Post, *, fence: int, request_id: str | None = None) -> terms.RunAnswer:
        """Post a step of a work item to the blackboard: a candidate, an outcome, a lock plan, a verdict.

        Refused: a coordinator that was replaced (`RUN_TAKEN`), an item that has moved on (`RUN_CHANGED`), one whose
        claim has ended (`TASK_CHANGED`). An accepted item lands its task.
        """
        return self._uses.runs.post(self.holder, run, post, fence, request_id)

    @Operation(once=True, command="run cancel")
    def end_run(
        self,
        run: str,
        move: terms.RunMove,
        *,
        fence: int | None = None,
        note: str = "",
        request_id: str | None = None,
    ) -> terms.RunAnswer:
        """End the coordination of a run: stop, complete or fail it; or cancel it, for which a `note` says why.

        All claims are given back without counting an attempt, and all leases of the items' sessions end.
        """
        return self._uses.runs.end(self.holder, run, move, fence, note, request_id)

    @Operation(command="run list")
    def runs(self, *ids: str, all_states: bool = False) -> terms.RunAnswer:
        """Return the runs that have not completed, or those with these ids, with their items.

        `all_states`: the completed and cancelled ones too. Raises InputError `RUN_UNKNOWN`.
        """
        return self._uses.runs.list(ids, is_all=all_states)

    @Operation(once=True, command="queue add", route="POST /entries")
    def enqueue(
        self,
        branch: str,
        *,
        onto: str = "",
        task: str = "",
        session: str = "",
        checks: Sequence[str] = (),
        priority: int = 0,
        again: bool = False,
        request_id: str | None = None,
    ) -> terms.EntryAnswer:
        """Add the present commit of a branch to the merge queue, or replace the older one with which it waits there.

        It lands on `onto`; without it on the target of its `task`, else on main or master. The task must be done with
        just this commit. `session` is the id of the session that made the change, `checks` are commands that the
        combined tree must pass. Refused: a commit that was returned before (`ENTRY_RETURNED`, with its repair packet),
        unless it is to be tried `again`; a task that is not done with it. Raises InputError `REVISION_UNKNOWN`,
        `TASK_UNKNOWN`, `REPOSITORY_PLAIN`.
        """
        # Loaded here, as the types of answers.
        from commonhold.kernel.entry import Entry  # noqa: PLC0415

        wish = Entry("", branch, "", onto, "", task, session, "", tuple(checks), priority)
        return self._uses.entries.add(self.holder, wish, request_id, again=again)

    @Operation(once=True, command="queue remove", route="POST /entries/{entry}/remove")
    def remove_entry(self, entry: str, *, note: str = "", request_id: str | None = None) -> terms.EntryAnswer:
        """Take an entry out of the merge queue; its branch and its task stay as they are.

        Refused: one that has landed, was returned, or is landing (`ENTRY_CHANGED`). Raises InputError `ENTRY_UNKNOWN`.
        """
        return self._uses.entries.remove(self.holder, entry, note, request_id)

    @Operation(once=True)
    def post_entries(
        self, onto: str, *steps: terms.EntryStep, fence: int, request_id: str | None = None
    ) -> terms.EntryAnswer:
        """Post steps of entries of the ref `onto`, all or none, as the runner of its queue.

        `fence` is that of the runner's lease on `queue:ONTO`. Refused: a runner that was replaced (`QUEUE_TAKEN`), an
        entry that has moved on (`ENTRY_CHANGED`). An entry that lands lands its task, one that is refused returns it.
        """
        return self._uses.entries.post(self.holder, onto, steps, fence, request_id)

    @Operation(command="queue list", route="GET /entries")
    def entries(
        self, *ids: str, onto: str = "", all_states: bool = False, limit: int = 200, before: str = ""
    ) -> terms.EntryAnswer:
        """Return the entries of the merge queue that have not ended, or those with these ids, and the state of queues.

        `onto`: only those that land on this branch. `all_states`: those that have landed or were returned, too: the
        newest `limit` entries (up to 1,000), or the newest that were added before the entry `before`; the answer
        `has_older` ones or not. Raises InputError `ENTRY_UNKNOWN`, `REVISION_UNKNOWN`.
        """
        return self._uses.entries.list(ids, onto, (before, limit) if all_states else None)

    @Operation(once=True, command="session start", route="POST /sessions", scope=Scope.ADMIN)
    def start_managed_session(
        self,
        task: str,
        *,
        agent: str,
        request_id: str | None = None,
        **more: Unpack[terms.SessionOptions],
    ) -> terms.ManagedSessionAnswer:
        """Queue an agent on a task: the daemon runs it in a workspace of its own, on a branch `agent/ID`.

        `agent` is the name of a known agent, or a line of shell with `{prompt_file}` and `{workspace}`. It runs with
        the rights of the daemon's user; for `more` see SessionOptions. Raises InputError
        `SESSION_INVALID`, `REVISION_UNKNOWN`, `REPOSITORY_PLAIN`.
        """
        return self._uses.managed_sessions.start(self.holder, task, agent, more, request_id)

    @Operation(reads=True, command="session list", route="GET /sessions")
    def managed_sessions(
        self,
        *ids: str,
        all_states: bool = False,
        state: terms.SessionState | None = None,
        task_id: str = "",
        tenant: str = "",
        within_seconds: float | None = None,
        limit: int = 200,
        before: str = "",
    ) -> terms.ManagedSessionAnswer:
        """Return the managed sessions that have not ended, or those with these ids, the newest last.

        `all_states`: those that have ended, too. `state`, `task_id`, `tenant`: only those of this state (one that has
        ended, too), on this task, of this tenant. `within_seconds`: only those that have changed their state within
        that time. The answer has the newest `limit` of them (up to 1,000), or the newest that were started before the
        session `before`, and `has_older` ones or not. Raises InputError `SESSION_UNKNOWN`.
        """
        choice = SessionChoice(not all_states and state is None, state, task_id, tenant, limit=limit)
        return self._uses.managed_sessions.list(ids, choice, before, within_seconds)

    @Operation(once=True, command="session cancel", route="POST /sessions/{session}/change", scope=Scope.REVIEWER)
    def change_managed_session(
        self,
        session: str,
        action: terms.SessionAction,
        *,
        note: str = "",
        attempt: int | None = None,
        task: str = "",
        commit: str = "",
        request_id: str | None = None,
    ) -> terms.ManagedSessionAnswer:
        """Pause, resume, cancel, retry, approve or discard a managed session; see SessionAction.

        CANCEL and DISCARD need a `note` with the reason. With `attempt` the call applies to that attempt only. `task`
        replaces the text for a retry. APPROVE records that the work was merged, as `commit`: it merges nothing itself.
        Refused: `SESSION_CHANGED`, if its state does not allow it. Raises InputError `SESSION_UNKNOWN`.
        """
        # Loaded here, as the types of answers.
        from commonhold.sessions.commands import ChangeSession  # noqa: PLC0415

        command = ChangeSession(self.holder, session, action, note, attempt, task, commit)
        return self._uses.managed_sessions.change(command, request_id)

    @Operation(once=True, command="session attach", route="POST /sessions/{session}/attach", scope=Scope.ADMIN)
    def attach_managed_session(
        self, session: str, *, attempt: int, ttl_seconds: float, request_id: str | None = None
    ) -> terms.ManagedSessionAnswer:
        """Claim a paused managed session for a person at a terminal of this machine, as a supervisor does.

        The lease on it lasts `ttl_seconds` unless the session `supervisor:ID` renews it; a report ends the turn.
        Refused: `SESSION_CHANGED`, if it is not paused, was resumed, is in another attempt, or has its workspace on
        another machine, or if the quota of its tenant has no room. Raises InputError `SESSION_UNKNOWN`.
        """
        return self._uses.managed_sessions.attach(self.holder, session, attempt, ttl_seconds, request_id)

    @Operation(once=True, route="POST /sessions/{session}/report", scope=Scope.ADMIN)
    def report_managed_session(
        self,
        session: str,
        report: terms.SessionReport,
        *,
        attempt: int,
        fence: int,
        request_id: str | None = None,
    ) -> terms.ManagedSessionAnswer:
        """End a turn of a managed session, for its supervisor: paused, finished, failed or cancelled.

        Refused: `SESSION_TAKEN`, for a supervisor whose lease was lost. Raises InputError `SESSION_UNKNOWN`.
        """
        return self._uses.managed_sessions.report(self.holder, session, report, attempt, fence, request_id)
