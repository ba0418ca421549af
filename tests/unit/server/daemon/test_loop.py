"""The loop: whatever is raised over one request is the answer to that one, and the connection goes on."""

import errno
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import pytest
from tests.patience import PATIENCE_SECONDS

import commonhold
from commonhold.api.service import Service
from commonhold.api.wire import calls
from commonhold.kernel.errors import Code, CommonholdError
from commonhold.server.daemon.loop import Loop
from commonhold.server.daemon.request_scheduler import Job, RequestScheduler


class FakeScheduler:
    """Answers every job with nothing."""

    def take(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            job.peer.send(calls.encode_answer(job.number, None))

    def deliver(self) -> None:
        """No threads here."""

    def next_look_at(self) -> float | None:
        return None

    def forget(self, peer: object) -> None:
        """Nobody waits."""


class Room:
    """A loop with one client, and what introducing somebody comes to."""

    def __init__(self, folder: Path) -> None:
        address = str(folder / "socket")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(address)
        listener.listen()
        self.fault: BaseException | None = None
        self.loop = Loop(listener, self.introduce)
        self.client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.client.connect(address)
        self.client.settimeout(PATIENCE_SECONDS)

    def introduce(self, _: calls.Hello) -> Service:
        if self.fault is not None:
            raise self.fault
        return cast("Service", object())

    def ask(self, frame: bytes) -> calls.Reply:
        self.client.sendall(frame)
        self.client.settimeout(0)
        try:
            while True:
                self.loop.turn(cast("RequestScheduler", FakeScheduler()), 0.0)
                try:
                    data = self.client.recv(65536)
                except BlockingIOError:
                    continue
                assert data, "it was hung up on"
                return calls.decode_reply(data[calls.LENGTH.size :])
        finally:
            self.client.settimeout(PATIENCE_SECONDS)

    def error(self, frame: bytes) -> CommonholdError:
        reply = self.ask(frame)
        assert reply.kind == "error"
        return calls.decode_fault(reply.body)


HELLO = calls.encode_hello(calls.Hello(calls.PROTOCOL, commonhold.__version__, "/", "ann", 0o022))
REQUEST = calls.encode_request(1, "heartbeat", (), {})


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.client.close()
    made.loop.close()


@pytest.mark.parametrize("fault", [RecursionError("too deep"), KeyError("x")])
def test_what_is_raised_over_a_request_is_its_answer(room: Room, fault: Exception) -> None:
    assert room.ask(HELLO).kind == "answer"
    room.fault = fault
    found = room.error(REQUEST)
    assert room.ask(REQUEST).kind == "error", "the connection goes on"
    room.fault = None
    assert room.ask(REQUEST).kind == "answer"
    assert found.code is Code.INTERNAL


@pytest.mark.parametrize("fault", [MemoryError(), OSError(errno.EMFILE, os.strerror(errno.EMFILE))])
def test_what_there_is_too_little_of_may_be_there_in_a_moment(room: Room, fault: Exception) -> None:
    room.fault = fault
    found = room.error(HELLO)
    assert (found.code, found.retryable) == (Code.STORE_BUSY, True)
    room.fault = None
    assert room.ask(HELLO).kind == "answer"
