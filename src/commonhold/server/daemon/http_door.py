"""The HTTP entrance: its sockets live as long as the daemon; the server is loaded at the first connection."""

from __future__ import annotations

import os
import selectors
import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

from commonhold.agents.runtime.under_way import UnderWay
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.logs import Log
from commonhold.server.face import OpenFace
from commonhold.server.facts import Facts
from commonhold.workspace import daemon_files
from commonhold.workspace.loopback import Loopback, bind, loopback
from commonhold.workspace.repository import Repository

if TYPE_CHECKING:
    from commonhold.client.opening import FindChannel

_log: Final = Log(__name__)


class Door:
    """Listens on the private socket, and on the loopback if the repository is served there."""

    def __init__(
        self,
        repository: Repository,
        wake: Callable[[], None],
        knocked: Callable[[], object],
        find_channel: FindChannel,
        facts: Facts,
        network: OpenFace | None = None,
    ) -> None:
        """Listen. `wake` is called when the door has closed, `knocked` at the first connection.

        All clients are served through the channels of `find_channel`. The caller holds the lock of the state folder.
        `network` is the entrance for other machines, which the door closes at its end.
        """
        self._find_channel = find_channel
        self._facts = facts
        self._network = network
        self._repository = repository
        self._wake = wake
        self._knocked = knocked
        self._address = daemon_files.http_address(repository.state_folder)
        self._listeners = [daemon_files.listen(self._address)]
        self._place = daemon_files.identity(self._address)
        self._loopback = self._served_there()
        self._stop_read, self._stop_write = os.pipe()
        self._under_way: UnderWay = set()
        self._thread = threading.Thread(target=self._live, name="commonhold-http", daemon=True)
        self._thread.start()

    def _served_there(self) -> Loopback | None:
        """Return the loopback address that it serves; None if there is none. An error only goes into the log."""
        try:
            chosen = loopback(self._repository.state_folder)
            if chosen is not None:
                self._listeners.append(bind(chosen))
        except CommonholdError as fault:
            _log.error("loopback is not served", code=fault.code, message=fault.message, hint=fault.hint)
            return None
        return chosen

    @property
    def is_busy(self) -> bool:
        """Whether a request waits for its answer, a stream is open, or a command runs."""
        return any(is_so() for is_so in list(self._under_way))

    @property
    def is_open(self) -> bool:
        """Whether it still answers."""
        return self._thread.is_alive()

    @property
    def is_in_place(self) -> bool:
        """Whether the path of the private socket still leads to this one."""
        return daemon_files.identity(self._address) == self._place

    def _live(self) -> None:
        try:
            if self._network is not None or self._is_knocked_at():
                self._knocked()
                behind = import_module("commonhold.server.http_runtime")
                entrances = behind.Entrances(self._listeners, self._loopback, self._stop_read, self._network)
                behind.serve(self._repository, self._find_channel, self._facts, entrances, self._under_way)
        except BaseException:  # of any kind: a client must not wait for a server that is gone
            self._close_listeners()
            raise
        finally:
            self._wake()

    def _close_listeners(self) -> None:
        for listener in (*self._listeners, *(self._network.listeners if self._network is not None else ())):
            listener.close()

    def _is_knocked_at(self) -> bool:
        """Wait for a connection or for the closing; return whether a connection came."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stop_read, selectors.EVENT_READ)
            for listener in self._listeners:
                selector.register(listener, selectors.EVENT_READ)
            return all(key.fileobj != self._stop_read for key, _ in selector.select())

    def begin_closing(self) -> None:
        """Accept no more connections; requests under way are still answered, for a limited time."""
        daemon_files.withdraw(self._address, self._place)
        os.write(self._stop_write, b"s")

    def close(self) -> None:
        """Close the sockets; if a request is still under way, leave them to the end of the process."""
        if self.is_open:
            return
        self._close_listeners()
        os.close(self._stop_write)
        os.close(self._stop_read)
