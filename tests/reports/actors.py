"""Processes that play a part in a report: forked from the test, told to go on over a pipe, ended with the test."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final

from tests.patience import PATIENCE_SECONDS

FORK: Final = multiprocessing.get_context("fork")


class Actor:
    """A process that speaks with the test over a pipe."""

    def __init__(self, play: Callable[[Connection], None]) -> None:
        self._pipe, other = FORK.Pipe()
        self._process = FORK.Process(target=play, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def hear(self) -> Any:
        """What it says next."""
        assert self._pipe.poll(PATIENCE_SECONDS), "it says nothing"
        return self._pipe.recv()

    def tell(self, word: str = "go on") -> None:
        """Say something to it."""
        self._pipe.send(word)

    def suspend(self) -> None:
        """Let it stand still; when this returns it does."""
        os.kill(self._pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self._pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self._pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill it, whatever it does."""
        self._process.kill()
        self._process.join(PATIENCE_SECONDS)

    @property
    def _pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def end(self) -> None:
        """End it, and let go of it."""
        self.kill()
        self._process.close()
        self._pipe.close()


@contextmanager
def actor(play: Callable[[Connection], None]) -> Iterator[Actor]:
    """A process that does `play`."""
    found = Actor(play)
    try:
        yield found
    finally:
        found.end()


def at_once(*calls: Callable[[], object]) -> list[Any]:
    """What comes of calls that as many processes make at the same moment."""
    barrier = FORK.Barrier(len(calls))

    def play(call: Callable[[], object], pipe: Connection) -> None:
        barrier.wait(PATIENCE_SECONDS)
        pipe.send(call())

    actors = [Actor(partial(play, call)) for call in calls]
    try:
        return [each.hear() for each in actors]
    finally:
        for each in actors:
            each.end()
