"""Doing in a thread what may take long: the loop goes on, and at the end nobody waits for a thread that hangs."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def beside(work: Callable[[], T]) -> T:
    """What `work` gives, or raises. Who stops waiting does not stop it."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(done: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits
            loop.call_soon_threadsafe(lambda: None if outcome.done() else done())

    def run() -> None:
        try:
            value = work()
        except BaseException as fault:  # noqa: BLE001 - it is raised where the work is waited for
            settle(partial(outcome.set_exception, fault))
        else:
            settle(partial(outcome.set_result, value))

    threading.Thread(target=run, name="commonhold-beside", daemon=True).start()
    return await outcome
