"""Group commit: transactions that end while the log is being flushed share the next flush.

After DeWitt et al., "Implementation techniques for main memory database systems" (SIGMOD 1984): a disk flushes the log
of many transactions in the time of one.
"""

import os
import threading
from collections.abc import Callable


def flush_data(descriptor: int) -> None:
    """Flush a file's bytes and its length. Raises OSError."""
    (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(descriptor)


class GroupCommit:
    """Flushes a log on behalf of many threads. Transactions are counted in the order in which they are in the log."""

    def __init__(self, flush: Callable[[], None]) -> None:
        """Make all that was written before durable with `flush`, which raises OSError."""
        self._flush = flush
        self._change = threading.Condition()
        self._written = 0
        self._durable = 0
        self._is_flushing = False
        self._fault: OSError | None = None

    @property
    def written(self) -> int:
        """How many transactions are in the log."""
        return self._written

    def add(self) -> None:
        """One more is in the log; its thread holds the lock of the log's writers."""
        self._written += 1

    @property
    def is_sound(self) -> bool:
        """Whether no flush has failed."""
        return self._fault is None

    def check(self) -> None:
        """Raise the OSError of a failed flush: earlier writes may be lost, so none may follow."""
        if self._fault is not None:
            raise self._fault

    def wait(self, number: int) -> None:
        """Wait until this number of transactions is durable. Raises OSError if they may not be.

        A flush that began before the transaction ended does not cover it, so it waits for the next one, which the first
        waiter makes for all.
        """
        with self._change:
            while self._durable < number:
                self.check()
                if self._is_flushing:
                    self._change.wait()
                    continue
                self._is_flushing, covered = True, self._written
                self._change.release()
                try:
                    self._flush()
                except OSError as fault:
                    self._fault = fault
                finally:
                    self._change.acquire()
                    self._is_flushing = False
                    self._change.notify_all()
                if self._fault is None:
                    self._durable = covered
