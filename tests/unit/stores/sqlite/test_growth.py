"""What SQLite does for a call does not grow with the leases and events of others, counted in its own instructions."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from bench import scale
from commonhold.api.service import Service
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow
FEW, MANY = 100, 10_000
KEY: Final = "repo:team1:part1:area1:mine"
CALLS: Final[dict[str, Callable[[Service, int], object]]] = {
    "acquire": lambda hold, turn: hold.acquire(f"{KEY}:{turn}", ticket=f"lease-{turn}"),
    "renew": lambda hold, turn: hold.renew(f"lease-{turn}"),
    "wait in line": lambda hold, turn: hold.acquire(scale.key_of(turn), patience_seconds=60, ticket=f"line-{turn}"),
    "release": lambda hold, turn: hold.release(f"lease-{turn}"),
    "put": lambda hold, turn: hold.put(f"value:{turn}", "text", expected_version=0),
    "get": lambda hold, turn: hold.get(f"value:{turn}"),
    "set_intent": lambda hold, turn: hold.set_intent(f"intent {turn}"),
    "send": lambda hold, _: hold.send("h1", text="hello"),
    "news": lambda hold, _: hold.news(),
    "read": lambda hold, _: hold.read("a.py"),
    "commit": lambda hold, turn: hold.commit(
        Changeset((Edit(Op.REPLACE, "a.py", base=hold.read("a.py")[0].hash, text=f"x = {turn}\n"),), intent="x")
    ),
    "log": lambda hold, _: hold.log(after=50, limit=10),
}


def instructions(folder: Path, count: int, patch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many of its instructions SQLite executes for each call, beside so many leases of others and their events."""
    patch.setattr(scale, "LEASES", count)
    patch.setattr(scale, "EVENTS", count)
    hold, store = scale.service(folder)
    scale.fill(store)
    (folder / "a.py").write_text("x = 0\n")
    for name in CALLS:  # so that each of them finds what it needs
        CALLS[name](hold, 0)
    found = {name: counted(store, lambda name=name: CALLS[name](hold, 1)) for name in CALLS}  # type: ignore[misc]
    store.close()
    return found


def counted(store: SqliteStore, call: Callable[[], object]) -> int:
    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        return False

    with store.read() as session:
        connection = session._connection
    connection.set_progress_handler(step, 1)
    try:
        call()
    finally:
        connection.set_progress_handler(None)
    return steps


def test_a_call_takes_as_many_instructions_beside_many_leases_as_beside_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = instructions(tmp_path / "few", FEW, monkeypatch)
    many = instructions(tmp_path / "many", MANY, monkeypatch)
    assert all(few.values())
    assert {name: (few[name], many[name]) for name in CALLS if many[name] > 2 * few[name]} == {}
