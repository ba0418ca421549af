"""The server behind the sockets: it runs in a thread of the daemon, and is loaded when somebody knocks."""

import asyncio
import socket
from collections.abc import Sequence
from itertools import count
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from commonhold.adapters.daemon_place import BACKLOG, is_of_this_user
from commonhold.server.asgi import BE_KNOWN, App, Receive, Scope, Send
from commonhold.server.mcp_app import McpApp

KEEP_ALIVE_SECONDS: Final = 75
HEAD_SECONDS: Final = 10
"""How long somebody who came over the loopback may take to say what is wanted: it could be anybody of this machine."""
MOST_OVER_LOOPBACK: Final = 512
"""So many may be connected there at once: what is open is shared with the agents, who come by the private way."""
MOST_STRANGERS: Final = 64
"""So many of them may be some who have not shown the token yet. Of more the oldest are hung up on, who had most time to
show it; all other places are for those who have."""
ACCEPTED_AT_ONCE: Final = 8
"""So many come in one turn of the loop. To hear somebody who sends the token at once takes a few turns, in which fewer
must come than may be strangers."""
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
    is_stranger = False
    number = 0
    _patience: asyncio.TimerHandle | None = None

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
        self.is_stranger, self.number = True, next(_numbers)
        if isinstance(self.app, Doors):
            self.app = self._told_who_is_known(self.app)
        there = [each for each in self.connections if isinstance(each, _Connection) and not each.is_private]
        strangers = [each for each in there if each.is_stranger]
        if len(there) > MOST_OVER_LOOPBACK:
            transport.abort()
        elif len(strangers) > MOST_STRANGERS:
            oldest = min(strangers, key=_number)
            oldest.is_stranger = False  # it counts until the loop has seen it go, and must not be found again
            oldest.transport.abort()
        self._patience = self.loop.call_later(HEAD_SECONDS, self._give_up, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._patience is not None:  # else it would keep what is left of the connection that long
            self._patience.cancel()

    def _told_who_is_known(self, app: App) -> App:
        """The same, given the means to say that who asks has shown the token."""

        async def telling(scope: Scope, receive: Receive, send: Send) -> None:
            scope[BE_KNOWN] = self._be_known
            await app(scope, receive, send)

        return telling

    def _be_known(self) -> None:
        self.is_stranger = False

    def _give_up(self, transport: asyncio.Transport) -> None:
        cycle: object = self.cycle
        if cycle is None:  # nothing was asked yet
            transport.abort()


_numbers: Final = count()


def _number(connection: _Connection) -> int:
    return connection.number


class _Server(uvicorn.Server):
    """uvicorn, told by an event when to end: it need not look ten times a second."""

    def __init__(self, config: uvicorn.Config, listeners: Sequence[socket.socket], stopped: asyncio.Event) -> None:
        super().__init__(config)
        self._listeners = listeners
        self._stopped = stopped

    async def main_loop(self) -> None:
        for each in self._listeners:
            each.listen(BACKLOG)
        await self.on_tick(0)
        await self._stopped.wait()


def serve(listeners: Sequence[socket.socket], doors: Doors, mcp: McpApp, stop_descriptor: int) -> None:
    """Serve until there is something to read from `stop_descriptor`; what is under way then has a little time."""
    asyncio.run(_serve(listeners, doors, mcp, stop_descriptor))


async def _serve(listeners: Sequence[socket.socket], doors: Doors, mcp: McpApp, stop_descriptor: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(stop_descriptor, stopped.set)
    server = _Server(uvicorn.Config(doors, **_CHOICES), listeners, stopped)
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
    "backlog": ACCEPTED_AT_ONCE,  # asyncio takes it for both; how many may wait in the kernel is set afterwards
    "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    "timeout_graceful_shutdown": LEAVE_SECONDS,
}
