"""The server behind the sockets: it runs in a thread of the daemon, and is loaded at the first connection."""

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

import uvicorn

from commonhold.server.asgi import ABORT, BE_KNOWN, App, Receive, Scope, Send
from commonhold.workspace.daemon_files import BACKLOG, is_of_this_user

if TYPE_CHECKING or find_spec("httptools") is None:
    from uvicorn.protocols.http.h11_impl import H11Protocol as HttpProtocol
else:
    from commonhold.server.quick_protocol import QuickProtocol as HttpProtocol

KEEP_ALIVE_SECONDS: Final = 75
HEAD_SECONDS: Final = 10
"""How long a client of the loopback may take to send its request: it could be any program of this machine."""
MOST_OVER_LOOPBACK: Final = 512
"""Limit of connections over the loopback: they share the open files with the agents, who use the private socket."""
MOST_STRANGERS: Final = 64
"""Limit of connections there that have not shown the token yet.

Beyond it the oldest are closed, which had most time to show it; all other places are for clients that have.
"""
MOST_OVER_NETWORK: Final = 2048
MOST_STRANGERS_OVER_NETWORK: Final = 512
"""The same limits for clients over the network, many of whom may begin at the same moment."""
ACCEPTED_AT_ONCE: Final = 8
"""The number of connections accepted in one turn of the loop.

To read a token that is sent at once takes a few turns; fewer connections must arrive in these than may be strangers.
"""
LONGEST_MESSAGE_BYTES: Final = 65_536
"""A client of a WebSocket has nothing to say."""
LEAVE_SECONDS: Final = 5
"""How long requests under way may take at the end."""


@dataclass(frozen=True, slots=True)
class Face:
    """An entrance for clients over the network: its sockets, and the files of its certificate and key if it has any."""

    listeners: Sequence[socket.socket]
    certificate: str | None
    key: str | None


class Streams(Protocol):
    """Answers without an end of their own."""

    async def close(self) -> None:
        """End them."""


class Doors:
    """An entrance for programs of this user, and one for clients with the token; each connection gets one of them."""

    def __init__(self, private: App, guarded: App | None) -> None:
        """Admit clients by these two; without the second, none over the loopback."""
        self.private = private
        self.guarded = guarded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a client that did not come over the private socket."""
        if self.guarded is not None:
            await self.guarded(scope, receive, send)


class _Connection(HttpProtocol):
    is_private = False
    is_stranger = False
    number = 0
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        connection: socket.socket = transport.get_extra_info("socket")
        # The socket itself tells how the client came; the address of a client that has left already would not.
        self.is_private = connection.family == socket.AF_UNIX
        if not self.is_private:
            self._be_guarded(transport)
        elif isinstance(self.app, Doors):
            self.app = self.app.private
            if not is_of_this_user(connection):
                transport.abort()

    def _be_guarded(self, transport: asyncio.Transport) -> None:
        self.is_stranger, self.number = True, next(_numbers)
        self.app = self._told_who_is_known(self.app)
        there = [each for each in self.connections if isinstance(each, _Connection) and not each.is_private]
        strangers = [each for each in there if each.is_stranger]
        most, most_strangers = self._limits()
        if len(there) > most:
            transport.abort()
        elif len(strangers) > most_strangers:
            oldest = min(strangers, key=attrgetter("number"))
            oldest.is_stranger = False  # it is in the list until the loop has closed it, and must not be chosen again
            oldest.transport.abort()
        self._patience = self.loop.call_later(HEAD_SECONDS, self._give_up, transport)

    def _limits(self) -> tuple[int, int]:
        """Return how many connections there may be, and how many of them without a token."""
        return MOST_OVER_LOOPBACK, MOST_STRANGERS

    def handle_websocket_upgrade(self, *event: Any) -> None:  # noqa: ANN401 - h11 has one, httptools has none
        self._stop_waiting()
        super().handle_websocket_upgrade(*event)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._patience is not None:  # else it would keep the closed connection in memory that long
            self._patience.cancel()

    def _told_who_is_known(self, app: App) -> App:
        """Return the same application, whose scope has calls to report a known client, and to end the connection."""

        async def telling(scope: Scope, receive: Receive, send: Send) -> None:
            scope[BE_KNOWN], scope[ABORT] = self._be_known, self.transport.abort
            await app(scope, receive, send)

        return telling

    def _be_known(self) -> None:
        self.is_stranger = False

    def _give_up(self, transport: asyncio.Transport) -> None:
        cycle: object = self.cycle
        if cycle is None:  # no request has come yet
            transport.abort()


class _NetworkConnection(_Connection):
    def _limits(self) -> tuple[int, int]:
        return MOST_OVER_NETWORK, MOST_STRANGERS_OVER_NETWORK


_numbers: Final = count()


class _Server(uvicorn.Server):
    """uvicorn, ended by an event: it need not poll ten times a second."""

    def __init__(self, config: uvicorn.Config, listeners: Sequence[socket.socket], stopped: asyncio.Event) -> None:
        super().__init__(config)
        self._listeners = listeners
        self._stopped = stopped

    async def main_loop(self) -> None:
        for each in self._listeners:
            each.listen(BACKLOG)
        await self.on_tick(0)
        await self._stopped.wait()


def serve(
    listeners: Sequence[socket.socket],
    doors: Doors,
    streams: Streams,
    stop_descriptor: int,
    network: tuple[Face, App] | None = None,
) -> None:
    """Serve until there is something to read from `stop_descriptor`; requests under way then get a limited time."""
    asyncio.run(_serve(listeners, doors, streams, stop_descriptor, network))


async def _serve(
    listeners: Sequence[socket.socket],
    doors: Doors,
    streams: Streams,
    stop_descriptor: int,
    network: tuple[Face, App] | None,
) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(stop_descriptor, stopped.set)
    servers = [(_Server(uvicorn.Config(doors, **_CHOICES), listeners, stopped), listeners)]
    if network is not None:
        face, app = network
        tls = {"ssl_certfile": face.certificate, "ssl_keyfile": face.key}
        choices = {"http": _NetworkConnection, "ws": _websockets(), "ws_max_size": LONGEST_MESSAGE_BYTES}
        config = uvicorn.Config(app, **_CHOICES | tls | choices)
        servers.append((_Server(config, face.listeners, stopped), face.listeners))
    serving = [asyncio.ensure_future(each.serve(sockets=list(sockets))) for each, sockets in servers]
    await stopped.wait()
    await streams.close()
    await asyncio.gather(*serving)


def _websockets() -> Any:  # noqa: ANN401 - uvicorn takes a class or a name
    """Return what serves WebSockets: uvicorn's "none" if the library for them is not installed."""
    if find_spec("websockets") is None:
        return "none"
    from commonhold.server.web_socket import WebSocketProtocol  # noqa: PLC0415 - only the network needs it

    return WebSocketProtocol


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
    "backlog": ACCEPTED_AT_ONCE,  # asyncio uses it for both; the backlog of the kernel is set afterwards
    "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    "timeout_graceful_shutdown": LEAVE_SECONDS,
}
