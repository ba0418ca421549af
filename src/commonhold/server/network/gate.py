"""Admit requests over the network: by Host and Origin, access token, and rate."""

import ipaddress
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.server.asgi import Answer, Scope, header
from commonhold.server.network import browser
from commonhold.server.network.access import Access
from commonhold.workspace.tokens import KnownTokens, Token

BURST: Final = 2.0
"""A bearer may send so many seconds' worth of requests at once."""
MOST_BEARERS: Final = 2000
SUBPROTOCOL: Final = "commonhold"
"""The subprotocol of WebSockets."""
_REMEMBERED: Final = 256
"""So many hosts are read once: most clients say the same, and to read one takes as long as all other checks."""
_BEARER: Final = "bearer."
"""The beginning of the subprotocol by which a page sends its token: a browser lets it set no header."""


class Rates:
    """A token bucket for each bearer: requests are refused while they come faster than `rate` a second."""

    def __init__(self, rate: float, monotonic: Callable[[], float]) -> None:
        """Permit `rate` requests a second."""
        self._rate = rate
        self._monotonic = monotonic
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, bearer: str) -> None:
        """Count a request. Raises StoreError `RATE_LIMITED`, which says when the next one is accepted."""
        now, most = self._monotonic(), self._rate * BURST
        left, at = self._left.pop(bearer, (most, now))
        left = min(most, left + (now - at) * self._rate)
        self._left[bearer] = (max(0.0, left - 1.0) if left >= 1.0 else left, now)
        if len(self._left) > MOST_BEARERS:
            self._left.popitem(last=False)
        if left < 1.0:
            raise StoreError(
                Code.RATE_LIMITED,
                f"this token sent more than {self._rate:g} requests a second",
                hint="wait, then repeat the request; follow /api/v1/events instead of asking again and again",
                retry_after_seconds=(1.0 - left) / self._rate,
            )


class Gate:
    """Decides on each request over the network, by its headers alone."""

    def __init__(
        self,
        tokens: KnownTokens,
        hosts: Iterable[str],
        rate: float,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Admit the bearers of `tokens`, who call this server by an address, by localhost, or by one of `hosts`."""
        self._tokens = tokens
        self._hosts = {"localhost", socket.gethostname().lower(), *(each.lower() for each in hosts)}
        self._rates = Rates(rate, monotonic)
        self._wall = wall

    def check_place(self, scope: Scope) -> None:
        """Raise UsageError `HOST_REFUSED` or `ORIGIN_REFUSED`.

        A page reaches a server of this machine or network by a name of its own that leads here. So a Host that is a
        name must be known; no name leads a browser to send an address. A page that asks another site reveals its own
        in Origin.
        """
        host = header(scope, b"host").lower()
        name = _name_in(host)
        if name is None or not (name in self._hosts or _is_address(name)):
            raise UsageError(
                Code.HOST_REFUSED,
                f"this server is not known as {host!a}",
                hint="use its address, or start it with: commonhold serve --allow-host NAME",
            )
        origin = header(scope, b"origin").lower()
        if origin and _place_in(origin) != host:
            raise UsageError(
                Code.ORIGIN_REFUSED,
                f"a page of {origin!a} may not ask here",
                hint="open the address of this server itself",
            )

    def admit(self, scope: Scope) -> Access:
        """Return the access of a request. Raises UsageError, and StoreError `RATE_LIMITED`."""
        self.check_place(scope)
        given = browser.text_of(scope)
        if not header(scope, b"authorization"):
            given = _offered(scope) if scope["type"] == "websocket" else browser.token_of_page(scope)
        token = self._valid(given)
        if token is None:
            raise invalid("the request has no valid access token" if given else "the request has no access token")
        self._rates.take(token.id)
        return Access(token.scope, token.id, token.holder, lambda: self._valid(given) is not None)

    def check_exchange(self, scope: Scope) -> None:
        """Raise UsageError unless the bearer may begin a session: strangers cause no more work than this."""
        self.check_place(scope)
        if not self._tokens.can_exchange(browser.text_of(scope), self._wall()):
            raise browser.not_exchanged()

    def begin_session(self, scope: Scope) -> Answer:
        """Exchange the token of a request, which `check_exchange` permits, for one of its browser.

        Raises UsageError if the token was exchanged meanwhile, and InputError.
        """
        return browser.begin(scope, self._tokens.state_folder, self._wall())

    def end_session(self, scope: Scope) -> Answer:
        """Revoke the token of the browser that asks. Raises UsageError, and StoreError."""
        return browser.end(scope, self.admit(scope), self._tokens.state_folder)

    def _valid(self, text: str) -> Token | None:
        return self._tokens.find(text, self._wall())


def invalid(why: str) -> UsageError:
    """Return the error for a request, or a stream, without a valid token."""
    return UsageError(
        Code.TOKEN_INVALID,
        why,
        hint="make one: commonhold token issue; send it as the header Authorization: Bearer TOKEN",
    )


def _offered(scope: Scope) -> str:
    """Return the token among the subprotocols that a WebSocket offers; empty if there is none."""
    offered = (each for each in scope.get("subprotocols", ()) if each.startswith(_BEARER))
    return next(offered, "").removeprefix(_BEARER)


@lru_cache(maxsize=_REMEMBERED)
def _name_in(host: str) -> str | None:
    """Return the name or the address in a Host header, without its port; None for anything else."""
    with suppress(ValueError):
        parts = urlsplit(f"//{host}")
        _ = parts.port
        is_plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
        return parts.hostname if is_plain and parts.hostname else None
    return None


@lru_cache(maxsize=_REMEMBERED)
def _is_address(name: str) -> bool:
    with suppress(ValueError):
        ipaddress.ip_address(name)
        return True
    return False


def _place_in(origin: str) -> str:
    with suppress(ValueError):
        return urlsplit(origin).netloc
    return ""
