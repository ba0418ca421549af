"""The server behind the sockets, in a thread: who comes over the loopback could be anybody of this machine."""

import asyncio
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from types import SimpleNamespace
from typing import Any

import pytest
from tests.patience import PATIENCE_SECONDS, until

from commonhold.server import listening
from commonhold.server.asgi import BE_KNOWN, Answer, Receive, Scope, Send, send_answer

QUESTION = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send_answer(send, Answer(200, b"here"))


async def knowing(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer as the guarded way does; who asks with a host of `known` has shown the token."""
    if (b"host", b"known") in scope["headers"]:
        scope[BE_KNOWN]()
    await answer(scope, receive, send)


async def nothing_to_close() -> None:
    """As of an MCP server that has no streams."""


class Time:
    """What somebody has to say what is wanted: it is over when the test says so."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.is_over = False
        self.over_for = 0
        give_up = listening._Connection._give_up

        def later(connection: listening._Connection, transport: asyncio.Transport) -> None:
            if not self.is_over:
                connection.loop.call_later(0.01, later, connection, transport)
                return
            give_up(connection, transport)
            self.over_for += 1

        patch.setattr(listening, "HEAD_SECONDS", 0)
        patch.setattr(listening._Connection, "_give_up", later)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


@pytest.fixture
def served(time: Time) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A server: its loopback's listener, and its private one."""
    time.patch.setattr(listening, "MOST_OVER_LOOPBACK", 3)
    mcp: Any = SimpleNamespace(close=nothing_to_close)
    with tempfile.TemporaryDirectory(prefix="k") as folder, ExitStack() as stack:
        loopback, private = (stack.enter_context(socket.socket(kind)) for kind in (socket.AF_INET, socket.AF_UNIX))
        loopback.bind(("127.0.0.1", 0))
        private.bind(f"{folder}/http.sock")
        for each in (loopback, private):
            each.listen()
        stop_read, stop_write = os.pipe()
        words = (loopback, private), listening.Doors(answer, knowing), mcp, stop_read
        thread = threading.Thread(target=listening.serve, args=words)
        thread.start()
        yield loopback, private
        os.write(stop_write, b"s")
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
        os.close(stop_read)
        os.close(stop_write)


def comes(listener: socket.socket) -> socket.socket:
    connection = socket.socket(listener.family)
    connection.settimeout(PATIENCE_SECONDS)
    connection.connect(listener.getsockname())
    return connection


def is_hung_up_on(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def is_answered(connection: socket.socket, question: bytes = QUESTION) -> bool:
    connection.sendall(question)
    heard = b""
    while not heard.endswith(b"here") and (part := connection.recv(4096)):
        heard += part
    return heard.endswith(b"here")


def test_who_says_nothing_is_hung_up_on_and_who_has_asked_is_not(
    served: tuple[socket.socket, socket.socket], time: Time
) -> None:
    loopback, private = served
    with closing(comes(private)) as quiet, closing(comes(loopback)) as asked, closing(comes(loopback)) as silent:
        assert is_answered(asked)
        silent.sendall(QUESTION[:10])
        time.is_over = True
        until(lambda: time.over_for == 2)
        assert is_hung_up_on(silent)
        assert is_answered(asked)
        assert is_answered(quiet), "whoever comes by the private way may take as long as it likes"


def test_so_many_may_come_at_once_and_the_private_way_stays_open(served: tuple[socket.socket, socket.socket]) -> None:
    loopback, private = served
    with ExitStack() as stack:
        first = [stack.enter_context(closing(comes(loopback))) for _ in range(3)]
        assert all(map(is_answered, first))
        assert is_hung_up_on(stack.enter_context(closing(comes(loopback))))
        assert is_answered(stack.enter_context(closing(comes(private))))
        assert all(map(is_answered, first))


def test_strangers_take_no_places_from_those_who_have_shown_the_token(
    served: tuple[socket.socket, socket.socket], time: Time
) -> None:
    loopback, _ = served
    time.patch.setattr(listening, "MOST_OVER_LOOPBACK", 10)
    time.patch.setattr(listening, "MOST_STRANGERS", 3)
    with ExitStack() as stack:
        known = []
        for _ in range(4):
            known.append(stack.enter_context(closing(comes(loopback))))
            assert is_answered(known[-1], QUESTION.replace(b"x", b"known"))
        strangers = [stack.enter_context(closing(comes(loopback))) for _ in range(6)]
        assert all(map(is_hung_up_on, strangers[:3])), "who has had most time goes first"
        assert all(map(is_answered, strangers[3:]))
        assert all(map(is_answered, known))
        newcomer = stack.enter_context(closing(comes(loopback)))
        assert is_answered(newcomer, QUESTION.replace(b"x", b"known"))
