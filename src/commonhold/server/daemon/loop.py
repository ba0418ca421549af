"""The loop: one thread that waits for the next event of any client, and never for one client alone."""

import os
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final

import commonhold
from commonhold.api.service import Service
from commonhold.api.wire import calls
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.correlation import accepted, correlated
from commonhold.server.daemon.peer import Peer
from commonhold.server.daemon.request_scheduler import Job, RequestScheduler, job_of, told
from commonhold.server.daemon.services import naming_tree
from commonhold.workspace.daemon_files import is_of_this_user

LONGEST_WAIT_SECONDS: Final = 1.0
BREATH_SECONDS: Final = 0.02

Introduce = Callable[[calls.Hello], Service]
"""Returns the service for the holder that a hello names. Raises CommonholdError for a client that it rejects."""
OneLook = Callable[[], AbstractContextManager[object]]
"""A block in which `Introduce` reads settings once: all requests of a turn were sent before the turn began."""


class Loop:
    """Accepts peers, collects their requests, and hands the requests of each turn to the desk at once."""

    def __init__(self, listener: socket.socket, introduce: Introduce, one_look: OneLook = nullcontext) -> None:
        """Accept from `listener`; `introduce` gives each peer its service, all of one turn within `one_look`."""
        self._listener = listener
        self._introduce = introduce
        self._one_look = one_look
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        listener.settimeout(0)
        self._selector.register(listener, selectors.EVENT_READ, None)
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._peers: set[Peer] = set()
        self._restless: set[Peer] = set()
        self.last_request_at = time.monotonic()

    @property
    def services(self) -> set[Service]:
        """The services of the connected peers."""
        return {peer.service for peer in self._peers if peer.service is not None}

    def wake(self) -> None:
        """End the present wait; callable in any thread, and in a signal handler."""
        with suppress(BlockingIOError):  # the pipe is full, so it wakes anyway
            os.write(self._wake_write, b"w")

    def turn(self, desk: RequestScheduler, longest_wait: float = LONGEST_WAIT_SECONDS) -> None:
        """Wait for events, for at most `longest_wait` seconds, and handle them."""
        jobs: list[Job] = []
        look = desk.next_look_at()
        wait = longest_wait if look is None else min(max(0.0, look - time.monotonic()), longest_wait)
        ready = self._selector.select(wait)
        with self._one_look():
            for key, _ in ready:
                if key.data is not None:
                    self._hear(key.data, jobs)
                elif key.fileobj is self._listener:
                    self._accept()
                else:
                    os.read(self._wake_read, 4096)
        if jobs:
            self.last_request_at = time.monotonic()
        desk.take(jobs)
        desk.deliver()
        while self._restless:
            self._attend(self._restless.pop(), desk)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError:  # out of descriptors, say: a client is accepted when another has left
                time.sleep(BREATH_SECONDS)
                return
            if not is_of_this_user(connection):
                connection.close()
                continue
            peer = Peer(connection, self._restless)
            self._peers.add(peer)
            self._selector.register(connection, selectors.EVENT_READ, peer)

    def _hear(self, peer: Peer, jobs: list[Job]) -> None:
        if peer.has_more_to_send:
            peer.flush()
            if peer.has_more_to_send:
                return
        for request in peer.receive():
            self._read(peer, request, jobs)

    def _read(self, peer: Peer, request: calls.Request, jobs: list[Job]) -> None:
        """Start a request; any fault in it is its answer, and does not end the connection."""
        try:
            if peer.hello is None:
                self._welcome(peer, request)
            else:
                with suppress(CommonholdError):  # changed settings apply from here on, unless they cannot be used
                    peer.service = self._introduced(peer.hello)
                jobs.append(job_of(peer, request))
        except Exception as fault:  # noqa: BLE001 - a defect of ours must neither end the daemon nor the connection
            with correlated(accepted(request.correlation)):
                peer.send(calls.encode_fault(request.number, told(fault, request.method)))

    def _welcome(self, peer: Peer, request: calls.Request) -> None:
        try:
            hello = calls.decode_hello(request.parameters)
        except calls.UNREADABLE:  # this client does not speak our protocol
            peer.give_up()
            return
        peer.service, peer.hello = self._introduced(hello), hello
        peer.send(calls.encode_answer(0, calls.Welcome(commonhold.__version__, os.getpid())))

    def _introduced(self, hello: calls.Hello) -> Service:
        with naming_tree(hello.root):
            return self._introduce(hello)

    def _attend(self, peer: Peer, desk: RequestScheduler) -> None:
        """Close a peer that is gone; wait until a slow one has taken its answers."""
        if peer not in self._peers:
            return
        if peer.is_open:
            # Read no more requests of a slow peer until it has taken its answers.
            wanted = selectors.EVENT_WRITE if peer.has_more_to_send else selectors.EVENT_READ
            self._selector.modify(peer.connection, wanted, peer)
            return
        self._peers.remove(peer)
        self._selector.unregister(peer.connection)
        peer.close()
        desk.forget(peer)

    def close(self) -> None:
        """Send the rest, and close all connections."""
        for peer in self._peers:
            peer.connection.settimeout(1.0)
            if peer.has_more_to_send:
                peer.flush()
            peer.close()
        self._selector.close()
        self._listener.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
