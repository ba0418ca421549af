"""Managed sessions as the log records them: agents that Commonhold starts on a task, each in a workspace of its own.

`SESSION_TRANSITIONS` is the only place that says which state follows which; the diagram in docs/sessions.md is drawn
from it. A running session is held by a lease on `session:ID`; its fence tells its supervisor from any earlier one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from commonhold.kernel.clock import Deadline
from commonhold.kernel.entry import UNLIMITED
from commonhold.kernel.run import NOTHING_USED, TokenUsage

DEFAULT_SESSION_ATTEMPTS: Final = 3
DEFAULT_TIMEOUT_SECONDS: Final = 3600.0
DEFAULT_SILENCE_SECONDS: Final = 900.0
MOST_LISTED_SESSIONS: Final = 1_000
"""The most sessions in one answer."""
MOST_KEPT_ATTEMPTS: Final = 20
"""How many attempts a record keeps; the log has all of them."""


class SessionState(StrEnum):
    """The states of a managed session."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    AWAITING_REVIEW = "awaiting_review"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class SessionMove(StrEnum):
    """The transitions, each named for its cause.

    ASK records a person's wish to pause or cancel a running session, which its supervisor carries out. LOSE follows a
    supervisor whose lease has ended. RESUME ends the wait of a paused session: it goes on with the next free place.
    """

    CLAIM = "claim"
    ASK = "ask"
    PAUSE = "pause"
    RESUME = "resume"
    FINISH = "finish"
    LOSE = "lose"
    FAIL = "fail"
    CANCEL = "cancel"
    APPROVE = "approve"
    DISCARD = "discard"
    RETRY = "retry"


_NAME: Final = re.compile("[a-z][a-z0-9-]*")
_Q, _R, _P, _A = SessionState.QUEUED, SessionState.RUNNING, SessionState.PAUSED, SessionState.AWAITING_REVIEW
SESSION_TRANSITIONS: Final[Mapping[tuple[SessionState, SessionMove], SessionState]] = {
    (_Q, SessionMove.CLAIM): _R,
    (_R, SessionMove.ASK): _R,
    (_R, SessionMove.PAUSE): _P,
    (_P, SessionMove.RESUME): _P,
    (_P, SessionMove.PAUSE): _P,
    (_P, SessionMove.CLAIM): _R,
    (_R, SessionMove.FINISH): _A,
    (_R, SessionMove.LOSE): _Q,
    (_R, SessionMove.FAIL): SessionState.FAILED,
    (_A, SessionMove.APPROVE): SessionState.COMPLETED,
    (_A, SessionMove.DISCARD): SessionState.CANCELLED,
    **{(state, SessionMove.CANCEL): SessionState.CANCELLED for state in (_Q, _R, _P, _A)},
    **{(state, SessionMove.RETRY): _Q for state in (_A, SessionState.FAILED, SessionState.CANCELLED)},
}
FINAL: Final = frozenset({SessionState.COMPLETED, SessionState.FAILED, SessionState.CANCELLED})
"""The states in which no process and no person is expected to do anything more."""


class EndCause(StrEnum):
    """The cause of the end of an attempt, or of a pause; the note says more.

    EXITED: the agent ended by itself, with `status`. KILLED: a signal that Commonhold did not send ended it; `status`
    is minus its number. SILENT: it printed nothing for too long; LOG_FULL: it printed too much. OUT_OF_MEMORY: the
    kernel killed a process of it at its limit. ENGINE_LOST: the engine of its sandbox did not answer, or ended it.
    LOST: its supervisor died. RATE_LIMITED: the agent's account has reached a limit of its provider.
    """

    EXITED = "exited"
    KILLED = "killed"
    NOT_STARTED = "not_started"
    SETUP_FAILED = "setup_failed"
    CHECK_FAILED = "check_failed"
    TIMED_OUT = "timed_out"
    SILENT = "silent"
    LOG_FULL = "log_full"
    OUT_OF_MEMORY = "out_of_memory"
    ENGINE_LOST = "engine_lost"
    LOST = "lost"
    RATE_LIMITED = "rate_limited"
    ASKED = "asked"


class SessionWish(StrEnum):
    """A wish about a running session that its supervisor carries out."""

    PAUSE = "pause"
    CANCEL = "cancel"


class Sandbox(StrEnum):
    """The confinement of a session's commands. NONE: they run with all rights of the daemon's user."""

    NONE = "none"
    BUBBLEWRAP = "bubblewrap"
    DOCKER = "docker"


@dataclass(frozen=True, slots=True)
class ManagedSession:
    """A session as its starter defined it.

    `task` is the text for the agent. `agent` is the name of a known agent, or the template of a command. It starts
    at the commit `base` (a full hash), which its starter had checked out in the working tree `root`, on `branch`
    (empty if none). `place` names the machine and the state folder where it can run; it is empty for a session that
    any worker may run, which gets the base and gives back its work through the git `remote`. `setup` prepares the
    workspace, `teardown` is run before it is removed, all `checks` must pass after the agent: commands for a shell.
    A higher `priority` goes first among the sessions of a `tenant`. It is ended after `timeout_seconds`, or
    `silence_seconds` without output. A session whose supervisor was lost is tried `most_attempts` times. While it
    runs it holds the claim of the task `task_id`, if it has one. In a `sandbox` its commands write to the workspace
    only, have no `network` unless it is true, and see nothing of the home folder but the `exposed` paths (with
    `:rw` they may write there).
    All its processes together use at most `memory_bytes` and `cpus` processors; 0: no limit.
    One that `lands` needs no review: its work enters the merge queue once its checks have passed.
    """

    id: str
    task: str
    agent: str
    base: str
    root: str
    place: str
    branch: str = ""
    setup: str = ""
    teardown: str = ""
    checks: tuple[str, ...] = ()
    priority: int = 0
    tenant: str = ""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    silence_seconds: float = DEFAULT_SILENCE_SECONDS
    most_attempts: int = DEFAULT_SESSION_ATTEMPTS
    task_id: str = ""
    sandbox: Sandbox = Sandbox.NONE
    network: bool = False
    exposed: tuple[str, ...] = ()
    memory_bytes: int = 0
    cpus: float = 0.0
    remote: str = ""
    lands: bool = False

    @property
    def worker(self) -> str:
        """The name under which its agent holds leases and claims."""
        return f"{self.agent if _NAME.fullmatch(self.agent) else 'agent'}:{self.id}"

    @property
    def title(self) -> str:
        """The first line of the task."""
        return self.task.strip().partition("\n")[0]


@dataclass(frozen=True, slots=True)
class SessionResult:
    """The work of an attempt, as full hashes of git commits.

    `tip` is the end of its branch. `snapshot` is a commit on top of it that has the uncommitted changes, too; it is
    `tip` if there are none.
    """

    tip: str
    snapshot: str

    @property
    def has_uncommitted(self) -> bool:
        """Whether the agent left changes that it did not commit."""
        return self.tip != self.snapshot


@dataclass(frozen=True, slots=True)
class SessionAttempt:
    """One try. `end` is None while it runs; `turns` counts the starts of its agent: one more after each pause.

    `place` is where it runs; empty in records of earlier versions, which have only that of the session. `usage` is that
    of all its turns, as far as the agent has reported it. `rate_limits` counts the turns that ended at a rate limit, in
    a row.
    """

    number: int
    began_at: float
    turns: int = 1
    ended_at: float | None = None
    end: SessionMove | None = None
    cause: EndCause | None = None
    status: int | None = None
    note: str = ""
    result: SessionResult | None = None
    place: str = ""
    usage: TokenUsage = NOTHING_USED
    rate_limits: int = 0


@dataclass(frozen=True, slots=True)
class SessionQueued:
    """A managed session was started: it waits for a free place."""

    holder: str
    session: ManagedSession


@dataclass(frozen=True, slots=True)
class SessionMoved:
    """A managed session changed its state, by `holder`, in the attempt of that number.

    A CLAIM has the supervisor's lease with its fence, the `place` where it runs, and the `slot`, the number of the
    port range that it prefers; it may have another `base` from which the attempt starts. A person of the
    name `attached` claims it for a terminal. An ASK has the `wish`. A
    PAUSE or LOSE may have the instant `due` from which it goes on by itself. A RETRY may have a new `task`, an
    APPROVE has the merge `commit` (empty: it was merged elsewhere). The end of a turn has its `usage`, if the agent
    has reported it.
    """

    holder: str
    session_id: str
    move: SessionMove
    attempt: int
    note: str = ""
    cause: EndCause | None = None
    status: int | None = None
    result: SessionResult | None = None
    lease_id: str | None = None
    fence: int = 0
    slot: int = 0
    wish: SessionWish | None = None
    due: Deadline | None = None
    task: str = ""
    commit: str = ""
    place: str = ""
    base: str = ""
    usage: TokenUsage | None = None
    attached: str = ""


@dataclass(frozen=True, slots=True)
class ManagedSessionRecord:
    """A managed session with its state. `number` is the sequence of the event that started it; `since` a Unix time.

    `tries` counts the attempts since it was started or retried. `claimed` is the sequence of its last claim, 0 if it
    never ran. `lease_id` and `fence` are those of its supervisor; `attached` is the person at whose terminal it runs,
    empty if an agent works without one. A paused session goes on when `is_due`, or from `due`
    on. `commit` is the merge commit of an approved one.
    """

    session: ManagedSession
    number: int
    started_by: str
    started_at: float
    since: float
    state: SessionState = SessionState.QUEUED
    attempt: int = 0
    tries: int = 0
    claimed: int = 0
    lease_id: str = ""
    fence: int = 0
    slot: int = 0
    wish: SessionWish | None = None
    is_due: bool = True
    due: Deadline | None = None
    note: str = ""
    cause: EndCause | None = None
    status: int | None = None
    result: SessionResult | None = None
    commit: str = ""
    attempts: tuple[SessionAttempt, ...] = ()
    attached: str = ""

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.session.id

    @property
    def is_final(self) -> bool:
        """Whether nothing more is expected to happen to it."""
        return self.state in FINAL

    @property
    def is_landing(self) -> bool:
        """Whether it awaits no person, but the merge queue."""
        return self.session.lands and self.state is SessionState.AWAITING_REVIEW

    @property
    def place(self) -> str:
        """Where it runs, or ran last; where it can run, if it is queued: empty is on any worker."""
        is_there = self.attempts and self.state is not SessionState.QUEUED
        return (self.attempts[-1].place if is_there else "") or self.session.place

    @property
    def usage(self) -> TokenUsage:
        """The usage of all attempts that the record keeps."""
        return sum((each.usage for each in self.attempts), NOTHING_USED)

    def can(self, move: SessionMove) -> bool:
        """Whether the table has this transition from the present state."""
        return (self.state, move) in SESSION_TRANSITIONS


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """Which managed sessions are asked for: by default all of them.

    `is_open`: only those that have not ended. Of `state`, `task_id` and `tenant` each that is not None or empty must be
    theirs. `since`: only those that are in their state since this Unix time at most so long. At most `limit` of those
    that were started before the event `before`: the newest.
    """

    is_open: bool = False
    state: SessionState | None = None
    task_id: str = ""
    tenant: str = ""
    since: float = 0.0
    before: int = UNLIMITED
    limit: int = UNLIMITED


ALL_SESSIONS: Final = SessionChoice()


def queued_session(event: SessionQueued, sequence: int, at: float) -> ManagedSessionRecord:
    """Return the record of a session that the event with this sequence started at a Unix time."""
    return ManagedSessionRecord(event.session, sequence, event.holder, at, at)


def moved_session(before: ManagedSessionRecord, event: SessionMoved, sequence: int, at: float) -> ManagedSessionRecord:
    """Return the record after a transition. Raises KeyError for one that `SESSION_TRANSITIONS` does not have."""
    state = SESSION_TRANSITIONS[before.state, event.move]
    if event.move is SessionMove.ASK:
        return replace(before, wish=event.wish, note=event.note)
    if event.move is SessionMove.CLAIM:
        return _claimed(replace(before, state=state, since=at), event, sequence, at)
    after = replace(
        before,
        state=state,
        since=at,
        note=event.note,
        cause=event.cause,
        status=event.status,
        lease_id="",
        fence=0,
        wish=None,
        result=event.result or before.result,
        is_due=event.move is not SessionMove.PAUSE or event.due is not None,
        due=event.due,
        attached="",
    )
    if before.state is SessionState.RUNNING:
        last = before.attempts[-1]
        last = replace(
            last,
            ended_at=at,
            end=event.move,
            cause=event.cause,
            status=event.status,
            note=event.note,
            result=event.result,
            usage=last.usage + (event.usage or NOTHING_USED),
            rate_limits=last.rate_limits + 1 if event.cause is EndCause.RATE_LIMITED else 0,
        )
        return replace(after, attempts=(*before.attempts[:-1], last))
    if event.move is SessionMove.RETRY:
        session = replace(before.session, task=event.task) if event.task else before.session
        return replace(after, session=session, tries=0, result=None)
    return replace(after, commit=event.commit) if event.move is SessionMove.APPROVE else after


def _claimed(record: ManagedSessionRecord, event: SessionMoved, sequence: int, at: float) -> ManagedSessionRecord:
    """Begin a new attempt, or the next turn of the one that was paused."""
    if event.attempt == record.attempt:
        last = record.attempts[-1]
        attempt = replace(last, turns=last.turns + 1, ended_at=None, end=None, cause=None, status=None, note="")
        attempts = (*record.attempts[:-1], attempt)
    else:
        attempts = (*record.attempts, SessionAttempt(event.attempt, at, place=event.place))[-MOST_KEPT_ATTEMPTS:]
    return replace(
        record,
        session=replace(record.session, base=event.base) if event.base else record.session,
        attempt=event.attempt,
        tries=record.tries + (event.attempt != record.attempt),
        claimed=sequence,
        lease_id=event.lease_id or "",
        fence=event.fence,
        slot=event.slot,
        note="",
        cause=None,
        status=None,
        due=None,
        attempts=attempts,
        attached=event.attached,
    )
