"""A child process that speaks JSON-RPC on its standard input and output.

Three threads serve it, so that it can never block its caller: one reads, one writes (a server that does not read fills
the pipe), one keeps the end of its standard error.
"""

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from typing import IO, Any, Final, Protocol, cast

from commonhold.typecheck.framing import Message, ServerFault, encode, read_message

_SHORT_SECONDS: Final = 1.0
_KEPT_LINES: Final = 20
_LONGEST_LINE_BYTES: Final = 1000
_METHOD_NOT_FOUND: Final = -32601


class Peer(Protocol):
    """Our side of the conversation, called by the thread that reads."""

    def answer(self, method: str, params: object) -> object:
        """Return the answer to a request of the server. Raises LookupError for an unknown method."""
        ...

    def hear(self, method: str, params: object) -> None:
        """Take a notification of the server."""
        ...

    def lose(self, fault: ServerFault) -> None:
        """Take the fault after which nothing more will come."""
        ...


class Unanswered(ServerFault):
    """No answer came in time."""


class ErrorAnswer(ServerFault):
    """The answer to a request was an error; `number` is the protocol's code for it."""

    def __init__(self, number: int, message: str) -> None:
        """Keep the code beside the server's own words."""
        super().__init__(f"answered with an error: {message[:200]}")
        self.number = number


class Deadline:
    """A moment by which all must be done."""

    def __init__(self, seconds: float) -> None:
        """Set it this many seconds from now."""
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Return how many seconds are left, never less than zero."""
        return max(0.0, self._at - time.monotonic())

    def half(self) -> "Deadline":
        """The moment when half of the remaining time will be over."""
        return Deadline(self.left() / 2)


class Asked:
    """A request that was sent, and the place of its answer."""

    def __init__(self, number: int) -> None:
        """Begin unanswered; the number identifies the request."""
        self.number = number
        self.future: Future[Any] = Future()

    def wait(self, deadline: Deadline) -> Any:  # noqa: ANN401 - the server chooses the type of its answer
        """Return the answer. Raises ServerFault: Unanswered, ErrorAnswer, or the fault of the connection."""
        try:
            return self.future.result(deadline.left())
        except (FutureTimeoutError, CancelledError) as fault:
            raise Unanswered(f"gave no answer within {deadline.seconds:.3g} s") from fault


class Connection:
    """The process, in a group of its own that is ended as one, and its open requests."""

    def __init__(self, command: Sequence[str], folder: str, environment: Mapping[str, str], peer: Peer) -> None:
        """Start it in `folder`. Raises ServerFault if that is impossible."""
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as fault:
            raise ServerFault(f"cannot be started: {fault.strerror}") from fault
        self._peer = peer
        self._numbers = count(1)
        self._pending: dict[int, Asked] = {}
        self._fault: ServerFault | None = None
        self._lock = threading.Lock()
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._said: deque[bytes] = deque(maxlen=_KEPT_LINES)
        self._has_exited = threading.Event()
        self._was_killed = False
        self._threads = [
            threading.Thread(target=work, name=f"{command[0]} {work.__name__}", daemon=True)
            for work in (self._read, self._write, self._drain)
        ]
        for thread in self._threads:
            thread.start()

    def ask(self, method: str, params: object) -> Asked:
        """Send a request; others may be sent before it is answered."""
        asked = Asked(next(self._numbers))
        with self._lock:
            self._pending[asked.number] = asked
            fault = self._fault
        if fault is not None:
            _settle(asked, fault=fault)
        self._send({"id": asked.number, "method": method, "params": params})
        return asked

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def give_up(self) -> None:
        """Cancel requests whose answers no caller waits for any more."""
        with self._lock:
            numbers = list(self._pending)
            self._pending.clear()
        for number in numbers:
            self.tell("$/cancelRequest", {"id": number})

    def end(self) -> None:
        """Kill all processes of its group; idempotent."""
        if self._fault is not None:
            self._has_exited.wait(_SHORT_SECONDS)  # so that its own exit status is reported, not the kill
        if self._process.returncode is None:
            self._was_killed = not self._has_exited.is_set()
            # It is not reaped yet, so its group cannot be another's.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._outbox.put(None)
        for thread in self._threads:
            thread.join(_SHORT_SECONDS)

    def last_words(self) -> str:
        """How it ended, unless that was by `end`, and the last line that it printed; in brackets, or empty."""
        line = next((line for line in reversed(self._said) if line.strip()), b"")
        said = line.strip().decode("utf-8", "replace")[:200]
        words = (self._exit(), f"it said {said!r}" if said else "")
        return f" ({', '.join(filter(None, words))})" if any(words) else ""

    def _exit(self) -> str:
        if self._was_killed:
            return ""
        status = self._process.returncode
        return f"signal {-status}" if status < 0 else f"status {status}"

    def _send(self, message: Message) -> None:
        self._outbox.put(encode({"jsonrpc": "2.0"} | message))

    def _read(self) -> None:
        fault = ServerFault("broke the protocol")
        try:
            with _stream(self._process.stdout) as stream:
                while (message := read_message(stream)) is not None:
                    self._take(message)
            fault = ServerFault("ended by itself")
        except ServerFault as found:
            fault = found
        except OSError:
            fault = ServerFault("cannot be read from any more")
        finally:
            self._fail(fault)
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self._has_exited.set()

    def _take(self, message: Message) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and "id" in message:
            try:
                answer: Message = {"result": self._peer.answer(method, message.get("params"))}
            except LookupError:
                answer = {"error": {"code": _METHOD_NOT_FOUND, "message": f"there is no {method} here"}}
            self._send({"id": number} | answer)
        elif isinstance(method, str):
            self._peer.hear(method, message.get("params"))
        elif isinstance(number, int):
            with self._lock:
                asked = self._pending.pop(number, None)
            if asked is not None:
                _settle(asked, message.get("result"), _error(message))

    def _fail(self, fault: ServerFault) -> None:
        """Fail all open requests: their answers will not come."""
        with self._lock:
            self._fault = fault
            waiting = list(self._pending.values())
        for asked in waiting:
            _settle(asked, fault=fault)
        self._peer.lose(fault)

    def _write(self) -> None:
        with suppress(OSError), _stream(self._process.stdin) as stream:
            while (data := self._outbox.get()) is not None:
                stream.write(data)
                stream.flush()

    def _drain(self) -> None:
        with suppress(OSError), _stream(self._process.stderr) as stream:
            while line := stream.readline(_LONGEST_LINE_BYTES):
                self._said.append(line)


def _settle(asked: Asked, result: object = None, fault: ServerFault | None = None) -> None:
    with suppress(InvalidStateError):  # the end of the connection, and an answer, may both come
        if fault is None:
            asked.future.set_result(result)
        else:
            asked.future.set_exception(fault)


def _error(message: Message) -> ErrorAnswer | None:
    error = message.get("error")
    if error is None:
        return None
    told = error if isinstance(error, dict) else {}
    number = told.get("code")
    return ErrorAnswer(number if isinstance(number, int) else 0, str(told.get("message", error)))


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe that was requested, so it exists."""
    return cast("IO[bytes]", stream)
