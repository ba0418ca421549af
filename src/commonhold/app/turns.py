"""Turns: commits to one file are planned and written first come, first served.

A commit that takes its turn before it plans is never overtaken by another of the same process, so its plan holds when
it is to be written. Turns of different names are independent. A turn lasts a limited time: whoever takes longer goes
on without it, so that one slow check does not keep everybody else from a file.
"""

import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

TURN_SECONDS: Final = 10.0
"""How long a turn keeps others waiting at most. A type checker has as long to answer."""
REPOSITORY: Final = ""
"""The name under which changes that concern other files take turns. No path is empty."""


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue of each of its names. `until` is when its turn ends; None as long as it has none."""

    names: tuple[str, ...]
    until: float | None = None
    is_called: threading.Event = field(default_factory=threading.Event)


class TurnQueues:
    """One first-in, first-out queue a name; a ticket has its turn when it is first in all of its own.

    Tickets join all their queues in one step, so none can wait for one that waits for it. Pure but for the tickets'
    events: the caller holds a lock, and says what time it is.
    """

    def __init__(self) -> None:
        """Begin with nobody in line."""
        self._queues: dict[str, deque[Ticket]] = {}

    def join(self, names: Collection[str]) -> Ticket:
        """Stand in line for all `names`."""
        ticket = Ticket(tuple(dict.fromkeys(names)))
        for name in ticket.names:
            self._queues.setdefault(name, deque()).append(ticket)
        return ticket

    def begin(self, ticket: Ticket, now: float) -> bool:
        """Begin the turn of `ticket` if all before it have left, or had their time. Whether it has begun."""
        for name in ticket.names:
            while (first := self._queues[name][0]) is not ticket:
                if first.until is None or now < first.until:
                    return False
                self.leave(first)
        ticket.until = now + TURN_SECONDS
        return True

    def leave(self, ticket: Ticket) -> None:
        """Leave all queues, and call those who are first now. Idempotent."""
        for name in ticket.names:
            queue = self._queues.get(name)
            if queue is None or ticket not in queue:
                continue
            queue.remove(ticket)
            if queue:
                queue[0].is_called.set()
            else:
                del self._queues[name]

    def has_turn(self, ticket: Ticket) -> bool:
        """Whether the turn of `ticket` has begun, and nobody has gone past it since."""
        return ticket.until is not None and all(ticket in self._queues.get(name, ()) for name in ticket.names)


class Turns:
    """Turns among the threads of one process.

    They say nothing about other processes: a commit compares what it planned on with what is there in any case.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic, *, is_complete: bool = False) -> None:
        """Count seconds with `monotonic`. `is_complete`: nobody commits who does not take turns here."""
        self.is_complete = is_complete
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._queues = TurnQueues()
        self._process = os.getpid()
        self._linked: Counter[str] = Counter()

    def linked(self, root: str) -> int:
        """How many commits in the working tree at `root` have concerned other files."""
        return self._linked[root]

    def add_linked(self, root: str) -> None:
        """Count one more; the caller is inside the gate."""
        self._linked[root] += 1

    @contextmanager
    def take(self, *names: str) -> Iterator[Ticket]:
        """Wait until all who asked for any of `names` before are done, or had `TURN_SECONDS`; be first in the block."""
        ticket = self._wait(names)
        try:
            yield ticket
        finally:
            with self._lock:
                self._queues.leave(ticket)

    def _wait(self, names: Collection[str]) -> Ticket:
        with self._lock:
            if self._process != os.getpid():  # a forked child: those in line are threads of its parent
                self._process, self._queues = os.getpid(), TurnQueues()
            ticket = self._queues.join(names)
        try:
            while True:
                with self._lock:
                    ticket.is_called.clear()
                    if self._queues.begin(ticket, self._monotonic()):
                        return ticket
                ticket.is_called.wait(TURN_SECONDS / 10)
        except BaseException:  # whatever stopped it, Ctrl-C too: nobody waits for who has gone
            with self._lock:
                self._queues.leave(ticket)
            raise
