"""A receiver of webhooks on this machine, which checks signatures and answers as it is asked to."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    """A request: its id, whether its signature fits, and its JSON."""

    id: str
    is_signed: bool
    body: Any


@dataclass
class Receiver:
    """Its URL, the statuses of its next answers (then 204), and the requests that it got."""

    url: str = ""
    secret: str = ""
    statuses: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, count: int, seconds: float = 30.0) -> list[Received]:
        with self.came:
            assert self.came.wait_for(lambda: len(self.received) >= count, seconds), self.received
            return list(self.received)

    def take(self, headers: Any, body: bytes) -> int:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        is_signed = headers["webhook-signature"] == f"v1,{expected}"
        with self.came:
            self.received.append(Received(headers["webhook-id"], is_signed, json.loads(body)))
            self.came.notify_all()
            return self.statuses.pop(0) if self.statuses else 204


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = receiver.take(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Location", receiver.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
