"""Code that waits, in virtual time: each actor is a thread, and one runs at a time, when the agenda says so."""

import threading
from collections.abc import Callable
from functools import partial

from tests.sim.world import World


class Ended(BaseException):
    """The run is over, and so is whatever an actor was at."""


class Actor:
    """A thread that goes on only when it is told."""

    def __init__(self, program: Callable[[], None], over: Callable[[], None]) -> None:
        self.fault: BaseException | None = None
        self.is_over = False
        self.may_go = threading.Semaphore(0)
        self._program, self._over = program, over
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        self.may_go.acquire()
        try:
            self._program()
        except BaseException as fault:  # noqa: BLE001 - told to who runs the world
            self.fault = fault
        self.is_over = True
        self._over()


class Actors:
    """The actors of one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.all: list[Actor] = []
        self._has_paused = threading.Semaphore(0)
        self._current: Actor | None = None
        self._is_closed = False

    def begin(self, program: Callable[[], None], after_seconds: float) -> None:
        """Have an actor run `program` after a while."""
        actor = Actor(program, self._has_paused.release)
        self.all.append(actor)
        self.world.after(after_seconds, partial(self._let_go_on, actor))

    def _let_go_on(self, actor: Actor) -> None:
        self._current = actor
        actor.may_go.release()
        self._has_paused.acquire()
        if actor.fault is not None:
            raise actor.fault

    def pause(self, seconds: float) -> None:
        """Let the actor that calls it go on after so many seconds, and others until then."""
        self.world.after(seconds, partial(self._let_go_on, self._now_running()))
        self._rest()

    def _now_running(self) -> Actor:
        assert self._current is not None
        return self._current

    def _rest(self) -> None:
        actor = self._now_running()
        self._has_paused.release()
        actor.may_go.acquire()
        if self._is_closed:
            raise Ended

    def wait(self, event: threading.Event, seconds: float) -> None:
        """Let the actor wait for an event; it notices a little later."""
        actor, end = self._now_running(), self.world.seconds + seconds

        def is_over() -> bool:
            return event.is_set() or self.world.seconds >= end

        def look_later() -> None:
            self.world.after(self.world.random.uniform(0.01, 0.1), look)

        def look() -> None:  # here, for it takes long to change to the actor's thread and back
            if is_over():
                self._let_go_on(actor)
            else:
                look_later()

        if not is_over():
            look_later()
            self._rest()

    def close(self) -> None:
        """End all that have not ended."""
        self._is_closed = True
        for actor in self.all:
            if not actor.is_over:
                actor.may_go.release()
            actor.thread.join()
