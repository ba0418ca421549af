"""HTTP read by httptools: what comes without a head, a body or an end is bounded, whatever it is a part of."""

from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from commonhold.server.asgi import Receive, Scope, Send
from commonhold.server.quick_protocol import LONGEST_HEAD_BYTES, QuickProtocol

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\n"


class Loop:
    """Starts no task: only what is read counts here."""

    def create_task(self, work: Any) -> Any:
        work.close()
        return self

    def add_done_callback(self, _: object) -> None:
        """As of a task."""


class Transport:
    """A connection that notes whether it was ended."""

    is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True

    def get_extra_info(self, _: str) -> None:
        """It has no address."""

    def pause_reading(self) -> None:
        """Nothing reads by itself."""

    def is_closing(self) -> bool:
        return self.is_aborted


async def silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Answer nothing."""


@pytest.fixture
def transport() -> Transport:
    return Transport()


@pytest.fixture
def protocol(transport: Transport) -> QuickProtocol:
    config = uvicorn.Config(silent, lifespan="off", log_config=None)
    loop: Any = Loop()
    made = QuickProtocol(config, ServerState(), {}, loop)
    connection: Any = transport
    made.connection_made(connection)
    return made


@pytest.mark.parametrize(
    "begin",
    [
        b"POST /",
        HEAD + b"x: ",
        HEAD,
        HEAD + b"transfer-encoding: chunked\r\n\r\n0\r\ntrailer: ",
        HEAD + b"transfer-encoding: chunked\r\n\r\n1;",
    ],
    ids=["path", "value", "name", "trailer", "extension"],
)
def test_a_part_without_an_end_is_bounded(protocol: QuickProtocol, transport: Transport, begin: bytes) -> None:
    protocol.data_received(begin)
    protocol.data_received(b"a" * (LONGEST_HEAD_BYTES // 2))
    assert not transport.is_aborted
    protocol.data_received(b"a" * (LONGEST_HEAD_BYTES // 2 + 1))
    assert transport.is_aborted


def test_a_body_may_be_longer(protocol: QuickProtocol, transport: Transport) -> None:
    protocol.data_received(HEAD + b"content-length: 1000000\r\n\r\n")
    for _ in range(100):
        protocol.data_received(b"a" * 10_000)
    assert not transport.is_aborted
    assert len(protocol.cycle.body) == 1_000_000


def test_white_space_around_a_value_is_no_part_of_it(protocol: QuickProtocol) -> None:
    protocol.data_received(HEAD + b"x-name: \t of someone \t\r\n\r\n")
    assert dict(protocol.cycle.scope["headers"])[b"x-name"] == b"of someone"
