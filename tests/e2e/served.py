"""Servers with access tokens for their clients: in this process, or as processes. Each is ended with the test."""

import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from tests import warm
from tests.e2e.daemon_process import Place, complaints
from tests.patience import PATIENCE_SECONDS

import commonhold
from commonhold.kernel.scopes import Scope
from commonhold.server.daemon.lifetime import Lifetime, Times
from commonhold.server.face import Face, listen
from commonhold.workspace import tokens
from commonhold.workspace.repository import find_repository

HOST: Final = "127.0.0.1"
NOW: Final = 1_700_000_000.0


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server(Place):
    """A repository that is served at `url`."""

    url: str = ""

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def token(self, scope: Scope = Scope.AGENT, **more: Any) -> str:
        """A token of this scope."""
        return tokens.issue(str(self.state), scope, NOW, **more)[1]

    def connect(self, agent: str | None = "ann", scope: Scope = Scope.AGENT, **more: Any) -> commonhold.Commonhold:
        """A session over the network."""
        return commonhold.connect(self.url, token=self.token(scope), agent=agent, **more)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """What it answers to one request; headers are written with underscores."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE_SECONDS)
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, {name.replace("_", "-"): each for name, each in headers.items()})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()


@contextmanager
def served(root: Path, **choices: Any) -> Iterator[Server]:
    """A server for `root` in this process, at a free port."""
    face = listen(Face(port=0, **choices))
    life = Lifetime(find_repository(str(root)), Times(), lambda: None, face)
    living = threading.Thread(target=life.live)
    living.start()
    try:
        yield Server(root, face.url)
    finally:
        life.end()
        living.join(PATIENCE_SECONDS)
        life.close()


@dataclass
class Process(Server):
    """A server as a process."""

    words: tuple[str, ...] = ()
    process: "subprocess.Popen[str]" = field(init=False)

    def start(self, port: int) -> Self:
        """Start it, and wait until it says where it listens."""
        command = [sys.executable, "-m", "commonhold", "serve", "--json", "--port", str(port), *self.words]
        self.process = warm.Warm(command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            told += line
        self.url = json.loads(told)["url"]
        return self

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        """Ask it to end; its complaints."""
        self.process.terminate()
        return complaints(self.process.communicate(timeout=PATIENCE_SECONDS)[1])


@contextmanager
def process(root: Path, *words: str) -> Iterator[Process]:
    """A server for `root`, started by the command. At the end it must still be well, unless the test has ended it."""
    with port_of_its_own() as port:
        server = Process(root, words=words).start(port)
        try:
            yield server
            if server.process.poll() is None:
                said = server.stop()
                assert said == "", said
        finally:
            if server.process.poll() is None:
                server.kill()
            server.end()


@contextmanager
def port_of_its_own() -> Iterator[int]:
    """A free port that the system gives to nobody else, so that a server which was killed can come back to it.

    It is bound, and nobody listens: a server may do so all the same, and clients are refused while there is none.
    """
    with socket.socket() as holding:
        holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holding.bind((HOST, 0))
        yield holding.getsockname()[1]
