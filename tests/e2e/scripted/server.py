"""A server that is the model of any number of agents at once: each plays the script that its prompt names."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Final

from tests.e2e.scripted.anthropic import MESSAGES
from tests.e2e.scripted.chat import CHAT
from tests.e2e.scripted.conversation import Asked, Results, Script, Turn, play, say
from tests.e2e.scripted.dialect import Answer, Dialect, whole
from tests.e2e.scripted.gemini import GEMINI
from tests.e2e.scripted.responses import RESPONSES

_MODELS: Final = {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}]}


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a model was asked, and what it answered. One that belongs to no script is an aside of the program's."""

    dialect: str
    asked: Asked
    turn: Turn


@dataclass
class ScriptedModel:
    """Scripts by name, and all that was asked."""

    scripts: dict[str, Script] = field(default_factory=dict)
    toolless: set[str] = field(default_factory=set)
    exchanges: list[Exchange] = field(default_factory=list)
    url: str = ""
    _serials: Iterator[int] = field(default_factory=lambda: count(1))

    def plays(self, name: str, script: Script) -> str:
        """Learn a script; answer the marker that a prompt which asks for it begins with."""
        self.scripts[name] = script
        return f"[script:{name}]"

    def plays_without_tools(self, name: str, script: Script) -> str:
        """Learn the script of a program that offers its model no tools, and so looks like an aside."""
        self.toolless.add(name)
        return self.plays(name, script)

    def of(self, name: str) -> list[Exchange]:
        """All that was asked of one script, oldest first."""
        return [exchange for exchange in list(self.exchanges) if exchange.asked.script == name]

    def told(self, name: str) -> Results:
        """What tools have answered to a script, by the last that was asked of it."""
        exchanges = self.of(name)
        return max((exchange.asked.results for exchange in exchanges), key=len, default=())

    def answer(self, dialect: Dialect, body: Mapping[str, Any], path: str) -> Answer:
        request = dialect.read(body, path)
        if not (request.tools or request.script in self.toolless):
            request = replace(request, script="")
        script = self.scripts.get(request.script)
        turn = play(script, request.history) if script else say(dialect.aside)
        self.exchanges.append(Exchange(dialect.name, request, turn))
        return dialect.write(request, turn, next(self._serials))


def dialect_of(path: str) -> Dialect | None:
    """The dialect that is spoken at a path."""
    if "enerateContent" in path:
        return GEMINI
    endings = {"/messages": MESSAGES, "/responses": RESPONSES, "/chat/completions": CHAT}
    return next((dialect for ending, dialect in endings.items() if path.endswith(ending)), None)


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, *_args: object, **_fields: object) -> None:
        """Say nothing: the model keeps what was asked."""

    def do_HEAD(self) -> None:
        self._send(Answer(b""))

    def do_GET(self) -> None:
        self._send(whole(_MODELS if "models" in self.path else {}))

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = json.loads(self._body() or b"{}")
        dialect = dialect_of(path)
        if dialect is None:
            self._send(whole({"input_tokens": 10} if path.endswith("/count_tokens") else {}))
        else:
            self._send(self.model.answer(dialect, body, path))

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _send(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", answer.content_type)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """A model that listens on loopback, for as long as this lasts."""
    model = ScriptedModel()
    requests = type("Requests", (_Requests,), {"model": model})
    with _Server(("127.0.0.1", 0), requests) as server:
        model.url = f"http://127.0.0.1:{server.server_port}"
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield model
        finally:
            server.shutdown()
            serving.join()
