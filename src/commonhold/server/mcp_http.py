"""What the SDK does of the Model Context Protocol over HTTP, for the sessions of all agents in one repository."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from commonhold.server.asgi import MAX_BODY_BYTES, App
from commonhold.server.calls_seen import CallsSeen
from commonhold.server.holder import Posted
from commonhold.server.idleness import idle_seconds
from commonhold.server.mcp import Desk, build
from commonhold.server.rounds import ROUND_SECONDS

LEAVE_SECONDS: Final = 1.0
"""How long calls have at the end; who waits in line for longer is told to come again."""


@asynccontextmanager
async def opened(path: str, seen: CallsSeen) -> AsyncIterator[App]:
    """The application. Who may ask has been seen to before: neither Host nor Origin is looked at here."""
    desk = Desk(Posted(path, seen), daemon=True)  # this process is the daemon, whatever its settings say
    sessions = StreamableHTTPSessionManager(build(desk), max_request_body_size=MAX_BODY_BYTES)
    rounds = asyncio.create_task(_go_round(desk, path))
    try:
        async with sessions.run():
            yield cast("App", sessions.handle_request)
    finally:
        rounds.cancel()
        await asyncio.gather(rounds, return_exceptions=True)
        await desk.close(patience_seconds=LEAVE_SECONDS)


async def _go_round(desk: Desk, path: str) -> None:
    while True:
        await asyncio.sleep(ROUND_SECONDS)
        await desk.let_go_of_silent(idle_seconds(path))
