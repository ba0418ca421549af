"""Managed sessions that a test changes by commands, with a clock that a test moves."""

from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.unit.tasks.table import TTL, Table, kind

from commonhold.kernel import commands as leases
from commonhold.kernel.lease_table import LeaseTable
from commonhold.kernel.managed_session import (
    EndCause,
    ManagedSession,
    ManagedSessionRecord,
    SessionMove,
    SessionResult,
)
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
    SessionReport,
    SettleSessions,
    StartSession,
)
from commonhold.sessions.decide import SessionTable, decide
from commonhold.tasks.board import Board

PLACE = "host:/state"
RESULT = SessionResult("a" * 40, "b" * 40)
FINISHED = SessionReport(SessionMove.FINISH, "the agent ended", EndCause.EXITED, 0, RESULT)
FAILED = SessionReport(SessionMove.FAIL, "exit status 3", EndCause.EXITED, 3, RESULT)
PAUSED = SessionReport(SessionMove.PAUSE, "asked", EndCause.ASKED)
LEASES = count(1)


@dataclass
class House(Table):
    """The state is the fold of the events, and nothing else."""

    limits: SessionLimits = SessionLimits(running=10, awaiting_review=10)  # noqa: RUF009 - it is frozen

    @property
    def table(self) -> SessionTable:
        served: dict[str, int] = {}
        for each in self.state.managed_sessions.values():
            served[each.session.tenant] = max(each.claimed, served.get(each.session.tenant, 0))
        held, waiters = tuple(self.state.leases.values()), tuple(self.state.waiters.values())
        lease_table = LeaseTable(held, self.state.sequence + 1, waiters)
        return SessionTable(self.state.managed_sessions, served, Board(self.state.tasks, lease_table))

    def send(self, command: SessionCommand) -> SessionOutcome:
        decision = decide(self.table, command, self.now)
        self._record(decision.events)
        return decision.outcome

    def record(self, session: str) -> ManagedSessionRecord:
        return self.state.managed_sessions[session]

    def start(self, task: str = "do it", **rest: Any) -> ManagedSessionRecord:
        rest = {"place": PLACE, **rest}
        session = ManagedSession("", task, "agent {prompt_file}", "c" * 40, "/root", **rest)
        return kind(SessionChanged, self.send(StartSession("ann", session))).record

    def ask_claim(self, place: str = PLACE, **rest: Any) -> SessionOutcome:
        return self.send(ClaimSession("engine", place, self.limits, f"session-{next(LEASES)}", TTL, **rest))

    def attach(self, record: ManagedSessionRecord, person: str = "ann", place: str = PLACE) -> SessionOutcome:
        """Claim the session for a person who has seen this record."""
        lease, quotas = f"session-{next(LEASES)}", self.limits.tenants
        return self.send(AttachSession(person, record.id, record.attempt, place, lease, TTL, quotas))

    def take(self) -> ManagedSessionRecord:
        return kind(SessionClaimed, self.ask_claim()).record

    def report(self, record: ManagedSessionRecord, report: SessionReport = FINISHED) -> SessionOutcome:
        return self.send(ReportSession("supervisor", record.id, record.attempt, record.fence, report))

    def change(self, session: str, action: SessionAction, **rest: Any) -> SessionOutcome:
        return self.send(ChangeSession("ann", session, action, "why", **rest))

    def settle(self) -> SessionOutcome:
        return self.send(SettleSessions("engine"))

    def renew(self, record: ManagedSessionRecord) -> None:
        self.lease_command(leases.Renew(record.lease_id, f"supervisor:{record.id}", TTL))
