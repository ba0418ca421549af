"""One connection to an HTTP server: a request is one write, and the standard library reads its answer."""

import ssl
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection


class HttpConnection:
    """A connection that is opened by the first request; one request at a time."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None) -> None:
        """Connect to `host` at `port`, with TLS if there is a `context`."""
        plain = context is None
        self._connection = HTTPConnection(host, port) if plain else HTTPSConnection(host, port, context=context)

    def ask(self, head: bytes, body: bytes, seconds: float) -> tuple[int, bytes]:
        """Send a request, whose head ends with an empty line, and return the status and the body of its answer.

        `HTTPConnection.request` would write head and body apart. Each part of the answer may take `seconds`. Raises
        OSError, also for an answer that is not HTTP/1; then the connection must be closed.
        """
        if self._connection.sock is None:
            self._connection.timeout = seconds
            self._connection.connect()
        self._connection.sock.settimeout(seconds)
        self._connection.sock.sendall(head + body)
        response = HTTPResponse(self._connection.sock)
        try:
            response.begin()
            data = response.read()
        except (HTTPException, ValueError) as fault:
            raise ConnectionError(f"its answer is not whole, or not HTTP: {type(fault).__name__} {fault}") from fault
        finally:
            response.close()
        if response.will_close:
            self.close()
        return response.status, data

    def close(self) -> None:
        """Close it; the next request opens it again."""
        self._connection.close()
