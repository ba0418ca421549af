"""Daemons as processes, raw connections to them, and clients as processes: each is ended with the test."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from tests import warm
from tests.patience import PATIENCE_SECONDS, until

import commonhold
from commonhold.api.wire import calls
from commonhold.machine.log_output import fields_of
from commonhold.workspace import daemon_files

CLIENT: Final = Path(__file__).with_name("daemon_client.py")


def complaints(log: str) -> str:
    """The lines of a daemon's log that are not records of its usual work: warnings, errors, and all other output."""
    lines = log.splitlines(keepends=True)
    return "".join(line for line in lines if fields_of(line).get("level") not in ("debug", "info"))


@dataclass
class Place:
    """A repository, and whichever daemon serves it."""

    root: Path

    @property
    def state(self) -> Path:
        """Where the state is."""
        return self.root / ".git/commonhold"

    @property
    def address(self) -> str:
        """Where the daemon listens."""
        return daemon_files.address(str(self.state))

    @property
    def is_served(self) -> bool:
        """Whether a daemon lives."""
        return daemon_files.is_running(str(self.state))

    @property
    def pid(self) -> int:
        """Its process."""
        found = daemon_files.pid(str(self.state))
        assert found is not None
        return found

    @property
    def log(self) -> str:
        """The complaints of a daemon that was started by itself."""
        path = self.state / "daemon.log"
        return complaints(path.read_text()) if path.exists() else ""

    def session(self, agent: str = "ann", **choices: Any) -> commonhold.Commonhold:
        """A session that uses the daemon, and starts none unless `daemon=True` is said."""
        return commonhold.open(str(self.root), agent=agent, **({"daemon": True} | choices))

    def wait_until_served(self) -> None:
        """Wait until a daemon listens and answers."""
        until(self._answers)

    def _answers(self) -> bool:
        try:
            with Raw(self.address) as raw:
                raw.socket.settimeout(1.0)
                return raw.introduce(str(self.root)).kind == "answer"
        except OSError:  # there is no socket yet, or one that a dead daemon has left, or a suspended one
            return False

    def end(self) -> None:
        """End whatever daemon serves, wait until it is gone, and take its socket away, which may be outside."""
        # Whoever only looks whether a daemon lives holds its lock for a moment, too, and is none.
        while self.is_served or self._begun():
            served = daemon_files.pid(str(self.state))
            for each in {*self._begun(), *([served] if served is not None else ())}:
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGCONT)
                    os.kill(each, signal.SIGKILL)
            time.sleep(0.02)
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(self.address)  # noqa: PTH108 - as `address` gives it

    def _begun(self) -> list[int]:
        """The daemons that clients have started: one that is just beginning does not serve yet, and would later."""
        words = f"-m\0commonhold.server.daemon.supervisor\0{self.root}\0".encode()
        found = []
        for each in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if each.read_bytes().endswith(words):
                    found.append(int(each.parent.name))
        return found


@contextmanager
def place(root: Path) -> Iterator[Place]:
    """A repository whose daemon, if one is started, is ended at last."""
    found = Place(root)
    try:
        yield found
    finally:
        found.end()


@dataclass
class Serving(Place):
    """A repository with a daemon that the test has started."""

    process: subprocess.Popen[str] = field(init=False)

    def start(self, *times: float) -> None:
        """Start it in the foreground; `times` are those of its life, in their order."""
        command = [sys.executable, "-m", "commonhold.server.daemon", str(self.root), *map(str, times)]
        self.process = warm.Warm(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def suspend(self) -> None:
        """Let it stand still, and wait until it does: a signal is sent sooner than it is heard."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def said(self) -> str:
        """Its complaints, once it has ended."""
        out, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return complaints(out)

    def stop(self) -> str:
        """Ask it to end; its complaints."""
        if self.process.poll() is None:
            self.resume()
            self.process.send_signal(signal.SIGTERM)
        return self.said()


def kept(root: Path) -> Callable[[], object]:
    """A lease that keeps a daemon, however soon that ends when idle, from its first moment on; what lets go of it."""
    with commonhold.open(str(root), agent="keeper", daemon=False) as keeper:
        lease = keeper.acquire("kept:1").lease
    assert lease is not None

    def let_go() -> None:
        with commonhold.open(str(root), agent="keeper", daemon=True) as keeper:
            assert keeper.release(lease.id).outcome == "released"

    return let_go


@contextmanager
def serving(
    root: Path,
    *,
    idle_seconds: float = 600.0,
    sweep_seconds: float = 600.0,
    index_after_seconds: float = 10.0,
) -> Iterator[Serving]:
    """A daemon for `root`. At the end it must still be well, unless the test has ended it."""
    daemon = Serving(root)
    daemon.start(idle_seconds, sweep_seconds, index_after_seconds)
    try:
        daemon.wait_until_served()
        yield daemon
        if daemon.process.poll() is None:
            said = daemon.stop()
            assert said == "", said
    finally:
        if daemon.process.poll() is None:
            daemon.process.kill()
        daemon.process.communicate()
        daemon.end()


class Raw:
    """A connection that sends whatever the test wants."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_SECONDS)
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def introduce(self, root: str, agent: str | None = None, version: str = commonhold.__version__) -> calls.Reply:
        """Say hello, and hear what comes back."""
        self.socket.sendall(calls.encode_hello(calls.Hello(calls.PROTOCOL, version, root, agent, 0o022)))
        return self.hear()

    def ask(self, number: int, name: str, *arguments: object, **named: object) -> None:
        """Send a request."""
        self.socket.sendall(calls.encode_request(number, name, arguments, named))

    def hear(self) -> calls.Reply:
        """The next reply."""
        (size,) = calls.LENGTH.unpack(self._exactly(calls.LENGTH.size))
        return calls.decode_reply(self._exactly(size))

    def is_hung_up(self) -> bool:
        """Whether the other end ends the connection, after whatever it still had to say."""
        with suppress(ConnectionError):
            while self.socket.recv(65536):
                pass
        return True

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionError("it was hung up on")
            data += part
        return bytes(data)


class Client:
    """A client as a process: it says what it does, line by line, and goes on when it is told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def hear(self) -> Any:
        """What it says next."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the client said nothing more"
        return json.loads(line)

    def begin(self) -> None:
        """Tell it to begin, once it is ready."""
        assert self.hear() == {"ready": True}
        self.go_on()

    def go_on(self) -> None:
        """Tell it to go on."""
        assert self.process.stdin is not None
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Kill it, and wait until it is dead."""
        self.process.kill()
        self.process.wait()


@contextmanager
def client(root: Path, *words: object, **environment: str) -> Iterator[Client]:
    """A client process that does what `words` say (see `daemon_client.py`)."""
    command = [sys.executable, str(CLIENT), str(root), *map(str, words)]
    process = warm.Warm[str](
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        yield Client(process)
    finally:
        process.kill()
        process.communicate()
