"""Commits in flight: this process has decided and journalled them, and not yet recorded them.

They write their files side by side, outside of the gate, so that the flushes of one do not delay the others. A caller
that must find no unfinished commit enters alone: a readers-writer lock, in which commits share, and a caller that wants
to be alone goes before any newcomer.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.files import Journal

LOOK_SECONDS: Final = 1.0
Wait = Callable[[threading.Event, float], object]


@dataclass(frozen=True, slots=True)
class Flight:
    """A commit in flight. `places` are the keys that show its result; `is_linked`: it affects other files."""

    journal: Journal
    places: tuple[str, ...] = ()
    is_linked: bool = False

    @property
    def id(self) -> int:
        """Return the id of its journal."""
        return self.journal.id

    @property
    def root(self) -> str:
        """Return the working tree that it writes to."""
        return self.journal.root

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the files that it writes."""
        return tuple(each.path for each in self.journal.writes)


class InFlight:
    """The commits that this process has in flight, in all working trees of one state."""

    def __init__(self, wait: Wait = threading.Event.wait) -> None:
        """Begin with none. `wait` waits for an event, for so many seconds at most."""
        self._wait = wait
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._flights: dict[int, Flight] = {}
        self._sharing = 0
        self._owner, self._depth, self._wanting = 0, 0, 0
        self._events: list[threading.Event] = []

    @contextmanager
    def join(self) -> Iterator[None]:
        """Be one of the commits that share, until this one is recorded or given up."""
        self._until(self._is_joined)
        try:
            yield
        finally:
            with self._changing():
                self._sharing -= 1

    def _is_joined(self) -> bool:
        is_free = not (self._owner or self._wanting)
        self._sharing += is_free
        return is_free

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Find no commit in flight, and none until the end of the block. Re-entrant; not after `join`."""
        me = threading.get_ident()
        if self._owner != me:  # no other thread can set it to this thread's id
            with self._lock:
                self._check_process()
                self._wanting += 1
            try:
                self._until(lambda: self._is_alone(me))
            finally:  # after any exception, Ctrl-C too: otherwise others would wait for a dead thread
                with self._changing():
                    self._wanting -= 1
        self._depth += 1
        try:
            yield
        finally:
            with self._changing():
                self._depth -= 1
                if not self._depth:
                    self._owner = 0

    def _is_alone(self, me: int) -> bool:
        is_free = not (self._owner or self._sharing)
        if is_free:
            self._owner = me
        return is_free

    def add(self, flight: Flight) -> None:
        """Add a commit that is decided; the caller is inside the gate, and has joined."""
        with self._lock:
            self._flights[flight.id] = flight

    def end(self, flight_id: int) -> None:
        """Remove a commit that is recorded or taken back; the caller is inside the gate. Idempotent."""
        with self._changing():
            self._flights.pop(flight_id, None)

    def flights(self) -> tuple[Flight, ...]:
        """Return all commits in flight, the oldest first."""
        with self._lock:
            self._check_process()
            return tuple(self._flights.values())

    def left_behind(self, journals: Iterable[Journal]) -> list[Journal]:
        """Return the journals that no commit in flight owns: a process died, or could not take its commit back."""
        ids = {each.id for each in self.flights()}
        return [each for each in journals if each.id not in ids]

    def wait_for(self, ids: Collection[int]) -> None:
        """Wait until none of these is in flight."""
        if ids:
            self._until(lambda: self._flights.keys().isdisjoint(ids))

    def _until(self, is_so: Callable[[], bool]) -> None:
        while True:
            with self._lock:
                self._check_process()
                if is_so():
                    return
                event = threading.Event()
                self._events.append(event)
            self._wait(event, LOOK_SECONDS)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let the block change what others wait for, and wake them after it."""
        with self._lock:
            yield
            events, self._events = self._events, []
        for each in events:
            each.set()

    def _check_process(self) -> None:
        """Start again in a forked child: the commits in flight, and the thread that is alone, belong to its parent."""
        if self._process != os.getpid():
            self._begin()
