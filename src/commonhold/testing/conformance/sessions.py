"""The requirements for every store of managed sessions, as tests that pytest collects from a class of yours.

class TestMyStore(SessionConformance):
    @pytest.fixture
    def rig(self):
        yield MyRig()  # see SessionRig: an empty namespace, and a way to move its clock
"""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from itertools import count
from typing import Any, Final, Protocol

from commonhold.kernel.lease_ports import Once
from commonhold.kernel.managed_session import (
    EndCause,
    ManagedSession,
    ManagedSessionRecord,
    SessionChoice,
    SessionMove,
    SessionResult,
    SessionState,
)
from commonhold.kernel.projection import fold
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import TokenUsage
from commonhold.sessions.commands import (
    AttachSession,
    ChangeSession,
    ClaimSession,
    NoSession,
    ReportSession,
    SessionAction,
    SessionChanged,
    SessionClaimed,
    SessionLimits,
    SessionRefused,
    SessionReport,
    SessionsSettled,
    SettleSessions,
    StartSession,
)
from commonhold.sessions.queue import SessionQueue
from commonhold.testing.conformance.rig import TTL, expect, whole_log

PLACE: Final = "host:/state"
PAUSED: Final = SessionReport(SessionMove.PAUSE, "asked", EndCause.ASKED)
FINISHED: Final = SessionReport(SessionMove.FINISH, "done", EndCause.EXITED, 0, SessionResult("a" * 40, "b" * 40))
_numbers: Final = count(1)


class SessionRig(Protocol):
    """A namespace of managed sessions that is empty when a test begins."""

    def managed_sessions(self) -> SessionQueue:
        """Return a fresh client of the namespace, as another process would have."""
        ...

    def advance(self, seconds: float) -> None:
        """Let this time pass on the store's clock. Between two calls it may go on by itself, by a few seconds."""
        ...


class Desk:
    """A client that starts, claims, reports and changes sessions."""

    def __init__(self, queue: SessionQueue) -> None:
        """Send commands to `queue`."""
        self.queue = queue

    def start(self, task: str = "do it", **rest: Any) -> ManagedSessionRecord:  # noqa: ANN401 - as ManagedSession takes it
        """Queue a session."""
        session = ManagedSession("", task, "agent {prompt_file}", "c" * 40, "/root", PLACE, **rest)
        return expect(SessionChanged, self.queue.execute(StartSession("ann", session))).record

    def ask(self, running: int = 10, once: Once | None = None) -> object:
        """Ask for the next session."""
        lease = f"session-{next(_numbers)}"
        return self.queue.execute(ClaimSession("engine", PLACE, SessionLimits(running), lease, TTL), once)

    def claim(self) -> ManagedSessionRecord:
        """Claim the next session, which must be possible."""
        return expect(SessionClaimed, self.ask()).record

    def attach(self, record: ManagedSessionRecord, person: str) -> object:
        """Claim a session that was seen so, for a person at a terminal."""
        lease = f"session-{next(_numbers)}"
        return self.queue.execute(AttachSession(person, record.id, record.attempt, PLACE, lease, TTL, {}))

    def report(self, record: ManagedSessionRecord, report: SessionReport = FINISHED) -> object:
        """Report the end of a turn under the fence of `record`."""
        return self.queue.execute(ReportSession("supervisor", record.id, record.attempt, record.fence, report))

    def change(self, record: ManagedSessionRecord, action: SessionAction, **rest: Any) -> object:  # noqa: ANN401 - as the command takes it
        """Change a session for a person."""
        return self.queue.execute(ChangeSession("ann", record.id, action, "why", **rest))

    def record(self, session: str) -> ManagedSessionRecord:
        """Return a session as it is stored."""
        with self.queue.read() as reader:
            (found,) = [each for each in reader.managed_sessions_in_question((session,)) if each.id == session]
        return found


class SessionConformance:
    """All that is promised of a store of managed sessions. Each test takes the fixture `rig`, a SessionRig."""

    def test_every_client_sees_a_session_in_each_state(self, rig: SessionRig) -> None:
        one, two = Desk(rig.managed_sessions()), Desk(rig.managed_sessions())
        queued = one.start("first\nsecond ä", tenant="t", checks=("make test",))
        assert two.record(queued.id) == queued
        running = one.claim()
        assert (running.id, running.state, running.attempt) == (queued.id, SessionState.RUNNING, 1)
        assert two.record(queued.id) == running
        awaiting = expect(SessionChanged, two.report(running)).record
        assert one.record(queued.id) == awaiting
        completed = expect(SessionChanged, one.change(awaiting, SessionAction.APPROVE, commit="d" * 40)).record
        assert two.record(queued.id) == completed
        assert (completed.state, completed.commit) == (SessionState.COMPLETED, "d" * 40)

    def test_one_person_attaches_to_a_paused_session(self, rig: SessionRig) -> None:
        one, two = Desk(rig.managed_sessions()), Desk(rig.managed_sessions())
        one.start()
        paused = expect(SessionChanged, one.report(one.claim(), PAUSED)).record
        attached = expect(SessionClaimed, one.attach(paused, "ann")).record
        assert (attached.state, attached.attached, attached.attempt) == (SessionState.RUNNING, "ann", paused.attempt)
        assert two.record(paused.id) == attached
        refused = expect(SessionRefused, two.attach(paused, "bob"))
        assert (refused.code, refused.record) == (Refusal.SESSION_CHANGED, attached)
        expect(SessionChanged, one.report(attached, PAUSED))
        assert two.record(paused.id).attached == ""

    def test_a_session_is_claimed_once(self, rig: SessionRig) -> None:
        one, two = Desk(rig.managed_sessions()), Desk(rig.managed_sessions())
        one.start()
        one.claim()
        expect(NoSession, two.ask())

    def test_a_supervisor_that_was_replaced_cannot_report(self, rig: SessionRig) -> None:
        one, two = Desk(rig.managed_sessions()), Desk(rig.managed_sessions())
        one.start()
        former = one.claim()
        rig.advance(2 * TTL)
        assert expect(SessionsSettled, two.queue.execute(SettleSessions("engine"))).lost == (former.id,)
        rig.advance(TTL)
        now = two.claim()
        assert (now.attempt, now.tries) == (2, 2)
        assert expect(SessionRefused, one.report(former)).code is Refusal.SESSION_TAKEN
        assert two.record(now.id) == now

    def test_the_usage_of_all_turns_is_kept(self, rig: SessionRig) -> None:
        desk, used = Desk(rig.managed_sessions()), TokenUsage(120, 10, 0.25, 100)
        desk.start()
        desk.report(desk.claim(), SessionReport(SessionMove.PAUSE, wait_seconds=0.0, usage=used))
        desk.report(desk.claim(), SessionReport(SessionMove.FAIL, "exit status 3", EndCause.EXITED, 3, usage=used))
        failed = desk.record("s1")
        assert failed.usage == TokenUsage(240, 20, 0.5, 200)
        desk.change(failed, SessionAction.RETRY)
        desk.report(desk.claim())
        assert [each.usage.tokens_in for each in desk.record("s1").attempts] == [240, 0]

    def test_a_repeated_report_gets_its_first_answer(self, rig: SessionRig) -> None:
        desk = Desk(rig.managed_sessions())
        desk.start()
        record = desk.claim()
        command = ReportSession("supervisor", record.id, record.attempt, record.fence, FINISHED)
        once = Once("report-1", "the same")
        first = desk.queue.execute(command, once)
        assert desk.queue.execute(command, once) == first
        assert len(desk.record(record.id).attempts) == 1

    def test_the_claims_of_completed_sessions_count_for_their_tenant(self, rig: SessionRig) -> None:
        desk = Desk(rig.managed_sessions())
        for tenant in ("many", "many", "one"):
            desk.start(tenant=tenant)
        order = []
        for _ in range(3):
            record = desk.claim()
            order.append(record.session.tenant)
            finished = expect(SessionChanged, desk.report(record)).record
            desk.change(finished, SessionAction.APPROVE)
        assert order == ["many", "one", "many"]

    def test_a_list_is_of_a_state_a_tenant_and_a_time_and_comes_in_pages(self, rig: SessionRig) -> None:
        desk = Desk(rig.managed_sessions())
        for tenant in ("one", "two", "one", "two"):
            desk.start(tenant=tenant)
        failed = desk.claim()
        desk.report(failed, SessionReport(SessionMove.FAIL, "it broke", EndCause.EXITED, 3))
        with desk.queue.read() as reader:
            records = reader.managed_sessions()
            by_tenant = reader.managed_sessions(SessionChoice(tenant="two"))
            ended = reader.managed_sessions(SessionChoice(state=SessionState.FAILED))
            waiting = reader.managed_sessions(SessionChoice(is_open=True, limit=2))
            page = reader.managed_sessions(SessionChoice(before=records[2].number, limit=1))
            lately = reader.managed_sessions(SessionChoice(since=max(each.since for each in records) + TTL))
            of_task = reader.managed_sessions(SessionChoice(task_id="t1"))
        assert [each.number for each in records] == sorted(each.number for each in records)
        assert by_tenant == (records[1], records[3])
        assert [each.id for each in ended] == [failed.id]
        assert waiting == tuple(each for each in records if not each.is_final)[-2:]
        assert page == (records[1],)
        assert lately == of_task == ()

    def test_the_log_explains_the_sessions(self, rig: SessionRig) -> None:
        desk = Desk(rig.managed_sessions())
        desk.start()
        desk.start(priority=5)
        desk.report(desk.claim(), SessionReport(SessionMove.PAUSE, "rate limit", EndCause.ASKED, wait_seconds=TTL))
        desk.report(desk.claim(), SessionReport(SessionMove.FAIL, "it broke", EndCause.EXITED, 3))
        with desk.queue.read() as reader:
            kept = {each.id: each for each in reader.managed_sessions()}
            folded = fold(whole_log(reader))
        assert folded.managed_sessions == kept
        assert {each.state for each in kept.values()} == {SessionState.PAUSED, SessionState.FAILED}
