"""A grip on a lease: it never outlasts the lease itself, is renewed in time, and tells as soon as it is lost."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.client.driver import Driver, granted, lease, queued, service

from commonhold.client.acquisition import acquire
from commonhold.client.effects import Call
from commonhold.client.lease_keeper import MARGIN, LeaseHandle, begin, end, keep
from commonhold.kernel.answers import AcquireAnswer, LeaseAnswer
from commonhold.kernel.errors import Code, InputError, RefusedError, StoreError
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value

BUSY = StoreError(Code.STORE_BUSY, "no", hint="")


def refused(_: Call) -> LeaseAnswer:
    return LeaseAnswer("refused", None, Refusal.LEASE_LOST, "there is no live lease lease-1")


def renewing(call: Call) -> LeaseAnswer:
    return LeaseAnswer("renewed", lease(call.arguments[0], ttl_seconds=call.named["ttl_seconds"]))


def in_turn(*answers: Callable[[Call], object]) -> Callable[[Call], object]:
    """One answer after the other; the last one ever after."""
    left = list(answers)

    def answer(call: Call) -> object:
        return (left.pop(0) if len(left) > 1 else left[0])(call)

    return answer


def test_the_time_counts_from_the_sending() -> None:
    driver = Driver(service(granted), answer_seconds=5.0, now=50.0)
    grip = driver.drive(begin(acquire("account:1", ttl_seconds=100.0)))
    assert driver.now == 55.0
    assert grip.why_lost(139.9) is None
    assert grip.why_lost(140.0) is not None


def test_what_was_waited_for_is_renewed_at_once() -> None:
    """When it was granted is not known here: perhaps right at the beginning, and its time is nearly over."""
    driver = Driver(service(*[queued] * 80, granted))
    grip = driver.drive(begin(acquire("account:1", ttl_seconds=100.0, wait_seconds=30.0)))
    assert driver.methods()[-2:] == ["acquire", "renew"]
    assert grip.why_lost(driver.now + 89.9) is None


def test_what_may_have_been_granted_to_an_earlier_call_is_renewed_at_once() -> None:
    driver = Driver(service(granted))
    driver.drive(begin(acquire("account:1", ttl_seconds=100.0, ticket="lease-0"), may_be_known=True))
    assert driver.methods() == ["acquire", "renew"]


def test_what_was_granted_at_once_is_not_renewed_yet() -> None:
    driver = Driver(service(granted))
    driver.drive(begin(acquire("account:1", wait_seconds=30.0)))
    assert driver.methods() == ["acquire"]


def test_who_is_stopped_while_taking_hold_keeps_nothing() -> None:
    driver = Driver(service(granted), answer_seconds=20.0, interrupt_at=3)
    with pytest.raises(KeyboardInterrupt):
        driver.drive(begin(acquire("account:1")))
    assert driver.methods() == ["acquire", "renew", "release"]


def test_a_denial_names_who_holds_what() -> None:
    driver = Driver(service(queued))
    with pytest.raises(RefusedError) as caught:
        driver.drive(begin(acquire("account:1", wait_seconds=0.1)))
    assert caught.value.code is Code.LEASE_DENIED
    assert caught.value.fields == {"code": Refusal.LOCK_CONFLICT, "holders": "bob", "keys": "account:1"}
    assert caught.value.retryable


def test_work_that_is_done_already_is_told_with_its_result() -> None:
    answer = AcquireAnswer("done", result=Value("build:7", 3, "built", "bob", 1.5))
    with pytest.raises(RefusedError, match="build:7 was done by bob") as caught:
        Driver(service(lambda _: answer)).drive(begin(acquire("build:7", once=True)))
    assert (caught.value.code, caught.value.fields["result"]) == (Code.ALREADY_DONE, "built")


def test_a_result_goes_with_the_release() -> None:
    calls = []
    grip = LeaseHandle(lease(), asked_at=0.0)
    for result in (None, "built"):
        if result:
            grip.finish(result)
        steps = end(grip)
        calls.append(next(steps))
    assert calls == [Call("release", ("lease-1",)), Call("release", ("lease-1",), {"result": "built"})]
    with pytest.raises(InputError, match="65536"):
        grip.finish("a" * 65537)


def test_a_denial_without_conflicts_says_what_is_known() -> None:
    answer = AcquireAnswer("denied", code=Refusal.LEASE_LOST, notices=("the lease x has ended",))
    with pytest.raises(RefusedError, match="the lease x has ended"):
        Driver(service(lambda _: answer)).drive(begin(acquire("account:1")))


def test_it_is_renewed_three_times_in_its_time_until_it_is_lost() -> None:
    driver = Driver(in_turn(renewing, renewing, refused))
    grip = LeaseHandle(lease(ttl_seconds=9.0), asked_at=0.0)
    driver.drive(keep(grip))
    assert driver.sleeps == [3.0, 3.0, 3.0]
    assert grip.why_lost(driver.now) == "there is no live lease lease-1"


def test_a_renewal_that_failed_is_due_at_once() -> None:
    """A store that could not be reached is asked again without another pause: that would be too late."""
    driver = Driver(in_turn(lambda _: BUSY, renewing, refused))
    grip = LeaseHandle(lease(ttl_seconds=9.0), asked_at=0.0)
    with pytest.raises(StoreError):
        driver.drive(keep(grip))
    driver.drive(keep(grip))
    assert driver.sleeps == [3.0, 0.0, 3.0]


def test_it_stops_when_its_time_is_over_though_nobody_says_so() -> None:
    driver = Driver(lambda _: BUSY, answer_seconds=2.0)
    grip = LeaseHandle(lease(ttl_seconds=9.0), asked_at=0.0)
    for _ in range(3):
        with pytest.raises(StoreError):
            driver.drive(keep(grip))
    driver.drive(keep(grip))
    assert driver.now == 9.0
    assert grip.why_lost(driver.now) == "the lease lease-1 could not be renewed in time"


def test_a_holder_looks_in_between_whether_somebody_ended_its_lease() -> None:
    driver = Driver(in_turn(lambda _: (lease(ttl_seconds=90.0),), lambda _: (lease("another"),)))
    grip = LeaseHandle(lease(ttl_seconds=90.0), asked_at=0.0)
    driver.drive(keep(grip))
    assert (driver.sleeps, driver.methods()) == ([5.0, 5.0], ["leases", "leases"])
    with pytest.raises(RefusedError, match="was ended, or given to another"):
        grip.check(driver.now)


def test_the_end_says_that_there_was_nothing_left_to_release() -> None:
    grip = LeaseHandle(lease(), asked_at=0.0)
    grip.released(LeaseAnswer("released", lease()))
    with pytest.raises(RefusedError, match="it was ended"):
        grip.released(LeaseAnswer("refused", why="it was ended"))


def test_a_lease_that_was_anothers_meanwhile_is_lost() -> None:
    """It was handed over and back: its id is the same, its fence is not, and what it covers may have changed."""
    grip = LeaseHandle(lease(fence=7), asked_at=0.0)
    grip.renewed(LeaseAnswer("renewed", lease(fence=9)), asked_at=1.0)
    assert "its fence is 9 now" in str(grip.why_lost(2.0))
    assert grip.lease.fence == 7


def test_check_says_what_must_not_be_done_any_more() -> None:
    grip = LeaseHandle(lease(fence=7), asked_at=0.0)
    grip.check(89.9)
    with pytest.raises(RefusedError, match="do not write anything further under this lease") as caught:
        grip.check(90.0)
    assert caught.value.code is Code.LEASE_LOST
    assert caught.value.fields == {"lease_id": "lease-1", "fence": 7}


def test_the_end_is_to_let_go() -> None:
    driver = Driver(service(granted))
    driver.drive(end(LeaseHandle(lease(), asked_at=0.0)))
    assert driver.calls == [Call("release", ("lease-1",))]


delays = some.floats(min_value=0.0, max_value=200.0)


@given(rounds=some.lists(some.tuples(delays, delays, delays, some.booleans()), max_size=8), ask=delays, answer=delays)
def test_it_never_outlasts_the_lease(rounds: list[tuple[float, float, float, bool]], ask: float, answer: float) -> None:
    """However long requests and answers are under way, and whichever answers are lost on the way."""
    ttl = 100.0
    expires, now = ask + ttl, ask + answer
    grip = LeaseHandle(lease(ttl_seconds=ttl), asked_at=0.0)
    for pause, there, back, is_answered in rounds:
        assert grip.why_lost(now) is not None or now < expires
        sent = now + pause
        arrived, now = sent + there, sent + there + back
        if arrived >= expires:
            grip.renewed(refused(Call("renew")), sent)
            break
        expires = arrived + ttl
        if is_answered:
            grip.renewed(LeaseAnswer("renewed", lease(ttl_seconds=ttl)), sent)
    assert grip.why_lost(now) is not None or now < expires
    assert grip.why_lost(expires - MARGIN * ttl) is not None
