"""The client's connection to a server or a proxy: answers in every form that HTTP/1 has, and what is none."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.client.http_connection import HttpConnection

HEAD = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def answering(*answers: bytes) -> Iterator[HttpConnection]:
    """A connection to a server that gives these answers, one to each request, and then ends the connection."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as requests:
            for each in answers:
                while requests.readline() not in (b"\r\n", b""):
                    pass
                connection.sendall(each)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        host, port = listener.getsockname()
        connection = HttpConnection(host, port, None)
        yield connection
        connection.close()
        thread.join(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere",
        b"HTTP/1.1 200\r\nContent-Length: 4\r\nX: y\r\n\r\nhere",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;a=b\r\nher\r\n1\r\ne\r\n0\r\ntrailer: 1\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nhere",
    ],
)
def test_an_answer_is_read_in_each_form(answer: bytes) -> None:
    with answering(answer) as connection:
        assert connection.ask(HEAD, b"", PATIENCE_SECONDS) == (200, b"here")


def test_requests_share_a_connection_and_an_answer_without_a_body_ends_at_its_head() -> None:
    one, two = b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1"
    with answering(one, two, one) as connection:
        statuses = [connection.ask(HEAD, b"", PATIENCE_SECONDS) for _ in range(3)]
    assert statuses == [(204, b""), (200, b"1"), (204, b"")]


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(201)),
        b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nher",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nher",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nz\r\nx",
        b"",
    ],
)
def test_what_is_no_whole_answer_is_an_error(answer: bytes) -> None:
    with answering(answer) as connection, pytest.raises(ConnectionError, match=r"not HTTP"):
        connection.ask(HEAD, b"", PATIENCE_SECONDS)
