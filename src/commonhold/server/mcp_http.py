"""The SDK's Model Context Protocol over HTTP, for the sessions of all agents in one repository."""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.agents.runtime.idleness import idle_seconds
from commonhold.agents.runtime.periodic_tasks import ROUND_SECONDS
from commonhold.client.async_session import AsyncCommonhold
from commonhold.client.opening import FindChannel
from commonhold.server.asgi import MAX_BODY_BYTES, App, Receive, Scope, Send
from commonhold.server.holder import Posted, Seat
from commonhold.server.mcp import HUNG_UP, Desk, build

LEAVE_SECONDS: Final = 1.0
"""How long calls have at the end; one that waits in line for longer is asked to come again."""


@asynccontextmanager
async def opened(path: str, seen: CallsSeen, find_channel: FindChannel) -> AsyncIterator[App]:
    """Yield the application. Clients were admitted before: neither Host nor Origin is checked here."""

    def opened_at(seat: Seat) -> AsyncCommonhold:
        root, channel = find_channel(seat.path, seat.holder)
        return AsyncCommonhold(channel, root=root, agent=seat.holder)

    desk = Desk(Posted(path, seen), opened_at)
    sessions = StreamableHTTPSessionManager(build(desk), max_request_body_size=MAX_BODY_BYTES)
    rounds = asyncio.create_task(_go_round(desk, path))
    try:
        async with sessions.run():
            yield noting_who_hangs_up(cast("App", sessions.handle_request))
    finally:
        rounds.cancel()
        await asyncio.gather(rounds, return_exceptions=True)
        await desk.close(patience_seconds=LEAVE_SECONDS)


def noting_who_hangs_up(app: App) -> App:
    """Return the application; its calls learn from the scope that their client is gone.

    In the older protocol a call goes on without its connection, since the client could resume it there; here it cannot.
    """

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        gone = scope[HUNG_UP] = asyncio.Event()

        async def received() -> MutableMapping[str, Any]:
            message = await receive()
            if message["type"] == "http.disconnect":
                gone.set()
            return message

        await app(scope, received, send)

    return noting


async def _go_round(desk: Desk, path: str) -> None:
    while True:
        await asyncio.sleep(ROUND_SECONDS)
        await desk.let_go_of_silent(idle_seconds(path))
