"""Ask the daemon over its private socket, and show its messages."""

import _json
import _socket
import errno
import os
import sys
import time

TYPE_CHECKING = False  # the module for types takes long to load
if TYPE_CHECKING:
    from typing import Any

Object = dict[str, "Any"]

_PATIENCE_SECONDS = 120.0
# A killed daemon is started again by its supervisor within this time.
_REVIVAL_SECONDS = 0.3
# A running daemon may not listen yet.
_BEGINNING_SECONDS = 15.0
_PAUSE_SECONDS = 0.01
_SOCKETS = ("/.git/commonhold/http.sock", "/.commonhold/http.sock")
_OK = b"200"
# One id for all requests of this process, made as in `machine/correlation.py`, which takes longer to load.
_CORRELATION = os.urandom(6).hex()


class Unserved(Exception):  # noqa: N818 - the caller answers it by the policy of its user
    """No daemon answers (`is_away`), or its answer is not valid; `next` is the step to take.

    `is_absent`: there is not even a socket.
    """

    is_away = False
    is_absent = False
    next = "commonhold doctor"


class _Away(Unserved):
    is_away = True
    next = "commonhold daemon start, then run it again"

    def __init__(self, why: str, number: "int | None" = None) -> None:
        super().__init__(f"no daemon serves this repository ({why})")
        self.is_absent = number == errno.ENOENT


class ShutOff(Unserved):
    """The sandbox around this process keeps it from asking any daemon."""


class _Refused(Unserved):
    """The daemon rejects the request, and says why."""

    def __init__(self, told: Object) -> None:
        super().__init__(f"{told.get('message')} [{told.get('code')}]")
        self.next = told.get("hint") or self.next


def say(text: str) -> None:
    """Show a message to the user, on standard error."""
    message = "".join(f"commonhold: {line}\n" for line in text.splitlines())
    try:
        os.write(2, message.encode("utf-8", "replace"))
    except OSError:
        return


def asked(socket: str, path: str, told: Object) -> Object:
    """Return the daemon's answer to a post. Raises Unserved."""
    try:
        answer = _posted(socket, path, encoded(told).encode())
    except TimeoutError:
        raise Unserved(f"the daemon did not answer within {_PATIENCE_SECONDS:g} seconds") from None
    except OSError as fault:
        if fault.errno == errno.EPERM:
            raise ShutOff(f"its sandbox does not let it ask the daemon ({fault.strerror})") from None
        raise _Away(fault.strerror or str(fault), fault.errno) from None
    if not answer:
        raise _Away("the daemon ended before it answered")
    head, _, body = answer.partition(b"\r\n\r\n")
    if head.split(b" ", 2)[1:2] != [_OK]:
        raise _fault(body)
    return decoded(body)


def asked_of_next(socket: str, path: str, told: Object) -> Object:
    """Return the daemon's answer to a post; if there is no daemon, start one and ask it. Raises Unserved."""
    try:
        return _asked_until(socket, path, told, time.monotonic() + _REVIVAL_SECONDS)
    except Unserved as fault:
        if not fault.is_away:
            raise
    is_begun = _is_started(socket)
    until = time.monotonic() + (_BEGINNING_SECONDS if is_begun else 0.0)
    return _asked_until(socket, path, told, until, is_begun=is_begun)


def _asked_until(socket: str, path: str, told: Object, until: float, *, is_begun: bool = False) -> Object:
    """Return the daemon's answer; ask again while no daemon answers, but a socket is there. Raises Unserved.

    A daemon that `is_begun` has its lock, and makes its socket later.
    """
    while True:
        try:
            return asked(socket, path, told)
        except Unserved as fault:
            is_vain = fault.is_absent and not is_begun
            if not fault.is_away or is_vain or time.monotonic() >= until:
                raise
        time.sleep(_PAUSE_SECONDS)


def _is_started(socket: str) -> bool:
    """Start a daemon that serves the repository of this socket, or else of this folder; return whether one runs now."""
    root = next((socket.removesuffix(each) or "/" for each in _SOCKETS if socket.endswith(each)), "")
    words = [sys.executable, "-I", "-m", "commonhold", "daemon", "start", *(["-C", root] if root else [])]
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    _, status = os.waitpid(os.posix_spawn(sys.executable, words, os.environ, file_actions=silent), 0)
    return status == 0


def _posted(socket: str, path: str, body: bytes) -> bytes:
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(_PATIENCE_SECONDS)
        connection.connect(socket)
        # Version 1.0: the answer comes in one piece, and ends with the connection.
        head = (
            f"POST {path} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"X-Commonhold-Correlation: {_CORRELATION}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        connection.close()


def _fault(body: bytes) -> Unserved:
    try:
        return _Refused(decoded(body))
    except Unserved:
        return Unserved(body.decode("utf-8", "replace").strip()[:300] or "the daemon gave no answer")


def encoded(value: "str | int | list[Any] | Object") -> str:
    """Return the value as JSON, as far as needed: loading the json module would take as long as all else together."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{encoded(key)}:{encoded(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(encoded, value)) + "]"
    return str(value) if isinstance(value, int) else _json.encode_basestring_ascii(value)


class _Reading:
    """The attributes that the interpreter's own JSON scanner reads from its context."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def decoded(text: bytes) -> Object:
    """Return the object that the JSON text describes. Raises Unserved."""
    try:
        scanner = _json.make_scanner(_Reading())  # type: ignore[arg-type]  # it asks for no more
        value, _ = scanner(text.decode(), 0)
    except (ValueError, StopIteration, RecursionError) as fault:
        raise Unserved(f"the daemon's answer cannot be read: {fault}") from None
    if not isinstance(value, dict):
        raise Unserved("the daemon's answer is no object")
    return value
