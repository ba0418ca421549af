"""Run slow work in a thread while the caller does other work."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def meanwhile(work: Callable[[], T]) -> Iterator[Callable[[], T]]:
    """Begin `work` in a thread; the block gets a function that waits for its result, or raises its exception.

    The block ends after the work, however it ends. If no thread can be started, the work is done before the block.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as fault:  # noqa: BLE001 - the block raises it
            outcome.set_exception(fault)

    try:
        threading.Thread(target=copy_context().run, args=(run,), name="commonhold-meanwhile", daemon=True).start()
    except RuntimeError:
        run()
    try:
        yield outcome.result
    finally:
        wait([outcome])
