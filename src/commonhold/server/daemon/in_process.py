"""Calls that the daemon's own threads make: for hooks, and for clients of MCP over HTTP. No socket is involved.

Such a call runs in the thread that makes it, on the service that a connected client with the same holder would get. Its
writes share flushes with all others. Only a call that waits in line for a lease goes to the desk, which wakes it.

Locks are taken in one order: `Services.lock`, then those of the store. No thread waits for the loop with a lock, so the
loop, which takes both, cannot be in a deadlock with a hook.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, Final

import commonhold
from commonhold.api.operations import Schedule
from commonhold.api.service import OPERATIONS, Service
from commonhold.api.wire import calls
from commonhold.config import load_settings
from commonhold.kernel import texts
from commonhold.kernel.answers import AcquireAnswer
from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.machine.correlation import current
from commonhold.machine.system import process_umask
from commonhold.server.call_counts import CallCounts
from commonhold.server.daemon.request_scheduler import THREADS, Job, RequestScheduler, told
from commonhold.server.daemon.services import Services, naming_tree
from commonhold.workspace.repository import find_repository


class InProcess:
    """Gives the daemon's threads channels to the services, and keeps account of the calls that run."""

    def __init__(self, services: Services, desk: RequestScheduler, counts: CallCounts | None = None) -> None:
        """Call `services`; calls in line wait at `desk`. Answers are counted in `counts`."""
        self._counts = counts or CallCounts()
        self._services = services
        self._desk = desk
        self._change = threading.Condition(services.lock)
        self._readers = threading.BoundedSemaphore(THREADS)
        self._channels: dict[LocalChannel, Service] = {}
        self._running: list[Service] = []
        self._in_line: dict[str, _InLine] = {}
        self._is_closed = False
        self.last_call_at = time.monotonic()

    def find_channel(self, path: str, agent: str | None) -> tuple[str, LocalChannel]:
        """Return the root of the working tree around `path`, and a channel to its service for `agent`.

        Raises CommonholdError, as opening a session does.
        """
        if agent is not None:
            texts.check_holder(agent)
        root = find_repository(path).root
        settings = load_settings(root)
        where = settings.store, settings.namespace
        hello = calls.Hello(calls.PROTOCOL, commonhold.__version__, root, agent, process_umask(), *where)
        return root, LocalChannel(self, hello)

    @property
    def services(self) -> set[Service]:
        """The services of channels in use, and of calls that run. The caller holds `Services.lock`."""
        return {*self._channels.values(), *self._running}

    def call(self, channel: LocalChannel, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call a method of the service behind `channel`. Raises CommonholdError only."""
        began_at = time.monotonic()
        with self._running_on(channel) as service:
            try:
                answer = self._answer(service, channel, name, arguments, named)
            except Exception as fault:  # of any kind: a defect becomes an error with a code, as for a connected client
                error = told(fault, name)
                self._counts.add(name, error, time.monotonic() - began_at)
                if error is fault:
                    raise
                raise error from fault
            self._counts.add(name, answer, time.monotonic() - began_at)
            return answer

    def _answer(
        self, service: Service, channel: LocalChannel, name: str, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:  # noqa: ANN401 - each method has its own
        if name == "acquire" and named.get("hold_seconds") and not service.is_shared:
            return self._acquired(service, channel.hello.agent, arguments, dict(named))
        if name == "release":
            with self._cancelled(channel.hello.agent, arguments[0] if arguments else named["lease_id"]):
                return service.release(*arguments, **named)
        # More threads that parse at once would only slow the loop down.
        with nullcontext() if OPERATIONS[name].schedule is not Schedule.FILES else self._readers:
            return getattr(service, name)(*arguments, **named)

    @contextmanager
    def _running_on(self, channel: LocalChannel) -> Iterator[Service]:
        """Yield the service of a channel under the present settings, which stays in use until the end of the block."""
        with self._change:
            if self._is_closed:
                raise _stopping()
            service = self._channels[channel] = self._service(channel)
            self._running.append(service)
            self.last_call_at = time.monotonic()
        try:
            yield service
        finally:
            with self._change:
                self._running.remove(service)
                self._change.notify_all()
            self._desk.look_again()

    def _service(self, channel: LocalChannel) -> Service:
        """Return the service under the present settings; if they cannot be used, that of the channel's last call."""
        try:
            with naming_tree(channel.hello.root):
                return self._services.service(channel.hello)
        except CommonholdError:
            if channel not in self._channels:
                raise
            return self._channels[channel]

    def _acquired(self, service: Service, agent: str | None, keys: Sequence[str], named: dict[str, Any]) -> Any:  # noqa: ANN401
        """Return the answer to an acquire; if it has a place in line, wait at the desk for as long as it says."""
        ticket: str = named["ticket"]
        in_line = self._in_line[ticket] = _InLine(agent)
        try:
            answer = service.acquire(*keys, **named)
            if answer.outcome == "queued" and in_line.is_open:
                self._desk.submit(Job(in_line, service, 0, "acquire", keys, named, current()))
                answer = in_line.answer(answer)
        finally:
            if self._in_line.get(ticket) is in_line:
                del self._in_line[ticket]
        if not in_line.is_open:  # the release may have come before there was anything to release
            with suppress(CommonholdError):
                service.release(ticket)
        return answer

    @contextmanager
    def _cancelled(self, agent: str | None, ticket: str) -> Iterator[None]:
        """End the wait of `agent` for a ticket that the block releases: the answer to that is its place in line.

        Its thread gets that after the block: it releases the ticket, too, and must not be the first to do so.
        """
        in_line = self._in_line.get(ticket)
        if in_line is None or in_line.agent != agent:
            yield
            return
        in_line.is_open = False
        try:
            yield
        finally:
            in_line.give_up()

    def leave(self, channel: LocalChannel) -> None:
        """Count a channel as unused until its next call."""
        with self._change:
            self._channels.pop(channel, None)

    def close(self) -> None:
        """Accept no more calls, answer those in line with an error, and wait for the others to end."""
        with self._change:
            self._is_closed = True
            for in_line in self._in_line.copy().values():
                in_line.give_up()
            self._change.wait_for(lambda: not self._running)


class LocalChannel:
    """A channel to the service of one holder in one working tree. Many threads may call it at once."""

    def __init__(self, calls_: InProcess, hello: calls.Hello) -> None:
        """Call as the client that `hello` describes."""
        self._calls = calls_
        self.hello: Final = hello

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Call a method. Raises the errors of the method, and StoreError `STORE_BUSY` once the daemon ends."""
        return self._calls.call(self, name, arguments, named)

    def close(self) -> None:
        """Leave the service; the next call takes it up again."""
        self._calls.leave(self)


class _InLine:
    """An acquire that may wait in line: at the desk, it stands in the place of a connected client.

    It is no longer open once its ticket was released: the desk then removes it, as if its client had gone.
    """

    def __init__(self, agent: str | None) -> None:
        self.agent = agent
        self.is_open = True
        self._frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def send(self, frame: bytes) -> None:
        """Take the answer from the desk."""
        self._frames.put(frame)

    def give_up(self) -> None:
        """Wait no longer for the desk."""
        self._frames.put(b"")

    def answer(self, queued: AcquireAnswer) -> AcquireAnswer:
        """Wait for the answer from the desk, or return `queued` if the ticket is released. Raises its error."""
        frame = self._frames.get()
        if not frame and self.is_open:
            raise _stopping()
        if not frame:
            return queued
        reply = calls.decode_reply(frame[calls.LENGTH.size :])
        if reply.kind == "error":
            raise calls.decode_fault(reply.body)
        answer: AcquireAnswer = calls.method("acquire").answer(reply.body)
        return answer


def _stopping() -> StoreError:
    return StoreError(
        Code.STORE_BUSY,
        "the daemon of this repository is stopping, so it starts no more calls",
        hint="repeat the call",
        retry_after_seconds=1.0,
        fields={"is_stopping": True},
    )
