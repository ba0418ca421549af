"""The session for threads and the one for asyncio are the same: same operations, same words, same results."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import CountingIds, FakeClock

import commonhold
from commonhold import Changeset, Code, CommonholdError, Edit, Mode, Op
from commonhold.api.service import Service
from commonhold.api.wire import calls
from commonhold.client.async_opening import open_async
from commonhold.client.async_session import AsyncCommonhold
from commonhold.client.channel import Channel, Direct
from commonhold.client.opening import open_session
from commonhold.client.session import Commonhold
from commonhold.kernel.values import Version
from commonhold.machine.system import RandomIds
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

TWINS = (Commonhold, AsyncCommonhold)
INSIDE = {"drive"}
"""What the operations of a session stand on."""


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")} - INSIDE


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return {name: each for name, each in inspect.signature(function).parameters.items() if name != "self"}


IN_PROCESS = {"examine_deferred", "plans", "session_queue", "task_queue", "merge_queue", "sweep_some", "add_notice"}
"""What only the process that has the service itself does with it."""
OPERATIONS = sorted(public(Service) - IN_PROCESS - {"close", "heartbeat", "root", "holder", "is_shared"})


def test_both_have_the_operations_of_the_service_and_more_besides() -> None:
    assert public(Commonhold) == public(AsyncCommonhold)
    assert public(Commonhold) >= {*OPERATIONS, "hold", "close", "root", "holder"}


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "acquire"])
def test_an_operation_takes_and_gives_what_the_service_does(name: str) -> None:
    original = getattr(Service, name)
    for twin in TWINS:
        method = getattr(twin, name)
        assert parameters(method) == parameters(original)
        assert inspect.signature(method).return_annotation == inspect.signature(original).return_annotation
        assert method.__doc__


@pytest.mark.parametrize("name", sorted(public(Commonhold) - set(OPERATIONS) - {"root", "holder"}))
def test_what_they_have_besides_takes_the_same_in_both(name: str) -> None:
    assert parameters(getattr(Commonhold, name)) == parameters(getattr(AsyncCommonhold, name))


def test_acquire_takes_what_the_service_does_and_how_long_to_wait() -> None:
    for twin in TWINS:
        taken = parameters(twin.acquire)
        assert taken.pop("wait_seconds").default == 0.0
        assert taken == parameters(Service.acquire)
        assert twin.acquire.__doc__


@pytest.mark.parametrize("name", OPERATIONS)
def test_one_is_awaited_and_the_other_is_not(name: str) -> None:
    assert inspect.iscoroutinefunction(getattr(AsyncCommonhold, name))
    assert not inspect.iscoroutinefunction(getattr(Commonhold, name))


def test_both_are_opened_alike() -> None:
    assert parameters(open_session) == parameters(open_async)


def test_what_a_daemon_does_for_others_is_all_but_what_needs_no_state() -> None:
    assert public(Service) - IN_PROCESS - {"close", "root", "holder", "is_shared", "regions"} == calls.NAMES


@dataclass
class Recorder:
    """A channel that writes down what is asked and answered."""

    inner: Channel
    facts: list[object]

    def call(self, name: str, arguments: Any, named: Any) -> Any:
        self.facts.append((name, tuple(arguments), dict(named)))
        try:
            answer = self.inner.call(name, arguments, named)
        except CommonholdError as fault:
            self.facts.append((fault.code, fault.message, fault.hint, fault.fields))
            raise
        self.facts.append(answer)
        return answer

    def close(self) -> None:
        self.inner.close()


Run = Callable[[Any], Any]


def story(say: Run, hold: Any) -> Iterator[object]:
    """Everything that a session can do, and some that it cannot. `say` does one operation."""
    (one,) = say(hold.read("a.py#f"))
    granted = say(hold.acquire("account:1", "a.py#f", task="pay", ttl_seconds=60.0))
    yield granted
    yield say(hold.acquire("account:1", mode=Mode.SHARED, wait_seconds=0.01))
    yield say(hold.renew(granted.lease.id, ttl_seconds=30.0))
    yield say(hold.ask(granted.lease.id, why="please"))
    yield say(hold.put("account:1", "5", expected_version=0, fence=granted.lease.fence))
    yield say(hold.put("account:1", "6", expected_version=0))
    yield say(hold.put("account:2", None, expected_version=0, reads=[Version("account:1", 1)]))
    yield say(hold.get("account:1"))
    edit = Edit(Op.REPLACE, "a.py#f", one.hash, "def f():\n    return 2\n")
    yield say(hold.commit(Changeset((edit,), "two"), dry_run=True))
    yield say(hold.commit(Changeset((edit,), "two", "r1")))
    yield say(hold.commit(Changeset((edit,), "two", "r1")))
    yield say(hold.commit(Changeset((edit,), "two")))
    yield say(hold.hand_over(granted.lease.id, to="bob"))
    yield say(hold.release(granted.lease.id))
    yield say(hold.break_lease(granted.lease.id, reason="gone"))
    yield [
        say(ask) for ask in (hold.leases(), hold.status(), hold.who("a.py"), hold.log(after=0), hold.regions("a.py"))
    ]
    yield [say(ask) for ask in (hold.content(one.hash), hold.recover(), hold.apply_retention(), hold.sweep())]
    yield [say(ask) for ask in (hold.partial_works(), hold.review("lease-1", note="looked"))]
    yield [say(ask) for ask in (hold.record_read("a.py", "a.py#f"), hold.last_read("a.py"), hold.news())]
    for ask in (
        hold.acquire,
        lambda: hold.read("b.py"),
        lambda: hold.content("00"),
        lambda: hold.renew("x", ttl_seconds=-1),
    ):
        yield _code(say, ask)


def _code(say: Run, ask: Callable[[], Any]) -> Code:
    with pytest.raises(CommonholdError) as caught:
        say(ask())
    return caught.value.code


def channel(folder: Path, facts: list[object]) -> Channel:
    (folder / "root").mkdir(parents=True)
    (folder / "root/a.py").write_text("def f():\n    return 1\n")
    service = Service(
        store=SqliteStore(str(folder / "state"), synchronous="OFF"),
        files=WorkingTree(str(folder / "root")),
        clock=FakeClock(),
        ids=CountingIds(),
        agent="ann",
    )
    return Recorder(Direct(service), facts)


def told_to_threads(folder: Path) -> list[object]:
    facts: list[object] = []
    with Commonhold(channel(folder, facts), root=str(folder / "root"), agent="ann") as hold:
        facts += story(lambda answer: answer, hold)
        with hold.hold("account:9", ttl_seconds=60.0) as held:
            held.check()
            facts += [held.keys, held.fence, held.is_lost]
        facts.append(hold.leases())
    return facts


def told_to_asyncio(folder: Path) -> list[object]:
    facts: list[object] = []
    run = asyncio.Runner()

    async def wait_for(answer: Awaitable[object]) -> object:
        return await answer

    async def take_hold() -> None:
        async with hold.hold("account:9", ttl_seconds=60.0) as held:
            held.check()
            facts.extend([held.keys, held.fence, held.is_lost])

    async def open_it() -> AsyncCommonhold:
        return AsyncCommonhold(channel(folder, facts), root=str(folder / "root"), agent="ann")

    with run:
        hold = run.run(open_it())
        facts += story(lambda answer: run.run(wait_for(answer)), hold)
        run.run(take_hold())
        facts.append(run.run(wait_for(hold.leases())))
        run.run(hold.close())
    return facts


def counting() -> Callable[[RandomIds, str], str]:
    numbers = count(1)
    return lambda _, prefix: f"{prefix}-{next(numbers)}"


def test_both_tell_the_same_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RandomIds, "new", counting())
    first = told_to_threads(tmp_path / "same")
    (tmp_path / "same").rename(tmp_path / "before")
    monkeypatch.setattr(RandomIds, "new", counting())
    assert told_to_asyncio(tmp_path / "same") == first
    assert len(first) > 80


def test_both_say_who_they_are(tmp_path: Path) -> None:
    for twin in TWINS:
        session = twin(Recorder(Direct(None), []), root=str(tmp_path), agent="ann")  # type: ignore[arg-type]
        assert (session.root, session.holder) == (str(tmp_path), "ann")
        nobody = twin(Recorder(Direct(None), []), root=str(tmp_path))  # type: ignore[arg-type]
        with pytest.raises(CommonholdError) as caught:
            _ = nobody.holder
        assert caught.value.code is Code.HOLDER_MISSING


def test_the_public_names_lead_to_them() -> None:
    assert (commonhold.open, commonhold.open_async) == (open_session, open_async)
    assert (commonhold.Commonhold, commonhold.AsyncCommonhold) == TWINS
