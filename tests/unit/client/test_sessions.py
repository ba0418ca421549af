"""Who drives operations: threads and asyncio. What was begun is finished, also after a cancellation."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.patience import PATIENCE_SECONDS, until
from tests.unit.client.driver import granted, service
from tests.unit.client.driver import lease as a_lease

from commonhold.client import async_session as async_sessions
from commonhold.client import lease_keeper
from commonhold.client import session as sessions
from commonhold.client.async_session import AsyncCommonhold
from commonhold.client.effects import Call
from commonhold.client.session import Commonhold
from commonhold.kernel.answers import LeaseAnswer
from commonhold.kernel.errors import Code, RefusedError, StoreError
from commonhold.kernel.refusals import Refusal
from commonhold.tasks.answers import TaskAnswer

TTL_SECONDS = 600.0


@pytest.fixture
def _renewed_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a lease lasts, so that none is lost where the machine is slow."""
    monkeypatch.setattr(lease_keeper, "RENEWALS", TTL_SECONDS / 0.05)


class Clock:
    """Stands still until told."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        for module in (sessions, async_sessions):
            patch.setattr(module, "ticks", lambda: self.seconds)


@dataclass
class FakeChannel:
    """A service on paper; a call of a method in `stuck` lasts until its event."""

    answering: Callable[[Call], object] = field(default_factory=lambda: service(granted))
    stuck: dict[str, threading.Event] = field(default_factory=dict)
    begun: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def call(self, name: str, arguments: Any, named: Any) -> Any:
        self.begun.append(name)
        if name in self.stuck:
            assert self.stuck[name].wait(PATIENCE_SECONDS)
        answer = self.answering(Call(name, arguments, named))
        self.done.append(name)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.done.append("close")


async def until_(is_so: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, is_so)


def session(channel: FakeChannel) -> Commonhold:
    return Commonhold(channel, root="/repository", agent="ann")


def async_session(channel: FakeChannel) -> AsyncCommonhold:
    return AsyncCommonhold(channel, root="/repository", agent="ann")


@pytest.mark.usefixtures("_renewed_all_the_time")
def test_a_block_holds_renews_and_lets_go() -> None:
    channel = FakeChannel()
    with session(channel).hold("account:1", ttl_seconds=TTL_SECONDS) as held:
        until(lambda: channel.done.count("renew") >= 2)
        assert (held.id.startswith("lease-"), held.fence, held.keys) == (True, 7, ("account:1",))
    assert channel.done[-1] == "release"


def test_a_block_that_fails_lets_go_and_says_why() -> None:
    channel = FakeChannel()
    with pytest.raises(ZeroDivisionError), session(channel).hold("account:1"):
        raise ZeroDivisionError
    assert channel.done == ["acquire", "release"]


def refusing(call: Call) -> object:
    """Grants, and says at the first renewal that the lease is gone."""
    return (
        LeaseAnswer("refused", None, Refusal.LEASE_LOST, "gone") if call.method == "renew" else service(granted)(call)
    )


def busy(clock: Clock) -> Callable[[Call], object]:
    """Grants, and cannot be reached afterwards: whoever tries it waits for a third of the time that a lease lasts."""

    def answer(call: Call) -> object:
        if call.method != "renew":
            return service(granted)(call)
        clock.seconds += TTL_SECONDS / 3
        return StoreError(Code.STORE_BUSY, "no", hint="")

    return answer


@pytest.mark.usefixtures("_renewed_all_the_time")
def test_a_lease_that_is_lost_is_told_of_before_the_next_write() -> None:
    with session(FakeChannel(refusing)).hold("account:1", ttl_seconds=TTL_SECONDS) as held:
        until(lambda: held.is_lost)
        with pytest.raises(RefusedError, match="gone"):
            held.check()


@pytest.mark.usefixtures("_renewed_all_the_time")
def test_a_store_that_cannot_be_reached_is_asked_again_until_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = FakeChannel(busy(Clock(monkeypatch)))
    with session(channel).hold("account:1", ttl_seconds=TTL_SECONDS) as held:
        until(lambda: held.is_lost)
    assert channel.done.count("renew") == 3


def test_a_child_that_was_forked_in_the_block_lets_nothing_go() -> None:
    channel = FakeChannel()
    status = 0
    with session(channel).hold("account:1"):
        pid = os.fork()
        if pid:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if pid == 0:
        os._exit(1 if "release" in channel.done else 0)
    assert status == 0
    assert channel.done == ["acquire", "release"]


@pytest.mark.usefixtures("_renewed_all_the_time")
def test_a_child_that_was_forked_in_the_block_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the thread that renews has locked at that moment stays locked in the child, which has no such thread."""
    is_locked, go_on, doze = threading.Event(), threading.Event(), sessions._doze

    def with_the_lock(stop: threading.Event, seconds: float) -> None:
        if not is_locked.is_set():
            with stop._cond:  # type: ignore[attr-defined]
                is_locked.set()
                assert go_on.wait(PATIENCE_SECONDS)
        doze(stop, seconds)

    monkeypatch.setattr(sessions, "_doze", with_the_lock)
    with session(FakeChannel()).hold("account:1"):
        assert is_locked.wait(PATIENCE_SECONDS)
        pid = os.fork()
        if pid:
            go_on.set()
    if pid == 0:
        os._exit(0)
    try:
        until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.usefixtures("_renewed_all_the_time")
def test_asyncio_holds_renews_and_lets_go() -> None:
    channel = FakeChannel()

    async def story() -> None:
        async with async_session(channel) as hold:
            async with hold.hold("account:1", ttl_seconds=TTL_SECONDS):
                await until_(lambda: channel.done.count("renew") >= 2)
            assert channel.done[-1] == "release"

    asyncio.run(story())
    assert channel.done[-1] == "close"


@pytest.mark.usefixtures("_renewed_all_the_time")
def test_asyncio_tells_of_a_lease_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(answering: Callable[[Call], object]) -> None:
        async with async_session(FakeChannel(answering)).hold("account:1", ttl_seconds=TTL_SECONDS) as held:
            await until_(lambda: held.is_lost)
            with pytest.raises(RefusedError):
                held.check()

    asyncio.run(story(refusing))
    asyncio.run(story(busy(Clock(monkeypatch))))


@pytest.mark.parametrize("cancellations", [1, 2, 3])
def test_what_a_cancelled_call_was_granted_is_let_go_of(cancellations: int) -> None:
    """However often it is cancelled: the thread that asks is waited for, and then let go of what it got."""
    go = threading.Event()
    channel = FakeChannel(stuck={"acquire": go})

    async def story() -> None:
        acquiring = asyncio.ensure_future(async_session(channel).acquire("account:1"))
        await until_(lambda: channel.begun == ["acquire"])
        for _ in range(cancellations):
            acquiring.cancel()
            await asyncio.sleep(0.01)
        assert not acquiring.done()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await acquiring

    asyncio.run(story())
    assert channel.done == ["acquire", "release"]


def test_a_cancelled_wait_is_told_to_the_daemon_that_holds_the_answer_back() -> None:
    go = threading.Event()

    def answer(call: Call) -> object:
        if call.method == "release":
            go.set()
        return service(granted)(call)

    channel = FakeChannel(answer, stuck={"acquire": go})

    async def story() -> None:
        acquiring = asyncio.ensure_future(async_session(channel).acquire("account:1", wait_seconds=3600.0))
        await until_(lambda: channel.begun == ["acquire"])
        acquiring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await acquiring

    asyncio.run(story())
    assert channel.begun[:2] == ["acquire", "release"]
    assert channel.done[-1] == "release"


def test_a_cancelled_release_is_finished() -> None:
    go = threading.Event()
    channel = FakeChannel(stuck={"release": go})

    async def story() -> None:
        releasing = asyncio.ensure_future(async_session(channel).release("lease-1"))
        await until_(lambda: channel.begun == ["release"])
        releasing.cancel()
        await asyncio.sleep(0.01)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await releasing

    asyncio.run(story())
    assert channel.done == ["release"]


def test_a_cancelled_call_that_only_reads_is_not_waited_for() -> None:
    go = threading.Event()
    channel = FakeChannel(lambda _: None, stuck={"status": go})

    async def story() -> None:
        reading = asyncio.ensure_future(async_session(channel).status())
        await until_(lambda: channel.begun == ["status"])
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert channel.done == []
        go.set()
        await until_(lambda: channel.done == ["status"])

    asyncio.run(story())


def test_a_task_that_a_cancelled_call_has_claimed_is_given_back() -> None:
    go = threading.Event()
    lease = a_lease("lease-1")
    claimed = TaskAnswer("claimed", lease=lease)
    released: list[object] = []

    def answer(call: Call) -> object:
        released.extend(call.arguments if call.method == "release" else ())
        return claimed if call.method == "claim_task" else None

    channel = FakeChannel(answer, stuck={"claim_task": go})

    async def story() -> None:
        claiming = asyncio.ensure_future(async_session(channel).claim_task())
        await until_(lambda: channel.begun == ["claim_task"])
        claiming.cancel()
        await asyncio.sleep(0.01)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await claiming

    asyncio.run(story())
    assert released == [lease.id]


@pytest.mark.usefixtures("_renewed_all_the_time")
def test_a_cancellation_at_the_end_of_a_block_is_not_swallowed() -> None:
    """It comes while the block waits for a renewal that is under way: the lease is let go of, and the task ends."""
    go = threading.Event()
    channel = FakeChannel(stuck={"renew": go})

    async def block() -> str:
        async with async_session(channel).hold("account:1", ttl_seconds=TTL_SECONDS):
            await until_(lambda: "renew" in channel.begun)
        return "went on"

    async def story() -> None:
        task = asyncio.ensure_future(block())
        await until_(lambda: "renew" in channel.begun)
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.sleep(0.01)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    assert sorted(channel.done) == ["acquire", "release", "renew"]


def test_a_coroutine_that_nobody_awaits_any_more_asks_for_nothing() -> None:
    go = threading.Event()
    channel = FakeChannel(stuck={"acquire": go})

    async def story() -> None:
        acquiring = async_session(channel).acquire("account:1", wait_seconds=60.0)
        acquiring.send(None)
        acquiring.close()
        go.set()
        await until_(lambda: channel.done == ["acquire"])

    asyncio.run(story())
    assert channel.begun == ["acquire"]
