"""Run slow work in a thread: the loop goes on, and at the end does not wait for a thread that hangs."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Final, TypeVar

from commonhold.machine.logs import Log

T = TypeVar("T")
_log: Final = Log(__name__)


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

    threading.Thread(target=copy_context().run, args=(run,), name="commonhold-beside", daemon=True).start()
    return await outcome
