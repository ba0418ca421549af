"""The managed sessions of one repository: the use cases of those who start and review them, and of supervisors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from commonhold.kernel.answers import Next
from commonhold.kernel.clock import Now
from commonhold.kernel.entry import EntryRecord
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.lease import check_ttl
from commonhold.kernel.managed_session import (
    MOST_LISTED_SESSIONS,
    EndCause,
    ManagedSession,
    ManagedSessionRecord,
    Sandbox,
    SessionChoice,
    SessionState,
)
from commonhold.kernel.ports import Ids, Revisions, TaskReader
from commonhold.kernel.refs import full_ref
from commonhold.kernel.task import Task, TaskState
from commonhold.kernel.texts import CONTROL_IN_LINES, MAX_HOLDER_LENGTH, MAX_TEXT_LENGTH, check_line, duration
from commonhold.leases.idempotency import IdentifiedRequest, once
from commonhold.leases.registry import task_storage
from commonhold.leases.requests import check_reason
from commonhold.sessions.answers import ManagedSessionAnswer, ManagedSessionView
from commonhold.sessions.choice import blocked_sessions, is_ready, next_session, places_of
from commonhold.sessions.commands import (
    AttachSession,
    ChangeSession,
    ClaimSession,
    ReportSession,
    SessionAction,
    SessionChanged,
    SessionClaimed,
    SessionCommand,
    SessionLimits,
    SessionOutcome,
    SessionRefused,
    SessionReport,
    SessionsSettled,
    SettleSessions,
    StartSession,
)
from commonhold.sessions.decide import ENGINE, unknown
from commonhold.sessions.landing import LandingMove, LandingStep, landing_step
from commonhold.sessions.options import SessionOptions
from commonhold.sessions.queue import SessionQueue, session_board, table_of
from commonhold.sessions.quotas import Quotas, why_never
from commonhold.sessions.task_claims import blocked_by_tasks
from commonhold.tasks.board import Board
from commonhold.tasks.turn import unknown_task
from commonhold.workspace.place import WorktreeState

MOST_TASK_CHARACTERS: Final = 100_000
MOST_CHECKS: Final = 20
MOST_PRIORITY: Final = 1_000
MOST_ATTEMPTS: Final = 20
LEAST_MEMORY_BYTES: Final = 16 << 20
MOST_SECONDS: Final = 7 * 86_400.0
_EXPLAINED: Final = (SessionAction.CANCEL, SessionAction.DISCARD)


@dataclass(frozen=True, slots=True)
class SessionsSeen:
    """Work for the daemon: lost supervisors to note, sessions to begin, or that go on without a command.

    `awaited` are the tasks that queued sessions wait for to land: they are done already. `has_landing`: the work of
    some is on its way through the merge queue.
    """

    has_lost: bool
    can_begin: bool
    has_work: bool
    has_landing: bool = False
    awaited: tuple[str, ...] = ()


class ManagedSessions:
    """The managed sessions of one repository, for one session name."""

    def __init__(
        self,
        place: WorktreeState,
        ids: Ids,
        revisions: Revisions | None,
        where: str,
        wake: Callable[[], None],
        quotas: Quotas,
    ) -> None:
        """Keep sessions where the leases are kept. `where` names the machine and state folder that they run at.

        `wake` tells the workers to look at the queue; it neither waits nor fails. `quotas` are those of tenants.
        """
        self._root = place.files.root
        self._ids = ids
        self._revisions = revisions
        self._where = where
        self._wake = wake
        self._quotas = quotas
        tables, clock = task_storage(place)
        self.is_shared = tables is not place.store
        self._queue = SessionQueue(tables, clock)

    def start(
        self, holder: str, task: str, agent: str, options: SessionOptions, request_id: str | None
    ) -> ManagedSessionAnswer:
        """Add a session to the queue. Its id, root, place and branch are given here."""
        if self._revisions is None:
            raise InputError(
                Code.REPOSITORY_PLAIN,
                "a managed session needs a git repository: its workspace is a git worktree",
                hint="make it one: git init, git add, git commit",
            )
        rest: dict[str, Any] = {**options, "checks": tuple(options.get("checks", ()))}
        rest |= {"sandbox": Sandbox(rest.get("sandbox", "none")), "exposed": tuple(rest.get("exposed", ()))}
        onto = ""
        if task_id := options.get("task_id", ""):
            known = self._task(task_id)
            onto = known.target if options.get("lands") else ""
            task = task or "\n\n".join(filter(None, (known.title, known.intent)))
            rest["checks"] = tuple(dict.fromkeys((*rest["checks"], *known.checks)))
        base = rest.pop("base", "") or onto or "HEAD"
        where = "" if options.get("remote") else self._where
        session = _checked(ManagedSession("", task, agent, "", self._root, where, **rest))
        commit, branch = self._revisions.commit_of(base), onto or self._revisions.branch()
        if session.lands and not branch:
            raise invalid("its work can land on a branch only, and none is checked out here", "git switch BRANCH")
        if session.remote and not self.is_shared:
            raise invalid(
                "no worker sees it, because sessions are not kept in a PostgreSQL that all machines share",
                "set the setting `store`: commonhold config store",
            )
        if never := why_never(session, self._quotas):
            raise invalid(*never)
        command = StartSession(holder, replace(session, base=commit, branch=branch))
        return self._answer(self._run(command, request_id, (session, base)), "started")

    def _task(self, task_id: str) -> Task:
        with self._queue.read() as reader:
            found = {each.id: each.task for each in reader.tasks_in_question((task_id,))}
        if task_id not in found:
            raise unknown_task(task_id)
        return found[task_id]

    def change(self, command: ChangeSession, request_id: str | None) -> ManagedSessionAnswer:
        """Change a session for a person; see SessionAction. CANCEL and DISCARD need a reason."""
        if command.action in _EXPLAINED:
            check_reason(command.note, "reason")
        check_line(command.note, "note", MAX_TEXT_LENGTH)
        if command.task:
            _check_task(command.task)
        return self._answer(self._run(command, request_id, command))

    def report(
        self, holder: str, session: str, report: SessionReport, attempt: int, fence: int, request_id: str | None
    ) -> ManagedSessionAnswer:
        """End a turn for the supervisor that holds the fence."""
        command = ReportSession(holder, session, attempt, fence, report)
        return self._answer(self._run(command, request_id, command))

    def look(self, limits: SessionLimits, *, takes_any: bool = False) -> SessionsSeen:
        """Return the daemon's work for the sessions of this place, by one question to the store.

        `takes_any`: it may also begin one that any worker may run.
        """
        with self._queue.read() as reader:
            table = table_of(reader)
            now, leases = self._queue.now(), {each.id: each for each in table.board.leases.leases}
        places = places_of(self._where, takes_any=takes_any)
        live = {each for each, lease in leases.items() if lease.is_live(now)}
        sessions = table.sessions.values()
        found = next_session(sessions, table.served, places, limits, now, table.board)
        return SessionsSeen(
            has_lost=any(each.state is SessionState.RUNNING and each.lease_id not in live for each in sessions),
            can_begin=not isinstance(found, str),
            has_work=any(each.place == self._where and _goes_on(each) for each in sessions),
            has_landing=any(each.is_landing and each.place == self._where for each in sessions),
            awaited=tuple(_awaited(sessions, table.board)),
        )

    def claim(
        self, limits: SessionLimits, ttl_seconds: float, *, takes_any: bool = False
    ) -> ManagedSessionRecord | None:
        """Claim the next session that can run here, with `takes_any` also one of any worker; None if none can."""
        lease_id, tips = self._ids.new("lease"), self._tips()
        command = ClaimSession(ENGINE, self._where, limits, lease_id, ttl_seconds, takes_any, tips)
        outcome = self._queue.execute(command)
        return outcome.record if isinstance(outcome, SessionClaimed) else None

    def _tips(self) -> dict[str, str]:
        """Return the last commits of the branches from which the queued sessions began that may start there."""
        if self._revisions is None:
            return {}
        with self._queue.read() as reader:
            records = reader.managed_sessions_in_question(())
        waiting = [each.session for each in records if each.state is SessionState.QUEUED]
        waiting = [each for each in waiting if each.task_id or each.lands]
        tips: dict[str, str] = {}
        for branch in {each.branch for each in waiting if each.branch and not each.remote}:
            with suppress(InputError):  # the branch is gone: the session starts from its base
                tips[branch] = self._revisions.commit_of(full_ref(branch))
        return tips

    def attach(
        self, holder: str, session: str, attempt: int, ttl_seconds: float, request_id: str | None
    ) -> ManagedSessionAnswer:
        """Claim a paused session of this place for a person at a terminal, with the lease of a supervisor."""
        check_ttl(ttl_seconds)
        lease_id = self._ids.new("lease")
        command = AttachSession(holder, session, attempt, self._where, lease_id, ttl_seconds, self._quotas)
        return self._answer(self._run(command, request_id, (session, attempt)))

    def settle(self) -> tuple[str, ...]:
        """Note the running sessions whose supervisors were lost. Return their ids."""
        outcome = self._queue.execute(SettleSessions(ENGINE))
        return outcome.lost if isinstance(outcome, SessionsSettled) else ()

    def landing(self) -> tuple[tuple[ManagedSessionRecord, LandingStep], ...]:
        """Return the sessions of this place that land without a review, each with its next step."""
        with self._queue.read() as reader:
            records = reader.managed_sessions_in_question(())
            own = [each for each in records if each.is_landing and each.place == self._where]
            entries = reader.entries_in_question(_commits_of(own)) if own else ()
        return tuple((each, landing_step(each, entries)) for each in own)

    def list(
        self, ids: Sequence[str], choice: SessionChoice, before: str, within_seconds: float | None
    ) -> ManagedSessionAnswer:
        """Return sessions, the newest last: those with an id, or those of `choice`.

        `before`: only those that were started before this session; `within_seconds`: only those whose state has changed
        within so many seconds. Raises InputError `SESSION_UNKNOWN`.
        """
        has_older = False
        with self._queue.read() as reader:
            found = reader.managed_sessions_in_question((*ids, before)) if ids or before else ()
            known = {each.id: each for each in found}
            if missing := [each for each in (*ids, *filter(None, (before,))) if each not in known]:
                raise unknown(missing[0])
            if not ids:
                limit = max(1, min(choice.limit, MOST_LISTED_SESSIONS))
                number = known[before].number if before else choice.before
                since = 0.0 if within_seconds is None else self._queue.now().wall - within_seconds
                listed = reader.managed_sessions(replace(choice, limit=limit + 1, before=number, since=since))
                found, has_older = listed[-limit:], len(listed) > limit
        views = self._views([known[each] for each in ids] if ids else found)
        return ManagedSessionAnswer("listed", views, has_older=has_older)

    def _views(self, records: Sequence[ManagedSessionRecord]) -> tuple[ManagedSessionView, ...]:
        waiting = {each.session.task_id for each in records if each.state in (SessionState.QUEUED, SessionState.PAUSED)}
        landing = [each for each in records if each.is_landing]
        with self._queue.read() as reader:
            board = session_board(reader, waiting - {""})
            entries = _entries_of(reader, records)
            added = reader.entries_in_question(_commits_of(landing)) if landing else ()
        steps = {each.id: landing_step(each, added) for each in landing}
        leases = {each.id: each for each in board.leases.leases}
        now = self._queue.now()
        blocked = self._blocked(records, board, now)
        views = []
        for record in records:
            lease = leases.get(record.lease_id)
            left = max(0.0, lease.deadline.ticks - now.ticks) if lease is not None and lease.is_live(now) else 0.0
            why = ""
            if record.state is SessionState.PAUSED and not record.is_due:
                why = "it waits until it is resumed"
            elif record.due is not None and not is_ready(record, now):
                limited = ": the agent's account is rate-limited" if record.cause is EndCause.RATE_LIMITED else ""
                why = f"it goes on in {duration(record.due.ticks - now.ticks)}{limited}"
            elif is_ready(record, now):
                why = blocked.get(record.id, "")
            step = steps.get(record.id)
            entry = step.entry if step else entries.get(record.id)
            needs_person = record.state is SessionState.AWAITING_REVIEW and (not step or step.move is LandingMove.STOP)
            age = max(0.0, now.wall - record.since)
            why = step.why if step else why
            views.append(ManagedSessionView(record, left > 0, left, why, age, entry, needs_person))
        return tuple(views)

    def _blocked(self, records: Sequence[ManagedSessionRecord], board: Board, now: Now) -> dict[str, str]:
        """Return, by the ids of those of these sessions that cannot be claimed now, the reason as a clause."""
        ready = [each for each in records if is_ready(each, now)]
        if not (ready and self._quotas):
            return blocked_by_tasks(ready, board, now)
        with self._queue.read() as reader:
            table = table_of(reader)
        every = table.sessions.values()
        blocked: dict[str, str] = {}
        for place in {each.place for each in ready}:
            there = [each for each in every if each.place == place and is_ready(each, now)]
            blocked |= blocked_sessions(there, every, self._quotas, table.board, now)
        return blocked

    def _run(self, command: SessionCommand, request_id: str | None, content: object) -> SessionOutcome:
        outcome = self._queue.execute(command, once(IdentifiedRequest(command.holder, request_id, content)))
        if isinstance(outcome, SessionChanged):
            self._wake()  # it waits now, or its end has made room for another
        return outcome

    def _answer(self, outcome: SessionOutcome, word: str = "changed") -> ManagedSessionAnswer:
        match outcome:
            case SessionChanged(record):
                views = self._views([record])
                return ManagedSessionAnswer("started" if word == "started" else "changed", views)
            case SessionClaimed(record, _):
                return ManagedSessionAnswer("changed", self._views([record]))
            case SessionRefused(code, why, record):
                step = Next("session show", {"session": record.id})
                return ManagedSessionAnswer("refused", self._views([record]), code, why, step)
            case _:
                raise UsageError(
                    Code.REQUEST_ID_REUSED, "the request id was used for another call", hint="take a new id"
                )


def _entries_of(reader: TaskReader, records: Sequence[ManagedSessionRecord]) -> dict[str, EntryRecord]:
    """Return the newest entry of the merge queue for each of these sessions that was approved and has one.

    The one with the approved commit is found however old it is; one with a repaired commit among the newest.
    """
    commits = tuple(each.commit for each in records if each.state is SessionState.COMPLETED and each.commit)
    if not commits:
        return {}
    found = (*reader.entries_in_question(commits), *reader.entries(limit=MOST_LISTED_SESSIONS))
    return {each.entry.session: each for each in sorted(found, key=lambda each: each.number)}


def _commits_of(records: Iterable[ManagedSessionRecord]) -> tuple[str, ...]:
    """Return the commits that the attempts of these sessions ended with."""
    return tuple(each.result.tip for record in records for each in record.attempts if each.result is not None)


def _awaited(records: Iterable[ManagedSessionRecord], board: Board) -> Iterator[str]:
    names = {each.session.task_id for each in records if each.state is SessionState.QUEUED}
    needs = {need for name in names & board.tasks.keys() for need in board.tasks[name].task.needs}
    return (name for name in sorted(needs & board.tasks.keys()) if board.tasks[name].state is TaskState.DONE)


def _goes_on(record: ManagedSessionRecord) -> bool:
    """Whether it is running, or will run without a further command."""
    is_paused = record.state is SessionState.PAUSED
    return record.state in (SessionState.QUEUED, SessionState.RUNNING) or (is_paused and record.is_due)


def _check_task(text: str) -> None:
    if not text.strip():
        raise invalid("its task is empty", "say what the agent is to do")
    if len(text) > MOST_TASK_CHARACTERS:
        raise invalid(
            f"its task has {len(text):,} characters, and {MOST_TASK_CHARACTERS:,} are the limit",
            "put the text into a file of the repository, and name that file",
        )
    if found := CONTROL_IN_LINES.search(text):
        raise invalid(f"its task holds the control character {found[0]!a}", "write printable text")


def _checked(session: ManagedSession) -> ManagedSession:
    _check_task(session.task)
    if not session.agent.strip():
        raise invalid("it names no agent", "commonhold session start TASK --with 'COMMAND {prompt_file}'")
    for what, text in (("agent", session.agent), ("setup", session.setup), ("teardown", session.teardown)):
        check_line(text, what, MAX_TEXT_LENGTH)
    for check in session.checks:
        check_line(check, "check", MAX_TEXT_LENGTH)
    check_line(session.tenant, "tenant", MAX_HOLDER_LENGTH)
    _check_remote(session)
    _check_sandbox(session)
    if len(session.checks) > MOST_CHECKS:
        raise invalid(f"it has more than {MOST_CHECKS} checks", "join them into a script")
    if abs(session.priority) > MOST_PRIORITY:
        raise invalid(f"its priority is not between -{MOST_PRIORITY} and {MOST_PRIORITY}", "choose one between them")
    if not 1 <= session.most_attempts <= MOST_ATTEMPTS:
        raise invalid(f"its number of attempts is not between 1 and {MOST_ATTEMPTS}", "choose one between them")
    for what, seconds in (("timeout", session.timeout_seconds), ("time of silence", session.silence_seconds)):
        if not 0 < seconds <= MOST_SECONDS:
            raise invalid(f"its {what} is not between 0 and 7 days", "give seconds, or 30m, 2h, 1d")
    return session


def _check_remote(session: ManagedSession) -> None:
    check_line(session.remote, "remote", MAX_HOLDER_LENGTH)
    if session.remote.startswith("-"):
        raise invalid(f"{session.remote!r} is no name of a git remote", "`git remote` lists them")
    if session.remote and session.lands:
        raise invalid("the merge queue takes branches of this repository only", "leave --land or --remote out")


def _check_sandbox(session: ManagedSession) -> None:
    if session.cpus < 0 or (session.memory_bytes and session.memory_bytes < LEAST_MEMORY_BYTES):
        raise invalid("its limits are too low", f"give at least {LEAST_MEMORY_BYTES >> 20}m, and 0.1 processors")
    for path in session.exposed:
        check_line(path, "exposed path", MAX_TEXT_LENGTH)
        if not path.startswith("/"):
            raise invalid(f"the exposed path {path!r} is not absolute", "write it from the root on")
    if session.sandbox is Sandbox.NONE and (session.network or session.exposed):
        why = "without a sandbox it has the network and all files in any case"
        raise invalid(why, "leave --network and --expose out, or add --sandbox bubblewrap or docker")


def invalid(why: str, hint: str) -> InputError:
    """Return the error for a session that cannot be started; `why` is a clause."""
    return InputError(Code.SESSION_INVALID, f"the session cannot be started: {why}", hint=hint)
