"""Turns: commits to one file are planned and written first come, first served.

A commit that takes its turn before it plans is never overtaken by another of the same process, so its plan still holds
when it is written. Turns of different names are independent. A turn lasts a limited time, so that one slow check does
not keep all others from a file. A commit that takes longer may be overtaken, and its next turn lasts twice as long: so
it is overtaken a few times at most.
"""

import math
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from commonhold.workspace.in_flight import InFlight

TURN_SECONDS: Final = 10.0
"""The longest time that a first turn keeps others waiting. A type checker has as long to answer."""
REPOSITORY: Final = ""
"""The name under which changes that affect other files take turns. No path is empty."""


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue of each of its names. `until` is the end of its turn; None before the turn begins.

    `within` is the turn of the caller that requests this one. `seconds` is the length of the turn.
    """

    names: tuple[str, ...]
    within: "Ticket | None" = None
    seconds: float = TURN_SECONDS
    until: float | None = None
    is_called: threading.Event = field(default_factory=threading.Event)


class TurnQueues:
    """A first-in, first-out queue for each name; a ticket has its turn when it is first in all of its queues.

    Tickets join all their queues in one step, so no two tickets can wait for each other. Pure except for the tickets'
    events: the caller holds a lock, and passes the time.
    """

    def __init__(self) -> None:
        """Begin with empty queues."""
        self._queues: dict[str, deque[Ticket]] = {}

    def join(self, names: Collection[str], within: Ticket | None = None) -> Ticket:
        """Join the queues of all `names`. Meanwhile the time of the turn `within`, if given, stands still."""
        ticket = Ticket(tuple(dict.fromkeys(names)), within, within.seconds if within else TURN_SECONDS)
        if within is not None and self.has_turn(within):
            within.until = math.inf
        self._append(ticket)
        return ticket

    def join_again(self, ticket: Ticket) -> None:
        """Join the queues again, behind all others, for a turn that lasts twice as long."""
        self.leave(ticket)
        ticket.until = None
        ticket.seconds *= 2
        self._append(ticket)

    def _append(self, ticket: Ticket) -> None:
        for name in ticket.names:
            self._queues.setdefault(name, deque()).append(ticket)

    def begin(self, ticket: Ticket, now: float) -> bool:
        """Begin the turn of `ticket` if all before it have left, or used up their time. Return whether it began."""
        for name in ticket.names:
            while (first := self._queues[name][0]) is not ticket:
                if first.until is None or now < first.until:
                    return False
                self._end(first)
        ticket.until = now + ticket.seconds
        if ticket.within is not None:
            ticket.within.until = ticket.until
        return True

    def _end(self, ticket: Ticket) -> None:
        """End a turn whose time is over, and with it the turn within which it was taken."""
        self.leave(ticket)
        if ticket.within is not None:
            self._end(ticket.within)

    def __len__(self) -> int:
        """Return the number of tickets that are not within another ticket's turn."""
        return len({id(each) for queue in self._queues.values() for each in queue if each.within is None})

    def leave(self, ticket: Ticket) -> None:
        """Leave all queues, and wake the tickets that are first now. Idempotent."""
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
        """Whether the turn of `ticket` has begun, and no other ticket has overtaken it since."""
        return ticket.until is not None and all(ticket in self._queues.get(name, ()) for name in ticket.names)


class Turns:
    """Turns among the threads of one process.

    They do not cover other processes: in any case a commit compares the base of its plan with the present state.
    """

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Event, float], object] = threading.Event.wait,
        *,
        is_complete: bool = False,
    ) -> None:
        """Count seconds with `monotonic`, and `wait` for an event, for so many seconds at most.

        `is_complete`: every commit takes its turn here.
        """
        self.is_complete = is_complete
        self.in_flight: Final = InFlight(wait)
        """The commits that have left their turn, and whose files are being written."""
        self._monotonic = monotonic
        self._wait_for = wait
        self._lock = threading.Lock()
        self._queues = TurnQueues()
        self._process = os.getpid()
        self._linked: Counter[str] = Counter()

    def crowd(self) -> int:
        """Return how many callers have a turn or wait for one."""
        with self._lock:
            return len(self._queues)

    def linked(self, root: str) -> int:
        """Return how many commits in the working tree at `root` have affected other files."""
        return self._linked[root]

    def add_linked(self, root: str) -> None:
        """Count one more."""
        with self._lock:
            self._linked[root] += 1

    @contextmanager
    def take(self, *names: str, within: Ticket | None = None) -> Iterator[Ticket]:
        """Wait until all earlier callers for any of `names` are done, or used up their time; be first in the block.

        `within` is a turn that the caller has. Its time stands still during the wait, and then ends with this one's.
        """
        with self._lock:
            if self._process != os.getpid():  # a forked child: the queued tickets are of threads of its parent
                self._process, self._queues = os.getpid(), TurnQueues()
            ticket = self._queues.join(names, within)
        try:
            self._wait(ticket)
            yield ticket
        finally:  # after any exception, Ctrl-C too: otherwise others would wait for a dead ticket
            with self._lock:
                self._queues.leave(ticket)

    def regain(self, ticket: Ticket) -> None:
        """Wait for another, longer turn if that of `ticket` has ended before its block."""
        if self.has_turn(ticket):
            return
        with self._lock:
            self._queues.join_again(ticket)
        self._wait(ticket)

    def pass_on(self, *tickets: Ticket) -> None:
        """Let the next begin, though the block goes on: the content that they will read is already in place."""
        with self._lock:
            for ticket in tickets:
                self._queues.leave(ticket)

    def has_turn(self, ticket: Ticket) -> bool:
        """Whether no other ticket has overtaken `ticket` since its turn began."""
        with self._lock:
            return self._queues.has_turn(ticket)

    def _wait(self, ticket: Ticket) -> None:
        while True:
            with self._lock:
                ticket.is_called.clear()
                if self._queues.begin(ticket, self._monotonic()):
                    return
            self._wait_for(ticket.is_called, TURN_SECONDS / 10)
