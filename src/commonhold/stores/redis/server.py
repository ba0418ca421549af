"""One Redis server: its connections, scripts run in one round trip, and the handling of a lost answer.

The client's own retries are off: it would send a script again that may have run already. A call is sent a second time
only if the caller says that this does no harm.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from redis import exceptions
from redis.backoff import NoBackoff
from redis.connection import ConnectionPool
from redis.retry import Retry

from commonhold.stores.redis.connection import BROKEN, Argument, Connection, Reply
from commonhold.stores.redis.faults import bad_url, lost, translate
from commonhold.stores.redis.scripts import Script

_CONNECT_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 10.0


class Server:
    """A Redis server. Threads may share it; a forked child makes its own connections."""

    def __init__(self, url: str, keys: Sequence[str]) -> None:
        """Speak to the server at `url`; the scripts are about `keys`."""
        self._keys: tuple[Argument, ...] = (len(keys), *keys)
        self._pool = _pool(url)
        self._address = _address(url)
        self._idle: list[Connection] = []
        self._pid = os.getpid()

    def run(self, script: Script, arguments: Sequence[Argument], *, is_harmless: bool) -> Reply:
        """Run a script on the run id of the server that runs it, and on `arguments`.

        One that `is_harmless` when it is run twice is sent again, once, if its answer is lost.
        """

        def send(connection: Connection) -> Reply:
            operands = (*self._keys, connection.run_id, *arguments)
            try:
                return connection.ask("EVALSHA", script.sha, *operands)
            except exceptions.NoScriptError:
                return connection.ask("EVAL", script.source, *operands)

        return self._once_or_twice(send, is_harmless=is_harmless)

    def ask(self, *command: Argument) -> Reply:
        """Send a command that changes nothing."""
        return self._once_or_twice(lambda connection: connection.ask(*command), is_harmless=True)

    def close(self) -> None:
        """Close idle connections; idempotent."""
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()

    def _once_or_twice(self, send: Callable[[Connection], Reply], *, is_harmless: bool) -> Reply:
        try:
            return self._send(send)
        except BROKEN as fault:
            if not is_harmless:
                raise lost(fault, self._address) from fault
        # The connection may have been broken for long: the others, which are as old, are no better.
        self._idle.clear()
        try:
            return self._send(send)
        except BROKEN as fault:
            raise lost(fault, self._address) from fault

    def _send(self, send: Callable[[Connection], Reply]) -> Reply:
        """Send over a checked connection, and return it to the pool unless it broke."""
        connection = self._connection()
        try:
            reply = send(connection)
        except exceptions.ResponseError as fault:
            # The address may have failed over: the next call must check again which server answers.
            if isinstance(fault, exceptions.ReadOnlyError):
                connection.close()
            else:
                self._idle.append(connection)
            raise translate(fault, self._address) from fault
        self._idle.append(connection)
        return reply

    def _connection(self) -> Connection:
        if self._pid != os.getpid():
            self._pid, self._idle = os.getpid(), []
        while self._idle:
            with suppress(IndexError):
                connection = self._idle.pop()
                if connection.is_usable():
                    return connection
                connection.close()
        try:
            connection = Connection(self._pool.make_connection(), self._address)
            connection.connect()
        except exceptions.RedisError as fault:
            raise translate(fault, self._address) from fault
        return connection


def _pool(url: str) -> ConnectionPool:
    """Return the pool of connections to the server at `url`; which of them are idle is known here alone."""
    try:
        pool = ConnectionPool.from_url(
            url,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            client_name="commonhold",
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            max_connections=2**31,
        )
    except (ValueError, TypeError) as fault:
        raise bad_url("it names no server in a form that is known") from fault
    pool.connection_kwargs["decode_responses"] = False
    return pool


def _address(url: str) -> str:
    """Return the address of the server, without user, password and options."""
    parts = urlsplit(url)
    with suppress(ValueError):
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
    return parts.scheme
