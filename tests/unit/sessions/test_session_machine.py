"""Managed sessions under any sequence of commands, deaths and pauses: the table holds, and no work is done twice."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from tests.effort import examples
from tests.unit.sessions.house import FAILED, FINISHED, PAUSED, House
from tests.unit.tasks.table import TTL

from commonhold.kernel.managed_session import (
    SESSION_TRANSITIONS,
    ManagedSessionRecord,
    SessionMoved,
    SessionState,
)
from commonhold.sessions.choice import is_ready
from commonhold.sessions.commands import (
    SessionAction,
    SessionChanged,
    SessionClaimed,
    SessionLimits,
    SessionRefused,
    SessionReport,
)

RUNNING, REVIEWS, ATTEMPTS = 2, 3, 2
picks = st.integers(0, 30)


class Sessions(RuleBasedStateMachine):
    """Supervisors report late, twice, or never; people change what they see, or what has changed since."""

    def __init__(self) -> None:
        super().__init__()
        self.house = House(limits=SessionLimits(RUNNING, REVIEWS))
        self.claims: list[ManagedSessionRecord] = []
        self.reported: set[int] = set()

    @rule(tenant=st.sampled_from("ab"), priority=st.integers(-1, 1))
    def start(self, tenant: str, priority: int) -> None:
        self.house.start(tenant=tenant, priority=priority, most_attempts=ATTEMPTS)

    @rule()
    def claim(self) -> None:
        outcome = self.house.ask_claim()
        if isinstance(outcome, SessionClaimed):
            self.claims.append(outcome.record)

    @rule(pick=picks)
    def attach(self, pick: int) -> None:
        """A person takes over a session that waits for nobody else."""
        if not self.house.state.managed_sessions:
            return
        self.house.settle()
        records = [*self.house.state.managed_sessions.values()]
        before = records[pick % len(records)]
        is_left = before.state is SessionState.PAUSED and not is_ready(before, self.house.now)
        outcome = self.house.attach(before)
        assert isinstance(outcome, SessionClaimed) is is_left
        if isinstance(outcome, SessionClaimed):
            assert (outcome.record.attempt, outcome.record.attached) == (before.attempt, "ann")
            self.claims.append(outcome.record)

    @rule(pick=picks, report=st.sampled_from((FINISHED, FAILED, PAUSED)))
    def report(self, pick: int, report: SessionReport) -> None:
        if not self.claims:
            return
        claim = self.claims[pick % len(self.claims)]
        before = self.house.record(claim.id)
        is_live = claim.lease_id in self.house.state.leases and not self._has_expired(claim)
        outcome = self.house.report(claim, report)
        if isinstance(outcome, SessionChanged):
            assert before.fence == claim.fence, "a replaced supervisor has reported"
            assert is_live, "a supervisor without a lease has reported"
            assert claim.fence not in self.reported, "a turn has ended twice"
            self.reported.add(claim.fence)

    def _has_expired(self, claim: ManagedSessionRecord) -> bool:
        return self.house.state.leases[claim.lease_id].deadline.has_passed(self.house.now)

    @rule(pick=picks, action=st.sampled_from(SessionAction))
    def change(self, pick: int, action: SessionAction) -> None:
        sessions = [*self.house.state.managed_sessions]
        if not sessions:
            return
        session = sessions[pick % len(sessions)]
        self.house.settle()
        before = self.house.record(session)
        if isinstance(self.house.change(session, action), SessionRefused):
            assert self.house.record(session) == before

    @rule(pick=picks)
    def renew(self, pick: int) -> None:
        if self.claims:
            self.house.renew(self.claims[pick % len(self.claims)])

    @rule(seconds=st.sampled_from((1.0, TTL / 2, TTL + 1)))
    def wait(self, seconds: float) -> None:
        self.house.seconds += seconds

    @rule()
    def reboot(self) -> None:
        self.house.boot += 1
        self.house.seconds = 0.0

    @invariant()
    def every_transition_is_in_the_table(self) -> None:
        states: dict[str, SessionState] = {}
        for event in self.house.log:
            if isinstance(event, SessionMoved):
                before = states.get(event.session_id, SessionState.QUEUED)
                states[event.session_id] = SESSION_TRANSITIONS[before, event.move]
        assert all(self.house.record(each).state is state for each, state in states.items())

    @invariant()
    def limits_hold(self) -> None:
        records = self.house.state.managed_sessions.values()
        running = [each for each in records if each.state is SessionState.RUNNING]
        assert len([each for each in running if not each.attached]) <= RUNNING
        assert len({each.slot for each in running}) == len(running)
        assert all(each.tries <= ATTEMPTS for each in records)

    @invariant()
    def only_running_sessions_are_supervised(self) -> None:
        leases = {each.id for each in self.house.state.leases.values()}
        for record in self.house.state.managed_sessions.values():
            if record.state is not SessionState.RUNNING:
                assert (record.lease_id, record.attached) == ("", "")
        assert len(leases) <= len(self.claims)


def test_no_sequence_of_commands_breaks_the_life_of_a_session() -> None:
    run_state_machine_as_test(Sessions, settings=examples(0.5))
