"""Streams of events over a real server: each event once and in order, though clients and the server are cut off."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.served import HOST, Server, process, served
from tests.patience import PATIENCE_SECONDS, until
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from commonhold.kernel.scopes import Scope
from commonhold.server.network import streams

pytestmark = pytest.mark.slow
EVENTS: Final = "/api/v1/events"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(make_repository(tmp_path_factory.mktemp("watched") / "work")) as found:
        yield found


def record(server: Server, count: int, text: str = "v") -> int:
    """Record so many events; the sequence of the last."""
    with server.connect("writer") as writer:
        version = writer.get("x:counter").version
        for _ in range(count):
            answer = writer.put("x:counter", text, expected_version=version)
            assert answer.value is not None
            version = answer.value.version
        return writer.log(limit=1)[0].sequence


def watch(server: Server, after: int, **more: Any) -> ClientConnection:
    headers = {"Authorization": f"Bearer {server.token(Scope.OBSERVER)}"}
    url = f"ws://{HOST}:{server.port}{EVENTS}?after={after}"
    return opened(url, additional_headers=headers, **more)


def opened(url: str, **options: Any) -> ClientConnection:
    found: ClientConnection = connect(url, open_timeout=PATIENCE_SECONDS, **options)
    return found


def sequences(message: Any) -> list[int]:
    shape = json.loads(message)
    assert shape["type"] in ("hello", "events"), shape
    return [each["sequence"] for each in shape.get("events", ())]


def taken(socket_: ClientConnection, last: int) -> list[int]:
    """The events up to this one."""
    found: list[int] = []
    while not found or found[-1] < last:
        found += sequences(socket_.recv(PATIENCE_SECONDS))
    return found


def test_a_websocket_has_the_past_and_the_present_as_one_sequence(server: Server) -> None:
    record(server, 30)
    with watch(server, 0) as first, watch(server, 0) as second:
        last = record(server, 30)
        assert taken(first, last) == taken(second, last) == list(range(1, last + 1))
    with watch(server, last - 3) as third:
        assert taken(third, last) == [last - 2, last - 1, last]


def test_a_stranger_a_page_and_a_wrong_cursor_are_refused(server: Server) -> None:
    url = f"ws://{HOST}:{server.port}{EVENTS}"
    token = server.token(Scope.OBSERVER)
    refusals: list[tuple[dict[str, Any], str]] = [
        ({}, "TOKEN_INVALID"),
        ({"subprotocols": ["commonhold", "bearer.x"]}, "TOKEN_INVALID"),
        ({"subprotocols": ["commonhold", f"bearer.{token}"], "origin": "http://pages.example"}, "ORIGIN_REFUSED"),
    ]
    for options, code in refusals:
        with pytest.raises(InvalidStatus) as refused:
            opened(url, **options)
        assert json.loads(refused.value.response.body or b"")["code"] == code
    with opened(url, subprotocols=["commonhold", f"bearer.{token}"], origin=server.url) as page:
        assert page.subprotocol == "commonhold"
    with pytest.raises(InvalidStatus) as beyond:
        watch(server, 10**9)
    assert beyond.value.response.status_code == 410


def test_events_of_the_server_are_as_a_browser_reads_them(server: Server) -> None:
    last = record(server, 3, text="über\ntwo lines")
    token = server.token(Scope.OBSERVER)
    with closing(socket.create_connection((HOST, server.port), timeout=PATIENCE_SECONDS)) as raw:
        head = f"GET {EVENTS} HTTP/1.1\r\nHost: {HOST}\r\nAccept: text/event-stream\r\nLast-Event-ID: {last - 2}\r\n"
        raw.sendall(f"{head}Authorization: Bearer {token}\r\n\r\n".encode())
        heard = b""
        while f"id: {last}\n".encode() not in heard or not heard.endswith(b"\n\n\r\n"):
            heard += raw.recv(65536)
    assert b"content-type: text/event-stream" in heard
    ids = [line for line in heard.decode().splitlines() if line.startswith("id: ")]
    assert ids == [f"id: {last - 1}", f"id: {last}"]


def watchers(server: Server, token: str) -> int:
    text = server.ask("GET", "/metrics", Authorization=f"Bearer {token}").body.decode()
    return int(text.partition("\ncommonhold_watchers ")[2].partition("\n")[0])


def test_a_client_that_stops_reading_is_cut_off_and_others_get_everything(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for the quick one, which reads in this process: a machine may stand still for some seconds.
    monkeypatch.setattr(streams, "SLOW_SECONDS", 15.0)
    begun, token, found = record(server, 1), server.token(Scope.OBSERVER), list[int]()
    with closing(socket.socket()) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.settimeout(PATIENCE_SECONDS)
        raw.connect((HOST, server.port))
        head = f"GET {EVENTS}?after={begun} HTTP/1.1\r\nHost: {HOST}\r\nAccept: text/event-stream\r\n"
        raw.sendall(f"{head}Authorization: Bearer {token}\r\n\r\n".encode())
        heard = raw.recv(1000)
        with watch(server, begun) as quick:
            reader = threading.Thread(target=lambda: found.extend(taken(quick, begun + 150)))
            reader.start()
            record(server, 150, text="x" * 60_000)
            reader.join(PATIENCE_SECONDS)
        assert found == list(range(begun + 1, begun + 151))
        until(lambda: watchers(server, token) == 0)
        with suppress(ConnectionError):
            while part := raw.recv(1_000_000):
                heard += part
    ids = [int(line[4:]) for line in heard.decode(errors="replace").splitlines() if line.startswith("id: ")]
    assert ids == list(range(begun + 1, begun + 1 + len(ids))), "in order, and without a hole, up to its end"
    assert len(ids) < 150


def test_watchers_go_on_from_their_cursors_when_the_server_is_killed(root: Path) -> None:
    found: list[int] = []
    with process(root) as server:
        port, token = server.port, server.token(Scope.OBSERVER)
        last = [0]

        def follow() -> None:
            while not found or found[-1] != last[0]:
                headers = {"Authorization": f"Bearer {token}"}
                url = f"ws://{HOST}:{port}{EVENTS}?after={found[-1] if found else 0}"
                lost = suppress(WebSocketException, OSError, TimeoutError)
                with lost, opened(url, additional_headers=headers) as stream:
                    while found[-1:] != last:
                        found.extend(sequences(stream.recv(1.0)))

        last[0] = -1
        follower = threading.Thread(target=follow)
        follower.start()
        for _ in range(3):
            newest = record(server, 20)
            server.kill()
            server.start(port)
        newest = record(server, 5)
        until(lambda: found[-1:] == [newest])
        last[0] = newest
        follower.join(PATIENCE_SECONDS)
        assert found == list(range(1, newest + 1))


def test_a_refused_websocket_is_no_error_of_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    asking = (
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n\r\n"
    )
    with served(make_repository(tmp_path / "shop")) as server:
        for leaves in (False, True):
            with socket.create_connection((HOST, server.port), timeout=PATIENCE_SECONDS) as client:
                client.sendall(asking.encode())
                if leaves:
                    client.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: client.recv(4096), b""))
                assert leaves or answer.startswith(b"HTTP/1.1 401 ")
    assert [each.getMessage() for each in caplog.records if each.name == "uvicorn.error" and each.levelno >= 40] == []
