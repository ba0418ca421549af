"""The server behind the sockets: it runs in a thread of the daemon, and is loaded when somebody knocks."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from commonhold.adapters.daemon_place import BACKLOG, is_of_this_user
from commonhold.server.asgi import App, Receive, Scope, Send
from commonhold.server.mcp_app import McpApp

KEEP_ALIVE_SECONDS: Final = 75
HEAD_SECONDS: Final = 10
"""How long somebody who came over the loopback may take to say what is wanted: it could be anybody of this machine."""
MOST_OVER_LOOPBACK: Final = 512
"""So many may be connected there at once: what is open is shared with the agents, who come by the private way."""
LEAVE_SECONDS: Final = 5
"""How long is waited at the end for what is under way."""


class Doors:
    """One way in for programs of this user, one for who knows the token; a connection is told which it came by."""

    def __init__(self, private: App, guarded: App | None) -> None:
        """Let in by these two; without the second nobody comes over the loopback."""
        self.private = private
        self.guarded = guarded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer whoever did not come by the private way."""
        if self.guarded is not None:
            await self.guarded(scope, receive, send)


class _Connection(H11Protocol):
    is_private = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        connection: socket.socket = transport.get_extra_info("socket")
        # The socket itself says how somebody came; the address of one that has left already would not.
        self.is_private = connection.family == socket.AF_UNIX
        if not self.is_private:
            self._be_guarded(transport)
        elif isinstance(self.app, Doors):
            self.app = self.app.private
            if not is_of_this_user(connection):
                transport.abort()

    def _be_guarded(self, transport: asyncio.Transport) -> None:
        if sum(isinstance(each, _Connection) and not each.is_private for each in self.connections) > MOST_OVER_LOOPBACK:
            transport.abort()
        self.loop.call_later(HEAD_SECONDS, self._give_up, transport)

    def _give_up(self, transport: asyncio.Transport) -> None:
        cycle: object = self.cycle
        if cycle is None:  # nothing was asked yet
            transport.abort()


class _Server(uvicorn.Server):
    """uvicorn, told by an event when to end: it need not look ten times a second."""

    def __init__(self, config: uvicorn.Config, stopped: asyncio.Event) -> None:
        super().__init__(config)
        self._stopped = stopped

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._stopped.wait()


def serve(listeners: Sequence[socket.socket], doors: Doors, mcp: McpApp, stop_descriptor: int) -> None:
    """Serve until there is something to read from `stop_descriptor`; what is under way then has a little time."""
    asyncio.run(_serve(listeners, doors, mcp, stop_descriptor))


async def _serve(listeners: Sequence[socket.socket], doors: Doors, mcp: McpApp, stop_descriptor: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(stop_descriptor, stopped.set)
    server = _Server(uvicorn.Config(doors, **_CHOICES), stopped)
    serving = asyncio.ensure_future(server.serve(sockets=list(listeners)))
    await stopped.wait()
    await mcp.close()  # its streams have no end of their own
    await serving


_CHOICES: Final[dict[str, Any]] = {
    "http": _Connection,
    "interface": "asgi3",
    "loop": "asyncio",
    "ws": "none",
    "lifespan": "off",
    "log_config": None,
    "access_log": False,
    "proxy_headers": False,
    "server_header": False,
    "date_header": False,
    "backlog": BACKLOG,
    "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    "timeout_graceful_shutdown": LEAVE_SECONDS,
}
