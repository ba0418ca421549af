"""Waiting through the daemon: woken at once, first come first served, and nobody is waited for who is gone."""

import asyncio
import os
import signal
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.daemon_process import Client, Raw, Serving, client, serving
from tests.patience import until

import commonhold
from commonhold import Commonhold, LeaseGranted
from commonhold.client.channel import FallbackTransport

pytestmark = pytest.mark.slow
KEYS = ["account:1", "a.py#one", "a.py"]
"""What can be decided at once, and what needs a look into a file."""


def in_line(hold: Commonhold) -> list[str]:
    return [waiter.holder for waiter in hold.status().waiters]


def standing(stack: ExitStack, daemon: Serving, hold: Commonhold, agent: str, key: str) -> Client:
    """A client process that stands in line."""
    found = stack.enter_context(client(daemon.root, "stand", agent, key, 60))
    found.begin()
    until(lambda: agent in in_line(hold))
    return found


def held(hold: Commonhold, key: str) -> str:
    answer = hold.acquire(key, ttl_seconds=600.0)
    assert answer.lease is not None
    return answer.lease.id


@pytest.mark.parametrize("key", KEYS)
def test_who_waits_is_woken_by_the_release_and_asked_only_once(
    root: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No polling: one request goes out, and its answer is the grant."""
    asked: list[str] = []
    call = FallbackTransport.call

    def counted(self: FallbackTransport, name: str, arguments: Any, named: Any) -> Any:
        asked.append(name)
        return call(self, name, arguments, named)

    with serving(root) as daemon, daemon.session("ann") as ann, daemon.session("bob") as bob:
        lease_id = held(ann, key)
        monkeypatch.setattr(FallbackTransport, "call", counted)
        answers: list[commonhold.AcquireAnswer] = []
        waiting = threading.Thread(target=lambda: answers.append(bob.acquire(key, wait_seconds=60.0)))
        waiting.start()
        with Raw(daemon.address) as raw:
            raw.introduce(str(root), "ann")
            until(lambda: b"bob" in asked_status(raw))
            raw.ask(2, "release", lease_id)
            raw.hear()
        waiting.join()
    assert [answer.outcome for answer in answers] == ["granted"]
    assert asked == ["acquire"]


def asked_status(raw: Raw) -> bytes:
    raw.ask(1, "status")
    return bytes(raw.hear().body)


@pytest.mark.parametrize("key", KEYS)
def test_a_client_that_dies_in_line_makes_room_at_once(root: Path, key: str) -> None:
    with serving(root) as daemon, daemon.session("ann") as ann, ExitStack() as stack:
        lease_id = held(ann, key)
        bob, cid = (standing(stack, daemon, ann, agent, key) for agent in ("bob", "cid"))
        bob.kill()
        until(lambda: in_line(ann) == ["cid"])
        ann.release(lease_id)
        assert cid.hear()["outcome"] == "granted"


def test_who_was_killed_before_its_turn_came_does_not_get_it(root: Path) -> None:
    """The daemon stands still while one that waits is killed and the holder lets go: it learns of both at once."""
    with serving(root) as daemon, daemon.session("ann") as ann, ExitStack() as stack:
        lease_id = held(ann, "account:1")
        bob, cid = (standing(stack, daemon, ann, agent, "account:1") for agent in ("bob", "cid"))
        daemon.suspend()
        with Raw(daemon.address) as raw:
            raw.socket.sendall(b"")
            releasing = threading.Thread(target=ann.release, args=(lease_id,))
            releasing.start()
            bob.kill()
            daemon.resume()
            releasing.join()
        assert cid.hear()["outcome"] == "granted"
        assert [lease.holder for lease in ann.leases()] == ["cid"]


def test_a_lease_that_nobody_claims_ends_early_and_the_next_is_served(root: Path) -> None:
    """The daemon dies with the one that is next in line: the new daemon grants to the dead, and not for long."""
    # A machine may be so slow that a place in line is over before: then a longer one is taken.
    granted = next(filter(None, (granted_to_the_dead(root, seconds) for seconds in (2, 10, 50))))
    assert granted == [("bob", False)]
    with serving(root) as second, second.session("cid") as cid:
        assert cid.acquire("account:1", wait_seconds=100.0).outcome == "granted"


def granted_to_the_dead(root: Path, patience_seconds: int) -> list[tuple[str, bool]]:
    """Who has a lease, and whether it was claimed, after one died in line together with the daemon."""
    with serving(root) as first, first.session("ann") as ann, ExitStack() as stack:
        lease_id = held(ann, "account:1")
        bob = stack.enter_context(client(root, "stand", "bob", "account:1", 60, patience_seconds))
        bob.begin()
        until(lambda: in_line(ann) == ["bob"])
        first.suspend()
        bob.kill()
        first.process.kill()
        first.process.wait()
        with commonhold.open(str(root), agent="ann", daemon=False) as direct:
            direct.release(lease_id)
            return [(lease.holder, lease.is_claimed) for lease in direct.leases()]


def test_eight_processes_are_served_in_the_order_in_which_they_came(root: Path) -> None:
    with serving(root) as daemon, daemon.session("ann") as ann, ExitStack() as stack:
        lease_id = held(ann, "account:1")
        names = [f"agent-{number}" for number in range(8)]
        waiting = [stack.enter_context(client(daemon.root, "stand", name, "account:1", 60)) for name in names]
        for name, each in zip(names, waiting, strict=True):
            each.begin()
            until(lambda: name in in_line(ann))  # noqa: B023 - asked at once
        ann.release(lease_id)
        for each in waiting:
            assert each.hear()["outcome"] == "granted"
            each.go_on()
            assert each.hear()["outcome"] == "released"
        grants = [each.event.lease for each in ann.log(after=0) if isinstance(each.event, LeaseGranted)]
        assert [lease.holder for lease in grants] == ["ann", *names]
        fences = [lease.fence for lease in grants]
        assert fences == sorted(set(fences))


def test_who_gives_up_leaves_no_place_in_line(root: Path) -> None:
    with serving(root) as daemon, daemon.session("ann") as ann, daemon.session("bob") as bob:
        held(ann, "account:1")
        assert bob.acquire("account:1", wait_seconds=0.2).outcome == "denied"
        assert in_line(ann) == []


@pytest.mark.parametrize("key", KEYS)
def test_ctrl_c_in_the_middle_of_a_wait_leaves_no_place_in_line(root: Path, key: str) -> None:
    with serving(root) as daemon, daemon.session("ann") as ann, daemon.session("bob") as bob:
        lease_id = held(ann, key)
        interrupting = threading.Thread(target=interrupt_when, args=(ann, "bob"))
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            bob.acquire(key, wait_seconds=60.0)
        interrupting.join()
        assert in_line(ann) == []
        ann.release(lease_id)
        assert ann.leases() == ()


def interrupt_when(hold: Commonhold, agent: str) -> None:
    until(lambda: agent in in_line(hold))
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("key", KEYS)
def test_a_cancelled_wait_ends_at_once_and_leaves_no_place_in_line(root: Path, key: str) -> None:
    async def story(daemon: Serving) -> None:
        with daemon.session("ann") as ann:
            async with commonhold.open_async(str(root), agent="bob", daemon=True) as bob:
                lease_id = held(ann, key)
                waiting = asyncio.ensure_future(bob.acquire(key, wait_seconds=3600.0))
                await asyncio.to_thread(until, lambda: in_line(ann) == ["bob"])
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                assert in_line(ann) == []
                ann.release(lease_id)
                assert await bob.leases() == ()

    with serving(root) as daemon:
        asyncio.run(story(daemon))


def test_many_tasks_that_wait_do_not_keep_out_the_others(root: Path) -> None:
    """Each wait has a thread of its own: were there only a few, nobody could renew or let go meanwhile."""
    keys = [f"account:{number}" for number in range(40)]

    async def story(bob: Commonhold) -> None:
        leases = [held(bob, key) for key in keys]
        async with commonhold.open_async(str(root), agent="ann", daemon=True) as ann:
            waiting = [asyncio.ensure_future(ann.acquire(key, wait_seconds=3600.0)) for key in keys]
            await asyncio.to_thread(until, lambda: len(in_line(bob)) == len(keys))
            assert (await ann.put("account:x", "x", expected_version=0)).outcome == "stored"
            for lease_id in leases:
                await asyncio.to_thread(bob.release, lease_id)
            assert {answer.outcome for answer in await asyncio.gather(*waiting)} == {"granted"}

    with serving(root) as daemon, daemon.session("bob") as bob:
        asyncio.run(story(bob))


def test_many_tasks_of_as_many_agents_take_their_turns(root: Path) -> None:
    async def take_a_turn(number: int, turns: list[int]) -> None:
        session = commonhold.open_async(str(root), agent=f"agent-{number}", daemon=True)
        async with session as hold, hold.hold("account:1", wait_seconds=60.0) as lease:
            lease.check()
            turns.append(lease.fence)

    async def story() -> list[int]:
        turns: list[int] = []
        await asyncio.gather(*(take_a_turn(number, turns) for number in range(40)))
        return turns

    with serving(root):
        turns = asyncio.run(story())
    assert len(turns) == 40
    assert turns == sorted(set(turns))


def test_two_tasks_of_one_session_have_leases_of_their_own(root: Path) -> None:
    async def story() -> None:
        async with commonhold.open_async(str(root), agent="ann", daemon=True) as hold:
            both = asyncio.Barrier(2)

            async def task(key: str) -> tuple[str, int]:
                async with hold.hold(key) as lease:
                    await both.wait()
                    assert lease.keys == (key,)
                    await both.wait()
                    return lease.id, lease.fence

            (first, fence), (second, other) = await asyncio.gather(task("account:1"), task("account:2"))
            assert first != second
            assert fence != other
            assert await hold.leases() == ()

    with serving(root):
        asyncio.run(story())
