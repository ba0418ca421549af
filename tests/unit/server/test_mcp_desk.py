"""The sessions behind tool calls: open while they are spoken to, and for a while after that."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes import FakeClock
from tests.hooked import git

from commonhold.client.async_opening import open_async
from commonhold.client.async_session import AsyncCommonhold
from commonhold.server.holder import Origin, Seat
from commonhold.server.mcp import Desk

IDLE_SECONDS = 600.0


@pytest.fixture
def seat_of(tmp_path: Path) -> Callable[[Origin], Seat]:
    git(tmp_path, "init", "--quiet")
    return lambda origin: Seat(str(tmp_path), origin.client)


def without_daemon(seat: Seat) -> AsyncCommonhold:
    return open_async(seat.path, agent=seat.holder, daemon=False)


def test_who_falls_silent_is_let_go_and_opened_anew(seat_of: Callable[[Origin], Seat]) -> None:
    clock = FakeClock()

    async def story() -> list[list[str | None]]:
        desk = Desk(seat_of, without_daemon, lambda: clock.seconds)
        open_then: list[list[str | None]] = []

        async def calls(name: str) -> None:
            result = await desk.answer("status", {}, Origin(client=name))
            assert not result.is_error

        for name, seconds in (("ann", IDLE_SECONDS / 2), ("bob", IDLE_SECONDS / 2), ("ann", 0.0)):
            await calls(name)
            clock.advance(seconds)
            await desk.let_go_of_silent(IDLE_SECONDS)
            open_then.append([seat.holder for seat in desk._open])
        await desk.close()
        return open_then

    assert asyncio.run(story()) == [["ann"], ["bob"], ["bob", "ann"]]


def test_who_is_at_it_is_not_silent(seat_of: Callable[[Origin], Seat]) -> None:
    clock = FakeClock()

    async def story() -> list[int]:
        desk = Desk(seat_of, without_daemon, lambda: clock.seconds)
        await desk.answer("status", {}, Origin(client="ann"))
        clock.advance(IDLE_SECONDS)
        counts = []
        for guests in (1, 0):
            for place in desk._open.values():
                place.guests = guests
            await desk.let_go_of_silent(IDLE_SECONDS)
            counts.append(len(desk._open))
        await desk.close()
        return counts

    assert asyncio.run(story()) == [1, 0]
