"""Commands on managed sessions and their outcomes, as values.

A supervisor names the attempt and the fence of its lease: one that was replaced cannot change anything. A person names
the attempt that he has seen, if the command must apply to no other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from commonhold.kernel.lease import Lease
from commonhold.kernel.managed_session import EndCause, ManagedSession, ManagedSessionRecord, SessionMove, SessionResult
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import TokenUsage
from commonhold.sessions.quotas import Quotas


class SessionAction(StrEnum):
    """How a person changes a managed session.

    PAUSE and CANCEL end its agent. RESUME goes on with a paused one, RETRY starts one anew from its base. APPROVE and
    DISCARD end a review.
    """

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    RETRY = "retry"
    APPROVE = "approve"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How many sessions may run at once in one place, and how many may await review before no more are claimed.

    `tenants` are the quotas of tenants, over all places.
    """

    running: int = 4
    awaiting_review: int = 20
    tenants: Quotas = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StartSession:
    """Add a session to the queue; its id is given by the store."""

    holder: str
    session: ManagedSession


@dataclass(frozen=True, slots=True)
class ClaimSession:
    """Claim the next session of a place for a supervisor, with a lease for `ttl_seconds` under `lease_id`.

    `takes_any`: the place belongs to a worker, which takes those that may run anywhere, too. `tips`: by the names of
    branches, the commits that they end with; a session whose task needs others starts there, where their work is.
    """

    holder: str
    place: str
    limits: SessionLimits
    lease_id: str
    ttl_seconds: float
    takes_any: bool = False
    tips: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttachSession:
    """Claim a paused session for its holder, who works on it at a terminal of the machine at `place`.

    `attempt` is the one that was seen. The lease is that of a supervisor. `quotas` are those of tenants.
    """

    holder: str
    session_id: str
    attempt: int
    place: str
    lease_id: str
    ttl_seconds: float
    quotas: Quotas


@dataclass(frozen=True, slots=True)
class SessionReport:
    """The report of a supervisor at the end of a turn.

    `move` is PAUSE, FINISH, FAIL or CANCEL. With `wait_seconds` a paused session goes on by itself after that time.
    `usage` is that of this turn, if the agent reported it.
    """

    move: SessionMove
    note: str = ""
    cause: EndCause | None = None
    status: int | None = None
    result: SessionResult | None = None
    wait_seconds: float | None = None
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class ReportSession:
    """End a turn. A session that somebody has asked to cancel is cancelled, whatever the report says."""

    holder: str
    session_id: str
    attempt: int
    fence: int
    report: SessionReport


@dataclass(frozen=True, slots=True)
class ChangeSession:
    """Change a session for a person. `task` replaces the text for a retry; `commit` is that of an approved merge."""

    holder: str
    session_id: str
    action: SessionAction
    note: str = ""
    attempt: int | None = None
    task: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class SettleSessions:
    """Find the running sessions whose supervisors were lost."""

    holder: str


SessionCommand = StartSession | ClaimSession | AttachSession | ReportSession | ChangeSession | SettleSessions


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """The session was started or changed as asked."""

    record: ManagedSessionRecord


@dataclass(frozen=True, slots=True)
class SessionClaimed:
    """The session is the supervisor's, under this lease."""

    record: ManagedSessionRecord
    lease: Lease


@dataclass(frozen=True, slots=True)
class NoSession:
    """No session can be claimed now, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class SessionsSettled:
    """The running sessions whose supervisors were lost, by id: they are queued again, or have ended."""

    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionRefused:
    """Nothing was changed: a code, a sentence, and the session as it is."""

    code: Refusal
    why: str
    record: ManagedSessionRecord


SessionOutcome = SessionChanged | SessionClaimed | NoSession | SessionsSettled | SessionRefused
