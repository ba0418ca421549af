"""Acquiring with patience: it polls while it has to, gives up in time, and leaves nobody in line behind."""

from asyncio import CancelledError
from collections.abc import Callable

import pytest
from tests.unit.client.driver import Answering, Driver, granted, queued, service

from commonhold.client.acquisition import LONGEST_PAUSE_SECONDS, WAITER_PATIENCE_SECONDS, acquire
from commonhold.client.effects import Call, Sleep
from commonhold.kernel.answers import AcquireAnswer
from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError, UsageError
from commonhold.kernel.refusals import Refusal

STOPS = [KeyboardInterrupt(), CancelledError(), SystemExit(1), ZeroDivisionError()]
FAULTS = [
    UsageError(Code.USAGE, "no", hint=""),
    InputError(Code.KEY_INVALID, "no", hint=""),
    StoreError(Code.STORE_BUSY, "no", hint=""),
]


def run(answering: Answering, **named: object) -> tuple[AcquireAnswer, Driver]:
    driver = Driver(answering)
    return driver.drive(acquire("account:1", **named)), driver  # type: ignore[arg-type]


def failing(fault: BaseException) -> Callable[[Call], object]:
    return lambda _: fault


def test_without_waiting_it_is_one_call() -> None:
    answer, driver = run(service(granted), task="pay", ttl_seconds=5.0)
    (call,) = driver.calls
    assert answer.outcome == "granted"
    assert call.arguments == ("account:1",)
    assert call.named["task"] == "pay"
    assert "hold_seconds" not in call.named
    assert "patience_seconds" not in call.named


def test_every_acquire_has_a_ticket_of_its_own() -> None:
    tickets = {run(service(granted))[1].calls[0].named["ticket"] for _ in range(20)}
    assert len(tickets) == 20


def test_what_is_none_counts_as_not_given() -> None:
    _, driver = run(service(granted), ticket=None, patience_seconds=None, wait_seconds=1.0)
    named = driver.calls[0].named
    assert named["ticket"].startswith("lease-")
    assert named["patience_seconds"] == WAITER_PATIENCE_SECONDS


def test_a_wait_that_a_daemon_holds_back_is_one_call() -> None:
    _, driver = run(service(granted), wait_seconds=30.0)
    (call,) = driver.calls
    assert call.named["hold_seconds"] == 30.0
    assert driver.sleeps == []


def test_without_a_daemon_it_asks_again_with_the_same_ticket_ever_more_patiently() -> None:
    answer, driver = run(service(*[queued] * 7, granted), wait_seconds=30.0)
    assert answer.outcome == "granted"
    assert driver.sleeps == [0.01, 0.02, 0.04, 0.08, 0.16, LONGEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS]
    assert len({call.named["ticket"] for call in driver.calls}) == 1
    assert [call.named["hold_seconds"] for call in driver.calls] == pytest.approx(
        [30.0, 29.99, 29.97, 29.93, 29.85, 29.69, 29.44, 29.19]
    )


def test_who_gives_up_leaves_no_place_in_line() -> None:
    answer, driver = run(service(queued), wait_seconds=1.0)
    assert driver.now == 1.0
    assert driver.methods()[-1] == "release"
    assert driver.calls[-1].arguments == (driver.calls[0].named["ticket"],)
    assert (answer.outcome, answer.code) == ("denied", Refusal.LOCK_CONFLICT)
    assert [conflict.holder for conflict in answer.conflicts] == ["bob"]
    assert answer.next is not None
    assert answer.next.arguments["wait_seconds"] == 1.0


def test_a_denial_is_not_waited_on() -> None:
    """For a deadlock, say: waiting would never end."""
    answer, driver = run(service(lambda _: AcquireAnswer("denied", code=Refusal.DEADLOCK)), wait_seconds=30.0)
    assert (answer.code, driver.methods()) == (Refusal.DEADLOCK, ["acquire"])


@pytest.mark.parametrize("stop", STOPS, ids=repr)
@pytest.mark.parametrize("at", range(1, 10))
def test_whatever_stops_a_wait_leaves_no_place_in_line(stop: BaseException, at: int) -> None:
    """Stopped in the middle of a call, of a sleep, of a look at the clock: the last that is done is to let go."""
    driver = Driver(service(queued), interrupt_at=at, interruption=stop)
    with pytest.raises(type(stop)):
        driver.drive(acquire("account:1", wait_seconds=30.0))
    assert driver.calls[-1] == Call("release", (driver.calls[0].named["ticket"],))
    assert driver.methods().count("release") == 1


def test_who_is_stopped_while_giving_up_still_leaves_no_place_in_line() -> None:
    _, undisturbed = run(service(queued), wait_seconds=0.01)
    driver = Driver(service(queued), interrupt_at=len(undisturbed.effects) - 1)
    with pytest.raises(KeyboardInterrupt):
        driver.drive(acquire("account:1", wait_seconds=0.01))
    assert driver.methods() == ["acquire", "acquire", "release", "release"]


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_whatever_stops_a_call_leaves_no_lease_that_nobody_knows_of(stop: BaseException) -> None:
    driver = Driver(service(granted), interrupt_at=0, interruption=stop)
    with pytest.raises(type(stop)):
        driver.drive(acquire("account:1"))
    assert driver.calls[-1] == Call("release", (driver.calls[0].named["ticket"],))


def test_who_brought_the_ticket_can_ask_again_with_it() -> None:
    driver = Driver(service(granted), interrupt_at=0)
    with pytest.raises(KeyboardInterrupt):
        driver.drive(acquire("account:1", ticket="mine"))
    assert driver.methods() == ["acquire"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_after_an_error_there_is_nothing_to_let_go_of(fault: CommonholdError) -> None:
    driver = Driver(service(failing(fault)))
    with pytest.raises(type(fault)):
        driver.drive(acquire("account:1"))
    assert driver.methods() == ["acquire"]


def test_an_error_in_the_middle_of_a_wait_leaves_no_place_in_line() -> None:
    """The file that was waited for has become ambiguous, say."""
    driver = Driver(service(queued, failing(InputError(Code.REGION_AMBIGUOUS, "no", hint=""))))
    with pytest.raises(InputError):
        driver.drive(acquire("account:1", wait_seconds=30.0))
    assert driver.methods() == ["acquire", "acquire", "release"]


def test_a_store_that_cannot_be_reached_is_not_asked_to_let_go() -> None:
    """It would cost as much patience once more; a place in line ends by itself."""
    driver = Driver(service(queued, failing(StoreError(Code.STORE_BUSY, "no", hint=""))))
    with pytest.raises(StoreError):
        driver.drive(acquire("account:1", wait_seconds=30.0))
    assert driver.methods() == ["acquire", "acquire"]


def test_what_stopped_it_is_what_is_raised_though_letting_go_fails() -> None:
    def answer(call: Call) -> object:
        return queued(call) if call.method == "acquire" else StoreError(Code.IO_FAILED, "no", hint="")

    driver = Driver(answer, interrupt_at=3)
    with pytest.raises(KeyboardInterrupt):
        driver.drive(acquire("account:1", wait_seconds=30.0))
    assert isinstance(driver.effects[3], Sleep)
    assert driver.methods() == ["acquire", "release"]


def test_a_wait_that_nobody_drives_any_more_asks_for_nothing() -> None:
    steps = acquire("account:1", wait_seconds=30.0)
    next(steps)
    steps.close()
