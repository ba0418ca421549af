"""WebSockets by uvicorn, for which a refused handshake is no error of the server."""

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A connection. uvicorn logs an error for each answer but a handshake: clients could fill the log with those."""

    async def run_asgi(self) -> None:
        """Run the application; what follows its refusal is the end of the connection."""
        app: Callable[..., Any] = self.app

        async def ending(*arguments: Any) -> None:  # noqa: ANN401 - scope, receive and send
            await app(*arguments)
            if self.initial_response is not None:
                raise ClientDisconnected

        self.app = ending
        await super().run_asgi()

    async def send(self, message: Any) -> None:  # noqa: ANN401 - ASGI's own form
        """Send a message. Raises ClientDisconnected if the client has gone: a refusal can no longer be written."""
        if message["type"] == "websocket.http.response.body" and self.conn.eof_sent:
            raise ClientDisconnected
        await super().send(message)
