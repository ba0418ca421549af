"""Run slow work in a thread: the loop goes on, and at the end does not wait for a thread that hangs."""

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Final, TypeVar

from commonhold.machine.logs import Log

T = TypeVar("T")
Work = Callable[[], object]
IDLE_SECONDS: Final = 10.0
"""How long a thread waits for more work: to start one takes longer than many a request."""
_log: Final = Log(__name__)
_idle: Final[list[queue.SimpleQueue[Work]]] = []
"""The threads that wait for work, those that have waited longest first. Taking one out is one atomic step."""
os.register_at_fork(after_in_child=_idle.clear)


async def beside(work: Callable[[], T]) -> T:
    """Return the result of `work`, or raise its exception. The work goes on even if the caller stops waiting."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(done: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile: no caller waits
            loop.call_soon_threadsafe(lambda: None if outcome.done() else done())

    def run() -> None:
        try:
            value = work()
        except BaseException as fault:  # noqa: BLE001 - the waiting caller raises it
            if outcome.done():
                _log.error("work failed after its caller had stopped waiting", fault=fault)
            settle(partial(outcome.set_exception, fault))
        else:
            settle(partial(outcome.set_result, value))

    _start(partial(copy_context().run, run))
    return await outcome


def _start(work: Work) -> None:
    try:
        _idle.pop().put(work)
    except IndexError:
        threading.Thread(target=_work_on, args=(work,), name="commonhold-beside", daemon=True).start()


def _work_on(work: Work) -> None:
    """Do some work, then more of it as it comes."""
    mine: queue.SimpleQueue[Work] = queue.SimpleQueue()
    while True:
        work()
        del work  # it holds the answer
        _idle.append(mine)
        try:
            work = mine.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            try:
                _idle.remove(mine)
            except ValueError:  # it was given work in this very moment
                work = mine.get()
            else:
                return
