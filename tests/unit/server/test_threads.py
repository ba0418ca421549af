"""Work beside the loop: its outcome, its context, and threads that are used again, though they end when idle."""

import asyncio
import threading
from contextvars import ContextVar
from functools import partial

import pytest

from commonhold.server import threads
from commonhold.server.threads import beside

NAME: ContextVar[str] = ContextVar("NAME", default="nobody")


def test_the_outcome_comes_back_and_each_work_has_the_context_of_its_caller() -> None:
    async def named(name: str) -> tuple[str, int]:
        NAME.set(name)
        return await beside(lambda: (NAME.get(), threading.get_ident()))

    async def all_in_turn() -> list[tuple[str, int]]:
        return [await asyncio.ensure_future(named(each)) for each in ("one", "two", "three")]

    found = asyncio.run(all_in_turn())
    assert [name for name, _ in found] == ["one", "two", "three"]
    assert threading.get_ident() not in {thread for _, thread in found}
    with pytest.raises(ZeroDivisionError):
        asyncio.run(beside(lambda: 1 // 0))


@pytest.mark.parametrize("idle_seconds", [0.0, 0.0005, 10.0])
def test_all_work_is_done_though_threads_end(idle_seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "IDLE_SECONDS", idle_seconds)
    used: set[int] = set()

    def work(number: int) -> int:
        used.add(threading.get_ident())
        return number

    async def waves() -> list[int]:
        found: list[int] = []
        for wave in range(100):
            found += await asyncio.gather(*(beside(partial(work, 5 * wave + each)) for each in range(5)))
            await asyncio.sleep(idle_seconds if idle_seconds < 1 else 0)
        return found

    assert asyncio.run(waves()) == list(range(500))
    if idle_seconds > 1:
        assert len(used) < 500


def test_work_that_hangs_keeps_no_other_waiting() -> None:
    go_on = threading.Event()

    async def both() -> str:
        hanging = asyncio.ensure_future(beside(go_on.wait))
        await asyncio.sleep(0)
        found = await beside(lambda: "done")
        assert not hanging.done()
        go_on.set()
        await hanging
        return found

    assert asyncio.run(both()) == "done"
