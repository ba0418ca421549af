"""The channel to a server over HTTP, which calls as the daemon's socket does: repeated calls take effect once."""

import os
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from commonhold.api.routes import ROUTES, Route
from commonhold.api.wire import calls, http_calls
from commonhold.client.channel import PATIENCE_SECONDS, repeatable, repeated
from commonhold.client.http_connection import HttpConnection
from commonhold.kernel.errors import Code, CommonholdError, InternalError, StoreError, UsageError
from commonhold.machine import correlation
from commonhold.machine.decoding import from_json

PAUSE_SECONDS: Final = 0.1
_OF_PROXIES: Final = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server, and the token for it.

    `ca_file` has the certificates to trust, in PEM form; None: those that the system trusts.
    """

    url: str
    token: str
    ca_file: str | None = None

    def connection(self, context: ssl.SSLContext | None) -> HttpConnection:
        """Return a connection that is not open yet."""
        parts = urlsplit(self.url)
        port = parts.port or (80 if context is None else 443)
        return HttpConnection(parts.hostname or "", port, context)

    def check(self) -> None:
        """Raise UsageError for an address that is none of a server."""
        try:
            parts = urlsplit(self.url)
            is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            is_one = is_one and self.url.isascii() and self.url.isprintable() and " " not in self.url
        except ValueError:
            is_one = False
        if not is_one:
            raise UsageError(
                Code.USAGE,
                f"{self.url!a} is no address of a server",
                hint="give the one that `commonhold serve` printed, such as http://127.0.0.1:7420",
            )
        if not (self.token.isascii() and self.token.isprintable()):
            raise UsageError(
                Code.TOKEN_INVALID,
                "the access token has characters that no token has",
                hint="copy it again, as `commonhold token issue` printed it: one line",
            )


def _context(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or str(fault)
        raise UsageError(
            Code.USAGE,
            f"the certificates to trust cannot be read from {ca_file!a}: {why}",
            hint="name a file with certificates in PEM form, or leave it out to trust those of the system",
        ) from fault


class HttpChannel:
    """The service behind a server, over as many connections as threads call at once."""

    def __init__(self, address: Address, agent: str | None, patience_seconds: float) -> None:
        """Call as `agent`. While no server answers, a call is repeated for `patience_seconds`."""
        address.check()
        self._address = address
        self._patience = patience_seconds
        parts = urlsplit(address.url)
        self._prefix = parts.path.rstrip("/")
        named = "" if agent is None else f"X-Commonhold-Agent: {agent}\r\n"
        self._headers = (
            f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
            f"Authorization: Bearer {address.token}\r\n"
            f"Content-Type: {http_calls.JSON}\r\n"
            f"{named}"
        )
        self._context = _context(address.ca_file) if parts.scheme == "https" else None
        self._idle: list[HttpConnection] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Channel
        """Call an operation. Raises its errors, and StoreError `SERVER_UNREACHABLE`."""
        route = ROUTES[name]
        arguments, named = repeatable(name, arguments, named)
        request = http_calls.asked(route, arguments, named)
        seconds = PATIENCE_SECONDS + (named.get("hold_seconds") or 0.0)
        until = time.monotonic() + self._patience
        is_first = True
        while True:
            try:
                answer = self._answer(route, request, seconds)
            except (_Lost, StoreError) as fault:
                if isinstance(fault, StoreError) and not fault.fields.get("is_stopping"):
                    raise
                if time.monotonic() >= until:
                    raise (fault.shown if isinstance(fault, _Lost) else fault) from fault
                time.sleep(0 if is_first else PAUSE_SECONDS)
                is_first = False
            else:
                return answer if is_first else repeated(self.call, name, answer, *arguments, **named)

    def _answer(self, route: Route, request: http_calls.Asked, seconds: float) -> Any:  # noqa: ANN401 - see Channel
        status, data = self._exchanged(request, seconds)
        if status >= HTTPStatus.BAD_REQUEST and (fault := _fault_in(data)) is not None:
            raise fault
        try:
            return http_calls.answer_in(route, request.path, status, data)
        except (msgspec.DecodeError, KeyError, UnicodeError) as fault:
            lost = self._lost(f"what it answers is no answer of Commonhold (status {status})")
            # A proxy says so while the server restarts.
            raise (lost if status in _OF_PROXIES else lost.shown) from fault

    def _exchanged(self, request: http_calls.Asked, seconds: float) -> tuple[int, bytes]:
        """Send a request and return the status and the body of its answer. Raises _Lost without an answer."""
        connection = self._taken()
        try:
            target = f"{self._prefix}{request.path}" + (f"?{request.query}" if request.query else "")
            head = (
                f"{request.method} {target} HTTP/1.1\r\n{self._headers}"
                f"X-Commonhold-Correlation: {correlation.current()}\r\n"
                f"Content-Length: {len(request.body)}\r\n\r\n"
            )
            reply = connection.ask(head.encode(), request.body, seconds)
        except ssl.SSLCertVerificationError as fault:
            connection.close()
            raise self._lost(f"its certificate is not trusted: {fault.verify_message}").shown from fault
        except TimeoutError as fault:
            connection.close()
            raise self._lost(f"it did not answer within {seconds:g} seconds").shown from fault
        except OSError as fault:
            connection.close()
            raise self._lost(f"{fault}" or type(fault).__name__) from fault
        except BaseException:  # stopped in the middle: the reply must not be taken for another's
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return reply

    def _taken(self) -> HttpConnection:
        with self._lock:
            if self._pid != os.getpid():  # a forked child must not share its parent's connections
                self._idle, self._pid = [], os.getpid()
            return self._idle.pop() if self._idle else self._address.connection(self._context)

    def _lost(self, why: str) -> "_Lost":
        return _Lost(
            StoreError(
                Code.SERVER_UNREACHABLE,
                f"the server at {self._address.url} cannot be reached: {why}",
                hint="check the address, and see whether `commonhold serve` runs there; then repeat the call",
                retry_after_seconds=5.0,
                fields={"url": self._address.url},
            )
        )

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for each in idle:
            each.close()


class _Lost(Exception):  # noqa: N818 - the call is repeated, or `shown` is raised
    """The connection was lost, or there was none: the request may have been executed, or not."""

    def __init__(self, shown: StoreError) -> None:
        super().__init__(shown.message)
        self.shown = shown


class _Fault(msgspec.Struct, frozen=True):
    family: str
    code: str
    message: str
    hint: str
    retry_after_seconds: float | None
    fields: dict[str, Any]


def _fault_in(data: bytes) -> CommonholdError | None:
    """Return the error in a body; None if it is an answer, such as a refusal."""
    try:
        fault = from_json(data, _Fault)
    except (msgspec.DecodeError, UnicodeError):
        return None
    family = calls.FAMILIES.get(fault.family, InternalError)
    code = Code(fault.code) if fault.code in list(Code) else Code.INTERNAL
    return family(
        code, fault.message, hint=fault.hint, retry_after_seconds=fault.retry_after_seconds, fields=fault.fields
    )
