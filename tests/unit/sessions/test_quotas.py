"""Quotas of tenants: never exceeded, and no tenant waits for another one's room."""

from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from tests.effort import examples
from tests.unit.sessions.house import FAILED, FINISHED, PAUSED, House
from tests.unit.tasks.table import TTL, kind

from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.kernel.options import TenantQuota
from commonhold.sessions.choice import blocked_sessions, is_ready
from commonhold.sessions.commands import NoSession, SessionAction, SessionClaimed, SessionLimits, SessionReport

GIB = 1 << 30
QUOTAS = {
    "counted": TenantQuota(max_sessions=1),
    "sized": TenantQuota(memory_bytes=4 * GIB, cpus=2),
    "closed": TenantQuota(max_sessions=0),
    "*": TenantQuota(max_sessions=2),
}
TENANTS = ("counted", "sized", "closed", "", "other")
PLACES = ("one:/state", "two:/state")
RUNNING = 6


def limited(running: int = 10, **quotas: TenantQuota) -> House:
    return House(limits=SessionLimits(running, 1000, quotas))


class Tenants(RuleBasedStateMachine):
    """Two machines claim sessions of tenants with quotas; sessions end, are paused and resumed, or are lost."""

    def __init__(self) -> None:
        super().__init__()
        self.house = House(limits=SessionLimits(RUNNING, 1000, QUOTAS))

    @property
    def records(self) -> list[ManagedSessionRecord]:
        return [*self.house.state.managed_sessions.values()]

    def running(self) -> list[ManagedSessionRecord]:
        return [each for each in self.records if each.state is SessionState.RUNNING]

    @rule(
        tenant=st.sampled_from(TENANTS),
        place=st.sampled_from(PLACES),
        priority=st.integers(-1, 1),
        memory=st.integers(0, 5),
        cpus=st.sampled_from((0.0, 0.1, 0.5, 2.0, 3.0)),
    )
    def start(self, tenant: str, place: str, priority: int, memory: int, cpus: float) -> None:
        self.house.start(tenant=tenant, place=place, priority=priority, memory_bytes=memory * GIB, cpus=cpus)

    @rule(place=st.sampled_from(PLACES))
    def claim(self, place: str) -> None:
        """Whoever has room goes: only when none has does the claim find no session."""
        self.house.settle()
        before, now = self.records, self.house.now
        at_work = Counter(each.place for each in self.running())[place]
        ready = [each for each in before if each.place == place and is_ready(each, now)]
        blocked = blocked_sessions(ready, before, QUOTAS, self.house.table.board, now)
        with_room = {each.session.tenant for each in ready if each.id not in blocked}
        outcome = self.house.ask_claim(place)
        if isinstance(outcome, SessionClaimed):
            assert outcome.record.session.tenant in with_room
        else:
            assert at_work >= RUNNING or not with_room
        # A tenant below its quota has room, whatever the others have queued.
        for tenant in ("counted", "other"):
            used = sum(each.session.tenant == tenant for each in before if each.state is SessionState.RUNNING)
            waits = any(each.session.tenant == tenant for each in ready)
            assert (tenant in with_room) is (waits and used < {"counted": 1, "other": 2}[tenant])

    @rule(pick=st.integers(0, 30), report=st.sampled_from((FINISHED, FAILED, PAUSED)))
    def end(self, pick: int, report: SessionReport) -> None:
        if running := self.running():
            self.house.report(running[pick % len(running)], report)

    @rule(pick=st.integers(0, 30))
    def attach(self, pick: int) -> None:
        if paused := [each for each in self.records if each.state is SessionState.PAUSED]:
            record = paused[pick % len(paused)]
            self.house.attach(record, place=record.place)

    @rule(pick=st.integers(0, 30))
    def resume(self, pick: int) -> None:
        if paused := [each for each in self.records if each.state is SessionState.PAUSED]:
            self.house.change(paused[pick % len(paused)].id, SessionAction.RESUME)

    @rule(seconds=st.sampled_from((1.0, TTL + 1)))
    def wait(self, seconds: float) -> None:
        self.house.seconds += seconds

    @invariant()
    def no_quota_is_exceeded(self) -> None:
        by_tenant: dict[str, list[ManagedSessionRecord]] = {}
        for each in self.running():
            by_tenant.setdefault(each.session.tenant, []).append(each)
        assert "closed" not in by_tenant
        assert len(by_tenant.get("counted", ())) <= 1
        assert all(len(by_tenant.get(each, ())) <= 2 for each in ("", "other"))
        sized = [each.session for each in by_tenant.get("sized", ())]
        assert all(each.memory_bytes and each.cpus for each in sized)
        assert sum(each.memory_bytes for each in sized) <= 4 * GIB
        assert round(sum(each.cpus for each in sized), 6) <= 2


def test_no_sequence_of_starts_claims_and_ends_exceeds_a_quota_or_starves_a_tenant() -> None:
    run_state_machine_as_test(Tenants, settings=examples(0.5))


def test_a_tenant_at_its_quota_does_not_hold_up_others() -> None:
    house = limited(acme=TenantQuota(max_sessions=1))
    for _ in range(3):
        house.start(tenant="acme", priority=9)
    for _ in range(2):
        house.start(tenant="other")
    assert [house.take().session.tenant for _ in range(3)] == ["acme", "other", "other"]
    kind(NoSession, house.ask_claim())
    house.report(next(iter(each for each in house.state.managed_sessions.values() if each.fence)), FINISHED)
    assert house.take().session.tenant == "acme"


def test_a_quota_holds_over_all_machines_together() -> None:
    house = limited(acme=TenantQuota(max_sessions=1))
    for place in PLACES:
        house.start(tenant="acme", place=place)
    kind(SessionClaimed, house.ask_claim(PLACES[0]))
    kind(NoSession, house.ask_claim(PLACES[1]))


def test_small_sessions_do_not_overtake_a_large_one_of_their_tenant_for_ever() -> None:
    house = limited(acme=TenantQuota(memory_bytes=4 * GIB))
    first = house.start(tenant="acme", memory_bytes=GIB)
    large = house.start(tenant="acme", memory_bytes=4 * GIB)
    small = house.start(tenant="acme", memory_bytes=GIB)
    running = house.take()
    assert running.id == first.id
    kind(NoSession, house.ask_claim())
    house.report(running)
    assert house.take().id == large.id
    house.report(house.record(large.id))
    assert house.take().id == small.id


def test_a_session_that_never_fits_waits_alone() -> None:
    house = limited(acme=TenantQuota(memory_bytes=GIB))
    house.start(tenant="acme", memory_bytes=2 * GIB)
    house.start(tenant="acme")
    fits = house.start(tenant="acme", memory_bytes=GIB)
    assert house.take().id == fits.id
    kind(NoSession, house.ask_claim())


def test_three_tenths_of_a_processor_are_no_more_than_their_sum() -> None:
    house = limited(running=20, acme=TenantQuota(cpus=0.3))
    for _ in range(4):
        house.start(tenant="acme", cpus=0.1)
    for _ in range(3):
        house.take()
    kind(NoSession, house.ask_claim())
