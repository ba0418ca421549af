"""All use cases of one working tree, for one agent session: the interface behind every entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final, Self, TypeVar, Unpack

from commonhold.api import terms
from commonhold.api.operations import Operation, Schedule, declared
from commonhold.kernel import texts
from commonhold.kernel.keys import FILE, parse
from commonhold.kernel.modes import Mode
from commonhold.kernel.scopes import Scope
from commonhold.kernel.unwritable import although_unwritable
from commonhold.leases.decision_log import log_commit, log_external_write

if TYPE_CHECKING:
    from commonhold.commits.plan_sources import Plans
    from commonhold.commits.use_cases import Parts
    from commonhold.commits.write_use_cases import Writing
    from commonhold.sessions.service import ManagedSessions
    from commonhold.views.looking import Views

T = TypeVar("T")


class Service:
    """One agent session's access to the files and leases that it shares with others.

    Keys are accepted in any form (`src/a.py`, `src/a.py#C.m`, `file:…`, `method::src/a.py::C.m`, `account:12345`).
    Refusals are answers. Errors are CommonholdError, with a code and a hint; after one, nothing has changed. Threads of
    one process may share an instance; they take turns.
    """

    def __init__(self, *, agent: str | None = None, **parts: Unpack[Parts]) -> None:
        """Compose the use cases; `commonhold.open` does so for a repository on disk."""
        # Loaded here: a client of a daemon needs the interface, and none of the implementation.
        from commonhold.commits.use_cases import UseCases  # noqa: PLC0415

        self._agent = texts.check_holder(agent) if agent is not None else None
        self._uses = UseCases(agent, parts)
        self._written_with: Writing | None = None
        self._composing = Lock()

    @property
    def _writing(self) -> Writing:
        """Return the use cases that judge and record files: half of the engine, and unused by queries and leases."""
        with self._composing:
            if self._written_with is None:
                from commonhold.commits.write_use_cases import Writing  # noqa: PLC0415

                self._written_with = Writing(self._uses)
            return self._written_with

    @property
    def plans(self) -> Plans:
        """Return this process's maker of commit plans: for a process that does nothing else."""
        return self._writing.own_plans

    @property
    def _views(self) -> Views:
        # Loaded here: they are only for people.
        from commonhold.views.looking import Views  # noqa: PLC0415

        return Views(self._uses.place, self._uses.queries)

    @property
    def session_queue(self) -> ManagedSessions:
        """Return the managed sessions: for the process that starts their supervisors."""
        return self._uses.managed_sessions

    @property
    def root(self) -> str:
        """Return the absolute path of the working tree."""
        return self._uses.place.files.root

    @property
    def is_shared(self) -> bool:
        """Whether leases are kept elsewhere than beside the repository."""
        return self._uses.is_shared

    @property
    def holder(self) -> str:
        """Return the name under which this session holds leases. Raises UsageError `HOLDER_MISSING` if it has none."""
        return self._agent or texts.check_holder("")

    def _give_sign(self) -> None:
        """Note that this session is at work."""
        if self._agent is not None:
            self._uses.surroundings.signs.note(self._agent, self._uses.place.clock.now().wall)

    @Operation(reads=True, for_hooks=True)
    def is_at_work(self, holder: str) -> bool:
        """Whether a session still works here: it holds a lease, has called recently, or its process runs."""
        return self._writing.attendance.is_at_work(holder)

    @Operation(reads=True, over_socket=False, command="regions", tool="regions", route="GET /regions/parsed")
    def regions(self, path: str) -> terms.RegionMap:
        """Parse a file, and return its regions: `.regions`, `.problems`.

        Raises InputError `FILE_NOT_FOUND`, `FILE_TOO_LARGE`.
        """
        self._recover_if_possible()
        return self._uses.reading.regions(path)

    @Operation(reads=True, command="regions", route="GET /regions")
    def list_regions(self, path: str) -> terms.RegionList:
        """Return the regions of a file by lines, for display. Raises as `regions`.

        Its `.regions` have `key`, `kind`, `hash`, `lines`, `is_empty`; its `.problems` have `code`, `message`, `line`.
        """
        # Loaded here: it is only for people.
        from commonhold.commits.region_list import listed  # noqa: PLC0415

        return listed(self.regions(path))

    @Operation(command="show", tool="read", route="GET /texts")
    def read(self, *keys: str) -> tuple[terms.RegionText, ...]:
        """Return regions with their text and hash; the text is kept, so that later changes to it can be shown.

        The session is notified of others' later changes to it: in notices of its answers, or when it asks for `news`.
        Raises InputError `REGION_UNKNOWN`, `REGION_AMBIGUOUS`, `FILE_NOT_FOUND`.
        """
        self._recover_if_possible()
        return self._uses.reading.read(keys)

    @Operation(command="record-read", route="POST /reads")
    def record_read(self, *keys: str, shown: str = "") -> tuple[terms.RegionHash, ...]:
        """Record that this session read files or regions in another way (such as its own tools), as if through `read`.

        Their present state counts as read; the answer has their hashes. With one file, `shown` may be the text that
        was read of it. If that text is no longer there, the content just before counts instead. If it is a part of the
        file, only that part counts: the answer has the regions that contain it, without a hash if some of their lines
        were never shown. Raises as `read`.
        """
        self._recover_if_possible()
        return self._uses.reading.record_read(keys, shown)

    @Operation(reads=True, route="GET /reads")
    def last_read(self, *keys: str) -> tuple[terms.RegionHash, ...]:
        """Return the hashes of files or regions at this session's last read or write of them; None if it has none."""
        return self._uses.reading.known(keys)

    @Operation(reads=True, command="version-of", route="GET /versions")
    def key_version(self, key: str) -> terms.KeyVersion:
        """Return the version of a key without its content: nothing counts as read.

        For a free key `.version` is that of its value (0: never set). For a file or region `.hash` is its hash, and
        `.file_hash` that of the whole file. Raises as `read`.
        """
        # Loaded here, as the types of answers: it is seldom asked for.
        from commonhold.commits.key_version import key_version  # noqa: PLC0415

        self._recover_if_possible()
        return key_version(key, self._uses.reading, self._uses.values)

    @Operation(Schedule.QUICK, reads=True, route="POST /news")
    def news(self) -> tuple[terms.News, ...]:
        """Return, once, messages of others and their changes to what this session has read; notices have them too."""
        return self._uses.notifications.tell()

    @Operation(for_hooks=True, route="POST /messages")
    def send(self, holders: Sequence[str], text: str) -> None:
        """Send `text` to other sessions in this working tree, once: with their next answer that has notices.

        It waits for them as long as contents are kept. A message for an ended subagent goes to its session.
        """
        self._uses.notifications.send(holders, text)

    def add_notice(self, notice: str) -> None:
        """Include this notice in the next answer that has notices."""
        self._uses.notifications.add(notice)

    @Operation(Schedule.QUICK, wrapped=True, command="acquire", tool="acquire", route="POST /leases")
    def acquire(
        self,
        *keys: str,
        task: str = "",
        ttl_seconds: float | None = None,
        mode: Mode = Mode.EXCLUSIVE,
        **more: Unpack[terms.AcquireOptions],
    ) -> terms.AcquireAnswer:
        """Request one lease on all of `keys`: granted as a whole, queued, or denied with every conflict named.

        A lease keeps others from changing the keys that it covers; it ends by release, or `ttl_seconds` after the last
        sign of life of its holder (any call). It does not keep this process from believing that it still holds the
        lease when it does not: the commit checks.
        """
        self._give_sign()
        ttl = self._uses.options.ttl_seconds if ttl_seconds is None else ttl_seconds
        if any(parse(key).scheme == FILE for key in keys):
            self._recover_if_possible()
        answer = self._uses.leases.acquire(self.holder, keys, task=task, ttl_seconds=ttl, mode=mode, **more)
        if answer.outcome not in {"denied", "queued"}:
            return answer
        if answer.outcome == "denied":
            answer = replace(answer, context=self._uses.notes.bearing_on((each.key for each in answer.conflicts), task))
        # Loaded here: most requests are granted.
        from commonhold.api.redirects import redirected  # noqa: PLC0415

        return redirected(self._uses, self.holder, answer)

    @Operation(Schedule.QUICK, command="renew", tool="renew", route="POST /leases/{lease_id}/renew")
    def renew(
        self, lease_id: str, *, ttl_seconds: float | None = None, request_id: str | None = None
    ) -> terms.LeaseAnswer:
        """Set the end of a live lease to `ttl_seconds` from now. The end is set, never added to."""
        ttl = self._uses.options.ttl_seconds if ttl_seconds is None else ttl_seconds
        return self._uses.leases.renew(self.holder, lease_id, ttl, request_id)

    @Operation(Schedule.QUICK, command="release", tool="release", route="POST /leases/{lease_id}/release")
    def release(self, lease_id: str, *, request_id: str | None = None, result: str | None = None) -> terms.LeaseAnswer:
        """End a lease of this session, or give up its place in line.

        With a `result` the work that it was acquired for with `once` is done forever: all later requests get the
        result (up to 65,536 characters). Without one, the next in line may do it.
        """
        return self._uses.leases.release(self.holder, lease_id, request_id, result)

    @Operation(Schedule.QUICK, once=True, command="ask", route="POST /leases/{lease_id}/ask")
    def ask(self, lease_id: str, *, why: str, request_id: str | None = None) -> terms.LeaseAnswer:
        """Ask the holder of a lease to release it: the holder's next answers say so."""
        return self._uses.leases.ask(self.holder, lease_id, why, request_id)

    @Operation(Schedule.QUICK, once=True, command="hand-over", route="POST /leases/{lease_id}/hand-over")
    def hand_over(self, lease_id: str, *, to: str, request_id: str | None = None) -> terms.LeaseAnswer:
        """Give a lease to another holder (such as a subagent), with a new fence: this session cannot write under it."""
        return self._uses.leases.hand_over(self.holder, lease_id, to, request_id)

    @Operation(
        Schedule.QUICK, once=True, command="break", route="POST /leases/{lease_id}/force-release", scope=Scope.REVIEWER
    )
    def break_lease(self, lease_id: str, *, reason: str, request_id: str | None = None) -> terms.LeaseAnswer:
        """End a lease by force: for people. The author, the reason and the holder's partial work are kept."""
        return self._uses.leases.break_(self.holder, lease_id, reason, request_id)

    @Operation(Schedule.QUICK, reads=True, command="get", tool="get", route="GET /values/{key}")
    def get(self, key: str) -> terms.Value:
        """Return the text of a free key (such as `account:12345`), and its version."""
        self.heartbeat()
        return self._uses.values.get(key)

    @Operation(Schedule.QUICK, once=True, command="put", tool="put", route="PUT /values/{key}")
    def put(
        self,
        key: str,
        text: str | None,
        *,
        expected_version: int,
        fence: int | None = None,
        reads: Sequence[terms.Version] = (),
        request_id: str | None = None,
    ) -> terms.PutAnswer:
        """Set the value of a free key to `text`, if it still has `expected_version` (0: never set).

        A text of None deletes the value. With a `fence` the lease with that fencing token must be live, of this
        session, and cover the key. `reads` are versions of other keys that it was based on: they must be current too,
        so two sessions that each read a key that the other writes cannot both succeed.
        """
        return self._uses.values.put(self.holder, key, text, expected_version, fence, reads, request_id)

    @Operation(command="review", route="GET /works")
    def partial_works(self) -> tuple[terms.PartialWork, ...]:
        """Return changes that holders had made when they lost their leases, and that have not been reviewed yet."""
        self._recover_if_possible()
        with although_unwritable():
            while self._uses.leases.end_expired(self._agent or ""):
                self._uses.works.look_for()
        return self._uses.works.waiting()

    @Operation(command="review resolve", route="POST /works/{lease_id}/review", scope=Scope.REVIEWER)
    def review(self, lease_id: str, *, note: str = "") -> terms.ReviewAnswer:
        """Close a partial work after a review; `note` says with what result."""
        return self._uses.works.review(self.holder, lease_id, note)

    @Operation(command="review waive", route="POST /debts/waive", scope=Scope.REVIEWER)
    def waive(self, *keys: str, note: str) -> terms.WaiveAnswer:
        """Close the debts at `keys` after a review: `note` says why nothing must be done there.

        All of them or none, in this working tree. The author and the reason are kept.
        """
        self._recover_if_possible()
        return self._uses.waivers.waive(self.holder, keys, note)

    @Operation(command="adopt", route="POST /adoptions")
    def adopt(self, *keys: str, owner: str) -> terms.AdoptAnswer:
        """Credit to this session the uncommitted changes that `owner`, a session that has ended, made to files here.

        All of them or none. No file is touched; the log keeps both names. Refused if `owner` is still at work, or is
        not known to have changed one of them.
        """
        self._recover_if_possible()
        answer = self._writing.adoption.adopt(self.holder, keys, owner)
        if answer.outcome == "adopted":
            self._uses.notifications.send(
                [owner],
                f"{texts.short_name(self.holder)} adopted what you had not committed in {', '.join(answer.paths)}",
            )
        return answer

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
        ttl_seconds: float | None = None,
        request_id: str | None = None,
    ) -> terms.RunAnswer:
        """Begin to coordinate a run, whose items are `tasks`; without any, `plan_run` adds them.

        This session is its coordinator as long as its lease on `run:ID` lasts, whose fence the other calls ask for.
        `checks` must pass after each item. Each item is edited by a session of its own, `EDITOR:RUN.TASK`. Tasks are
        added as by `add_tasks`, with the branch that is checked out here as their target. Raises as `add_tasks`.
        """
        return self._uses.runs.start(self.holder, tasks, goal, checks, editor, self._ttl(ttl_seconds), request_id)

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
        given out together. Without an item the answer says what each one waits for, and whether the run `is_over`.
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
    def managed_sessions(self, *ids: str, all_states: bool = False) -> terms.ManagedSessionAnswer:
        """Return the managed sessions that have not ended, or those with these ids; `all_states`: all.

        Raises InputError `SESSION_UNKNOWN`.
        """
        return self._uses.managed_sessions.list(ids, is_all=all_states)

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
        return self._uses.managed_sessions.change(self.holder, session, action, note, attempt, task, commit, request_id)

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

    def _ttl(self, seconds: float | None) -> float:
        return self._uses.options.ttl_seconds if seconds is None else seconds

    @Operation(Schedule.PLANNED, command="sweep", route="POST /sweep")
    def sweep(self) -> None:
        """End expired leases, grant them to their waiters, and look for partial work.

        Sessions that ended without a report are handled as well. Every call that changes anything does a part of it.
        """
        while self.sweep_some():
            pass

    def sweep_some(self) -> bool:
        """Do a part of `sweep` that takes some hundredths of a second. Return whether there is more to do."""
        if self._uses.leases.end_expired(self._agent or ""):
            self._uses.works.look_for()
            return True
        with self._uses.place.registry.together():
            if self._uses.works.look_for():
                return True
        self._writing.attendance.end_gone()
        return self._uses.works.look_for()

    @Operation(Schedule.QUICK, reads=True, in_sdk=False)
    def heartbeat(self) -> None:
        """Extend the leases of this session: every call of a holder is a sign of life."""
        if self._agent is not None:
            self._uses.leases.let_last(self._agent)

    @Operation(Schedule.QUICK, reads=True, route="GET /leases")
    def leases(self, *, holder: str | None = None) -> tuple[terms.Lease, ...]:
        """Return the live leases, oldest first, of all holders or of one."""
        return self._uses.leases.live(holder=holder)

    @Operation(Schedule.PLANNED, wrapped=True, command="commit", tool="commit", route="POST /commits")
    def commit(self, changeset: terms.Changeset, *, dry_run: bool = False) -> terms.CommitAnswer:
        """Apply all edits of a changeset or none. A dry run returns the verdict and writes nothing.

        Guarantees: edits take effect only if their named leases hold at the moment of writing, and their bases are the
        present content, or the merge of both changes is proven; several files change together, also across a crash.
        Does not guarantee that readers outside Commonhold see several files change in the same instant, nor that a
        program that writes without asking is noticed in time.
        """
        self._give_sign()
        if dry_run:
            self._recover_if_possible()
        answer = self._writing.commits.commit(self.holder, changeset, self.root, is_dry_run=dry_run)
        log_commit("dry run" if dry_run else "commit", self.holder, changeset, answer)
        asked = self._uses.leases.wishes_to(self.holder)
        known = {each.key for each in answer.repair.regions} | {each.key for each in answer.merged}
        answer = replace(answer, notices=answer.notices + asked + self._uses.notifications.notices(known))
        if answer.outcome != "refused":
            return answer
        concerned = [conflict.key for conflict in answer.conflicts]
        concerned += [region.key for region in answer.repair.regions] + [needed.key for needed in answer.required]
        return replace(answer, context=self._uses.notes.bearing_on(concerned, changeset.intent))

    @Operation(Schedule.PLANNED, once=True, command="undo")
    def undo(
        self,
        what: str,
        *,
        apply: bool = False,
        only: Sequence[str] = (),
        intent: str = "",
        request_id: str | None = None,
    ) -> terms.UndoAnswer:
        """Show how to take back commits of one session and nothing of others; with `apply`, do it, by a new commit.

        `what` is the number of a commit's event, a task (`task:ID`), or the name of a session: its commits in this
        working tree, and those of its subagents. `only` limits the undo to these files. Changes that others made since
        are merged with it, or the undo is refused and names them. The new commit is checked as any other, and can be
        undone. A task that had landed with the commits only is open again. Raises InputError `COMMIT_UNKNOWN`,
        UsageError for files that the commits did not change.
        """
        self._give_sign()
        self._recover_if_possible()
        answer = self._writing.undo.undo(
            self.holder, what, only=only, intent=intent, request_id=request_id, is_applied=apply
        )
        if answer.outcome == "undone":
            self._uses.tasks.follow(self.holder, is_all=True)
        return answer

    @Operation(Schedule.QUICK, reads=True, for_hooks=True)
    def worktree_id(self) -> str:
        """Return the name of the working tree among all that share the leases."""
        return self._uses.place.name

    @Operation(Schedule.PLANNED, for_hooks=True)
    def propose(self, changeset: terms.Changeset, *, call: str, blind: Sequence[str] = ()) -> terms.CommitAnswer:
        """Ask whether a tool of this session may write the changeset: nothing is written here.

        Admitted: the regions that it changes are leased to the session until its turn or the edit ends;
        `finish_proposal` records the result. Refused: the answer has the information that the agent needs. The
        changeset names the lease of the write slot. `blind` are files that the tool overwrites without naming their old
        content: the session must have read them.
        """
        self._recover_if_possible()
        self._writing.external_changes.record(
            [self._uses.reading.locate(edit.key).file_path for edit in changeset.edits], ""
        )
        answer = self._writing.proposals.propose(self.holder, changeset, call, blind)
        log_commit("edit", self.holder, changeset, answer)
        return self._uses.notifications.with_news(answer)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def finish_proposal(
        self, call: str, paths: Sequence[str] = (), *, unasked: str | None = None
    ) -> terms.RecordAnswer:
        """Record the results of a call's proposals (of those for `paths`, if calls have no names).

        If nothing was proposed, its tool has written without asking: with `unasked`, the intent unless the session has
        one, the changes to `paths` are recorded as this session's.
        """
        answer = self._writing.proposals.finish(self.holder, call, tuple(paths))
        if answer is None and unasked is not None:
            intent = self._writing.attendance.intent_of(self.holder) or unasked
            answer = self._writing.external_changes.record(paths, intent, self.holder)
        answer = answer or terms.RecordAnswer("nothing")
        log_external_write(self.holder, answer)
        return self._uses.notifications.with_news(answer)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def record_external_writes(self, before: Mapping[str, str | None], *, intent: str = "") -> terms.RecordAnswer:
        """Record this session's changes to files since their state in `before`: content hashes of kept bytes, by path.

        The files stay as they are. A change that could not have been committed is recorded too, and waits for review.
        """
        self._give_sign()
        answer = self._writing.external_writes.record_changes(self.holder, before, intent)
        log_external_write(self.holder, answer)
        return self._uses.notifications.with_news(answer)

    def examine_deferred(self) -> None:
        """Examine across files the changes recorded before all files were read; reads those first, which may be slow.

        The author of a change is notified of the findings. Raises CommonholdError; changes that can be retried stay for
        the next call.
        """
        self._writing.late_examination.examine()

    @Operation(for_hooks=True)
    def store_contents(self, contents: Sequence[bytes]) -> None:
        """Keep bytes, so that later changes to them can be shown, and reverted by hand."""
        self._uses.maintenance.store_contents(contents)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def record_external_changes(self, paths: Sequence[str] | None, *, intent: str = "") -> terms.RecordAnswer:
        """Record external changes to files that sessions have read or written, so that those are notified.

        `paths` None: of all that sessions have read. No session is blamed for it. A file that a session's tool is
        writing at present is left to that session.
        """
        answer = self._writing.external_changes.record(paths, intent)
        log_external_write(None, answer)
        return answer

    @Operation(Schedule.PLANNED, for_hooks=True)
    def start_session(self, process: str = "") -> terms.Briefing:
        """Begin or continue this session, in the process of that name; return its briefing."""
        self._recover_if_possible()
        return self._writing.attendance.start_session(self.holder, process)

    @Operation(reads=True, for_hooks=True)
    def briefing(self) -> terms.Briefing:
        """Return the activity of others."""
        return self._writing.attendance.briefing(self._agent or "")

    @Operation(for_hooks=True)
    def set_intent(self, intent: str) -> None:
        """Set this session's latest prompt as its intent: others see it."""
        self._writing.attendance.set_intent(self.holder, intent)

    @Operation(Schedule.QUICK, reads=True, for_hooks=True)
    def intent(self) -> str:
        """Return this session's latest prompt."""
        return self._writing.attendance.intent_of(self.holder)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def end_turn(self) -> terms.RecordAnswer:
        """End this session's turn: record the results of its proposals, and release the leases taken for them."""
        answer = self._writing.proposals.end_turn(self.holder)
        self._writing.attendance.end_turn(self.holder)
        return answer

    @Operation(reads=True, for_hooks=True)
    def offered_task(self) -> terms.TaskAnswer:
        """Return the task to offer to this session now that its turn has ended.

        None unless the setting `offer_tasks` is on, the session has claimed a task before, and it neither holds one nor
        owes repairs.
        """
        if not self._uses.options.offer_tasks or self._writing.attendance.briefing(self.holder).debts:
            return terms.TaskAnswer("none")
        return self._uses.tasks.next_for(self.holder)

    @Operation(Schedule.PLANNED, for_hooks=True)
    def end_session(self) -> terms.RecordAnswer:
        """End this session: record the results of its proposals, and release the leases taken for them."""
        answer = self._writing.proposals.end_turn(self.holder)
        self._writing.attendance.end_session(self.holder)
        return answer

    @Operation(Schedule.QUICK, reads=True, command="who", tool="status", route="GET /holders")
    def who(self, key: str) -> terms.Who:
        """Return the holders of leases that overlap `key`, those who wait, and the authors of its last changes."""
        self._recover_if_possible()
        return self._uses.queries.who(key)

    @Operation(Schedule.QUICK, reads=True, command="status", tool="status", route="GET /status")
    def status(self) -> terms.Status:
        """Return live leases, newest commits, and open debts."""
        return self._looked(self._uses.queries.status)

    @Operation(reads=True, command="top", route="GET /overview")
    def overview(self) -> terms.Overview:
        """Return the agents with their states, the line, what waits for a person, and the newest conflicts."""
        self._recover_if_possible()
        return self._views.overview()

    @Operation(reads=True, route="GET /timeline")
    def timeline(self, *, limit: int = 5000) -> terms.Timeline:
        """Return the newest `limit` events (up to 20,000) as spans and marks over time, and the activity by file."""
        return self._views.timeline(limit)

    @Operation(reads=True, route="GET /notes")
    def search_notes(self, words: str) -> tuple[terms.NoteQuote, ...]:
        """Return the beginnings of the sections of the project's notes that have all the words, or some; best first."""
        return self._uses.surroundings.search_notes(words)

    @Operation(reads=True, command="log", route="GET /events")
    def log(
        self, *, after: int | None = None, limit: int = 100, lease_id: str | None = None
    ) -> tuple[terms.Recorded, ...]:
        """Return events in order: those after the sequence `after` (with a lease: after 0), or the newest."""
        return self._uses.queries.log(after=after, limit=limit, lease_id=lease_id)

    @Operation(reads=True, command="explain", route="GET /explanations")
    def explain(self, what: str) -> terms.Account:
        """Explain from the log why something was refused, waited or changed: events in words, with their reasons.

        `what` is the number of an event, the id of a lease, a task (`task:ID`), a run (`run:ID`), an entry of the merge
        queue (`entry:ID`), or a key in any form: for a key, the newest events about it. Raises InputError
        `EVENT_UNKNOWN`, `TASK_UNKNOWN`, and those of keys.
        """
        # Loaded here: it is only for people.
        from commonhold.history.explain import Explain  # noqa: PLC0415

        return Explain(self._uses.place, self._uses.reading).explain(what)

    @Operation(reads=True, command="replay")
    def replay(self, *, since: int = 0, until: int | None = None) -> terms.ReplayAnswer:
        """Reconstruct the states of the log, and check that the decisions from `since` to `until` come out the same.

        `.difference` is the first one that does not, or the first event that does not fit the state before it. Without
        `until` the last state is compared with the stored one, too. Raises InputError `EVENT_UNKNOWN` for a range that
        the log does not have.
        """
        # Loaded here: it is only for people.
        from commonhold.history.check import check_log  # noqa: PLC0415

        return check_log(self._uses.place, since, until)

    @Operation(reads=True, for_hooks=True, route="GET /commits")
    def commits_on(self, path: str, *, limit: int = 200) -> tuple[terms.Recorded, ...]:
        """Return the newest commits in this working tree that touched the file at `path`, oldest first."""
        return self._uses.queries.commits_on(path, limit)

    @Operation(reads=True, command="show", route="GET /contents/{content_hash}")
    def content(self, content_hash: str) -> bytes:
        """Return kept bytes, by hash. Raises InputError `CONTENT_UNKNOWN`."""
        return self._uses.queries.content(content_hash)

    @Operation(reads=True, command="doctor", route="POST /recover", scope=Scope.ADMIN)
    def recover(self) -> tuple[terms.CommitUndone, ...]:
        """Take back commits that a crash interrupted; every commit and read does so first."""
        return self._uses.maintenance.recover()

    def _looked(self, question: Callable[[], T]) -> T:
        """Answer from the same view that shows that no recovery is necessary; otherwise recover first, then answer.

        Leases kept elsewhere are not queried inside a view of the local state.
        """
        if not self.is_shared:
            with self._uses.place.store.read():
                if self._uses.maintenance.is_whole() and (not self._agent or self._uses.leases.will_last(self._agent)):
                    return question()
        self._uses.maintenance.recover_for_reading()
        self.heartbeat()
        return question()

    def _recover_if_possible(self) -> None:
        self._uses.maintenance.wait_for_halves()
        self._looked(lambda: None)

    @Operation(command="doctor", route="POST /retention", scope=Scope.ADMIN)
    def apply_retention(self) -> None:
        """Delete kept contents whose retention is over."""
        self._uses.maintenance.apply_retention()

    def close(self) -> None:
        """Close the state. Leases stay as they are."""
        if self._written_with is not None:
            self._written_with.close()
        self._uses.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


OPERATIONS: Final = declared(Service)
"""The operations of the service, by name."""
