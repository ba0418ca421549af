"""The channels to the service: in this process, over a socket, or whichever is available."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from commonhold.api.service import OPERATIONS
from commonhold.api.wire import calls
from commonhold.kernel.errors import Code, StoreError
from commonhold.machine.system import RandomIds

if TYPE_CHECKING:
    from commonhold.api.service import Service

PATIENCE_SECONDS: Final = 120.0
CHUNK_BYTES: Final = 32_768
LONGEST_PATIENCE_SECONDS: Final = 1e8
_TIME: Final = struct.Struct("ll")
HANDOVER_SECONDS: Final = 30.0
"""How long a daemon may take to start or to stop: until then no process answers."""
PAUSE_SECONDS: Final = 0.02
RESTART_SECONDS: Final = 10.0
"""How long after it was started a daemon is not started again."""


class Channel(Protocol):
    """A way to call the service."""

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call a method. Raises the errors of the method, and Disconnected if the connection is lost."""
        ...

    def close(self) -> None:
        """Close the channel; idempotent."""
        ...


class Disconnected(Exception):  # noqa: N818 - it is answered with another way, and never shown
    """The daemon is gone: the request may have been executed, or not."""


class Direct:
    """The service in this process, behind the gate."""

    def __init__(self, service: Service) -> None:
        """Speak to `service`."""
        self._service = service

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call a method."""
        return getattr(self._service, name)(*arguments, **named)

    def close(self) -> None:
        """Close the service."""
        self._service.close()


class Connection:
    """One connection to the daemon; one call at a time."""

    def __init__(self, address: str, hello: calls.Hello) -> None:
        """Connect to the socket at `address`. Raises OSError, and Disconnected if another program answers."""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._patience = 0.0
        self._be_patient(PATIENCE_SECONDS)
        self._buffer = bytearray()
        self._number = 0
        self.is_free = True
        """Whether the next call can begin: no reply to the last one is still on its way."""
        try:
            self.socket.connect(address)
            self._take(self._exchange(calls.encode_hello(hello)))
        except BaseException:  # whatever the exception, a connection that is half made is of no use
            self.socket.close()
            raise

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call a method."""
        self._number += 1
        request = calls.encode_request(self._number, name, arguments, named)
        self._be_patient(PATIENCE_SECONDS + (named.get("hold_seconds") or 0.0))
        self.is_free = False
        reply = self._exchange(request)
        self.is_free = True
        return calls.method(name).answer(self._take(reply))

    def _exchange(self, request: bytes) -> calls.Reply:
        try:
            self.socket.sendall(request)
            reply = calls.decode_reply(self._frame())
        except BlockingIOError as fault:  # the kernel reports a timeout in this way
            raise _silent() from fault
        except (OSError, *calls.UNREADABLE) as fault:
            raise Disconnected from fault
        if reply.number != self._number:
            raise Disconnected
        return reply

    def _be_patient(self, seconds: float) -> None:
        """Set the timeout of the socket. The kernel counts: Python's own timeouts cost a system call more each."""
        seconds = min(seconds, LONGEST_PATIENCE_SECONDS)
        if seconds != self._patience:
            whole = int(seconds)
            span = _TIME.pack(whole, int((seconds - whole) * 1e6))
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, span)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, span)
            self._patience = seconds

    @staticmethod
    def _take(reply: calls.Reply) -> msgspec.Raw:
        if reply.kind == "error":
            raise calls.decode_fault(reply.body)
        return reply.body

    def _frame(self) -> bytes:
        self._fill(calls.LENGTH.size)
        end = calls.LENGTH.size + calls.LENGTH.unpack_from(self._buffer)[0]
        self._fill(end)
        frame = bytes(self._buffer[calls.LENGTH.size : end])
        del self._buffer[:end]
        return frame

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size:
            data = self.socket.recv(CHUNK_BYTES)
            if not data:
                raise Disconnected
            self._buffer += data

    def close(self) -> None:
        """End the connection: the daemon takes a call that waits here out of the line."""
        self.socket.close()


class Daemon:
    """The daemon of a repository, over as many connections as threads call at once."""

    def __init__(
        self, address: Callable[[], str], hello: calls.Hello, use_state: Callable[[], object] = lambda: None
    ) -> None:
        """Connect to the socket at `address` as `hello` says; `address` is asked at each new connection.

        `use_state` is called at each new connection, and raises if the state is not the one of the connection before.
        """
        self._address = address
        self._use_state = use_state
        self._hello = hello
        self._idle: list[Connection] = []
        self._pid = os.getpid()

    def is_there(self) -> bool:
        """Whether there is a socket to connect to; a daemon that died may have left it."""
        return bool(self._idle) or Path(self._address()).exists()

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call a method. Raises Disconnected if no daemon answers (any more)."""
        if self._pid != os.getpid():  # a forked child must not share its parent's, nor keep them open
            self.close()
            self._pid = os.getpid()
        connection = self._pop() or self._connect()
        try:
            return connection.call(name, arguments, named)
        except Disconnected:
            self.close()  # the others lead to the same daemon, which is gone
            raise
        finally:
            if connection.is_free:
                self._idle.append(connection)
            else:
                connection.close()  # stopped in the middle: its reply must not be taken for another's

    def _pop(self) -> Connection | None:
        try:
            return self._idle.pop()
        except IndexError:  # another thread may have taken the last connection just now
            return None

    def _connect(self) -> Connection:
        try:
            connection = Connection(self._address(), self._hello)
        except OSError as fault:
            raise Disconnected from fault
        try:
            self._use_state()
        except StoreError:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """End all idle connections."""
        while connection := self._pop():
            connection.close()


class _UnlessElsewhere:
    """Go on after the block if another process has the state, or had it until now."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, fault: BaseException | None, __: object) -> bool:
        return isinstance(fault, Disconnected) or (isinstance(fault, StoreError) and fault.code is Code.STORE_OWNED)


class FallbackTransport:
    """The daemon if it is running, else the service in this process, which then starts the daemon."""

    def __init__(self, daemon: Daemon, direct: Callable[[], Service], start: Callable[[], object] | None) -> None:
        """Call `daemon`, or the service that `direct` opens; `start` starts a daemon, without waiting for it."""
        self._daemon = daemon
        self._open = direct
        self._start = start
        self._start_after = 0.0
        self._direct: Service | None = None
        self._opening = Lock()

    @property
    def service(self) -> Service:
        """Return the service in this process: for calls that need no state, and if no other process has the state."""
        with self._opening:
            if self._direct is None:
                self._direct = self._open()
            return self._direct

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call a method. If the daemon dies meanwhile, repeat the call in such a way that it takes effect once."""
        if not OPERATIONS[name].over_socket:
            return getattr(self.service, name)(*arguments, **named)
        if not self._daemon.is_there():
            with _UnlessElsewhere():
                return self._call_directly(name, arguments, named)
        arguments, named = repeatable(name, arguments, named)
        with _UnlessElsewhere():
            return self._daemon.call(name, arguments, named)
        until = time.monotonic() + HANDOVER_SECONDS
        while time.monotonic() < until:
            with _UnlessElsewhere():
                return repeated(self.call, name, self._call_directly(name, arguments, named), *arguments, **named)
            with _UnlessElsewhere():
                return repeated(self.call, name, self._daemon.call(name, arguments, named), *arguments, **named)
            time.sleep(PAUSE_SECONDS)
        raise _silent()

    def _call_directly(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        answer = getattr(self.service, name)(*arguments, **named)
        if not OPERATIONS[name].reads:
            self._start_daemon()
        return answer

    def _start_daemon(self) -> None:
        if self._start is None or time.monotonic() < self._start_after:
            return
        self._start_after = time.monotonic() + RESTART_SECONDS
        with suppress(OSError, StoreError):  # without a daemon everything works too, or fails with its own error
            self._start()

    def close(self) -> None:
        """Close both."""
        self._daemon.close()
        if self._direct is not None:
            self._direct.close()


CallAgain = Callable[[str, Sequence[Any], Mapping[str, Any]], Any]


def repeated(call: CallAgain, name: str, answer: Any, lease_id: object = None, *_: object, **__: object) -> Any:  # noqa: ANN401
    """Return the answer to a repeated call: a release is refused the second time, though the first succeeded."""
    if name != "release" or answer.outcome != "refused":
        return answer
    # Loaded here: of the many kinds of events, calls that are made once need none.
    from commonhold.kernel.answers import LeaseAnswer  # noqa: PLC0415
    from commonhold.kernel.events import LeaseGranted, LeaseReleased  # noqa: PLC0415

    history = call("log", (), {"lease_id": lease_id})
    begun = [each.event.lease for each in history if isinstance(each.event, LeaseGranted)]
    if begun and isinstance(history[-1].event, LeaseReleased):
        return LeaseAnswer("released", begun[-1])
    return answer


def repeatable(
    name: str, arguments: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return the same call with an id that identifies a repetition (invariant I5). Other calls are repeated as is."""
    if OPERATIONS[name].once and named.get("request_id") is None:
        return arguments, {**named, "request_id": _request_id()}
    if name == "commit":
        return tuple(map(_once, arguments)), {key: _once(value) for key, value in named.items()}
    return arguments, named


def _once(argument: object) -> object:
    # Loaded here: of all calls only commits have one.
    from commonhold.kernel.changeset import Changeset  # noqa: PLC0415

    is_unnamed = isinstance(argument, Changeset) and argument.request_id is None
    return replace(argument, request_id=_request_id()) if is_unnamed else argument  # type: ignore[type-var]


def _request_id() -> str:
    return RandomIds().new("request")


def _silent() -> StoreError:
    return StoreError(
        Code.STORE_BUSY,
        "the daemon of this repository does not answer",
        hint="see whether it is suspended (`commonhold daemon status`), or stop it, then repeat the call",
        retry_after_seconds=5.0,
    )
