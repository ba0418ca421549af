"""Operations are declared on the service, and the declarations agree with the methods that they stand above."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.operations import Operation, Schedule, declared
from commonhold.api.service import OPERATIONS, Service
from commonhold.client.channel import repeatable
from commonhold.kernel.files import FileState
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

IN_PROCESS = {"close", "examine_deferred", "sweep_some", "add_notice"}
"""Methods that only the process with the service in it may call."""

QUICK_CALLS: dict[str, Callable[[Service, str], Any]] = {
    "news": lambda service, _: service.news(),
    "acquire": lambda service, _: service.acquire("account:2"),
    "renew": lambda service, lease: service.renew(lease),
    "release": lambda service, lease: service.release(lease),
    "ask": lambda service, lease: service.ask(lease, why="mine waits"),
    "hand_over": lambda service, lease: service.hand_over(lease, to="two"),
    "break_lease": lambda service, lease: service.break_lease(lease, reason="its machine is gone"),
    "get": lambda service, _: service.get("account:1"),
    "put": lambda service, _: service.put("account:1", "open", expected_version=0),
    "heartbeat": lambda service, _: service.heartbeat(),
    "leases": lambda service, _: service.leases(),
    "worktree_id": lambda service, _: service.worktree_id(),
    "intent": lambda service, _: service.intent(),
    "who": lambda service, _: service.who("a.py#one"),
    "status": lambda service, _: service.status(),
}
"""A call of each quick operation, by a session that holds a lease."""


class CountedFiles(WorkingTree):
    """A working tree that counts the files that are read from it."""

    loads = 0

    def load(self, path: str) -> FileState | None:
        self.loads += 1
        return super().load(path)


@pytest.fixture
def files(tmp_path: Path) -> CountedFiles:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.py").write_text("def one(): pass\n", encoding="utf-8")
    return CountedFiles(str(tmp_path / "root"))


@pytest.fixture
def service(files: CountedFiles, tmp_path: Path) -> Iterator[Service]:
    store = SqliteStore(str(tmp_path / "state"), synchronous="OFF")
    with Service(store=store, files=files, clock=FakeClock(), ids=CountingIds(), agent="one") as service:
        yield service


def named(**traits: object) -> set[str]:
    """The operations with these traits."""
    return {
        name
        for name, each in OPERATIONS.items()
        if all(getattr(each, trait) == value for trait, value in traits.items())
    }


def test_every_method_is_an_operation_or_stays_in_its_process() -> None:
    methods = {name for name, _ in inspect.getmembers(Service, inspect.isfunction) if not name.startswith("_")}
    assert methods == OPERATIONS.keys() | IN_PROCESS
    assert not OPERATIONS.keys() & IN_PROCESS


def test_only_decorated_methods_are_operations() -> None:
    class Shop:
        @Operation(Schedule.QUICK, reads=True)
        def price(self) -> int:
            return 1

        def clean(self) -> None: ...

    assert declared(Shop) == {"price": Operation(Schedule.QUICK, reads=True)}
    assert Shop().price() == 1


def test_an_operation_that_only_reads_plans_no_writes() -> None:
    assert not named(reads=True) & named(schedule=Schedule.PLANNED)
    assert not named(reads=True) & named(once=True)


def test_every_quick_operation_is_called_here() -> None:
    assert QUICK_CALLS.keys() == named(schedule=Schedule.QUICK)


@pytest.mark.parametrize("name", QUICK_CALLS)
def test_a_quick_operation_reads_no_file(name: str, service: Service, files: CountedFiles) -> None:
    held = service.acquire("account:1").lease
    assert held
    QUICK_CALLS[name](service, held.id)
    assert files.loads == 0


def test_other_operations_may_read_files(service: Service, files: CountedFiles) -> None:
    service.regions("a.py")
    assert files.loads > 0


@pytest.mark.parametrize("name", sorted(named(once=True)))
def test_what_takes_effect_once_gets_an_id_for_its_repetition(name: str) -> None:
    assert "request_id" in inspect.signature(getattr(Service, name)).parameters
    _, given = repeatable(name, (), {})
    assert given["request_id"]
    assert repeatable(name, (), {"request_id": "mine"}) == ((), {"request_id": "mine"})


@pytest.mark.parametrize("name", sorted(named(once=False) - {"commit"}))
def test_any_other_call_is_repeated_as_it_is(name: str) -> None:
    assert repeatable(name, ("a",), {"b": 1}) == (("a",), {"b": 1})


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_says_what_it_does(name: str) -> None:
    assert getattr(Service, name).__doc__
