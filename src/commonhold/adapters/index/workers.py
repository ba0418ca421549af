"""Summarising in several processes at once, when there is enough to do.

They are started afresh and not forked, since this process may have threads; and not by `multiprocessing`, which would
run the program that we are part of once more in each of them.
"""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO, Final, TypeVar, cast

import msgspec

from commonhold.adapters.index.packing import Packed, packed
from commonhold.adapters.index.work import READY, Source, read_frame, summarised, write_frame
from commonhold.linking.summary import Summary
from commonhold.regions.languages import language_for

T = TypeVar("T")

Batch = tuple[T, Sequence[Source]]
Done = tuple[T, list[Packed | None]]

# More would not fit beside a daemon into the memory that we allow ourselves.
MOST_PROCESSES: Final = 4
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop());"
    " from commonhold.adapters.index.work import main; main()"
)
# So many batches wait for each process, so that none waits for us.
_AHEAD: Final = 2
_DECODER: Final = msgspec.msgpack.Decoder(list[Packed | None])
_KILLED: Final = "it could not be summarised: the process that tried died"


def usable_processors() -> int:
    """How many processors this process may use, or as many of them as we take."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_PROCESSES)


class Worker:
    """One process. Raises OSError where it cannot be started, EOFError when it is gone."""

    def __init__(self) -> None:
        """Start it, and wait until it is ready."""
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._given, self._answers = cast("BinaryIO", self._child.stdin), cast("BinaryIO", self._child.stdout)
        if read_frame(self._answers) != msgspec.msgpack.encode(READY):
            self.end()
            raise ChildProcessError("it ended before it was ready")

    def summarise(self, sources: Sequence[Source]) -> list[Packed | None]:
        """The summaries of some files."""
        try:
            write_frame(self._given, sources)
        except BrokenPipeError as fault:
            raise EOFError from fault
        return _DECODER.decode(self._answer())

    def _answer(self) -> bytes:
        answer = read_frame(self._answers)
        if answer is None:
            raise EOFError
        return answer

    def end(self) -> None:
        """End it at once: it holds nothing."""
        self._child.kill()
        self._child.wait()
        for stream in (self._given, self._answers):
            # What was not written any more is of no use to anybody.
            with suppress(BrokenPipeError):
                stream.close()


class Workers:
    """Several processes, started one by one as there is work for them. Where none can be, the work is done here."""

    def __init__(self, count: int) -> None:
        """Use up to `count` processes."""
        self._count = count
        self._idle: SimpleQueue[Worker | None] = SimpleQueue()
        self._is_over = False
        for _ in range(count):
            self._idle.put(None)

    def summarised(self, batches: Iterable[Batch[T]]) -> Iterator[Done[T]]:
        """The summaries of each batch, in order; a few batches are looked at ahead."""
        running: deque[tuple[T, Future[list[Packed | None]]]] = deque()
        threads = ThreadPoolExecutor(self._count, "commonhold-index")
        try:
            for label, sources in batches:
                running.append((label, threads.submit(self._run, sources)))
                if len(running) > _AHEAD * self._count:
                    yield _ended(running.popleft())
            yield from map(_ended, running)
        finally:
            self._is_over = True
            threads.shutdown(cancel_futures=True)
            self._end_all()

    def _run(self, sources: Sequence[Source]) -> list[Packed | None]:
        if self._is_over:
            return []
        worker = self._idle.get()
        try:
            worker = worker or Worker()
            return worker.summarise(sources)
        except OSError:
            return summarised(sources)
        except EOFError:
            _end(worker)
            worker = None
        finally:
            self._idle.put(worker)
        return self._one_by_one(sources)

    def _one_by_one(self, sources: Sequence[Source]) -> list[Packed | None]:
        """Find out which of the files it was that a process died of."""
        if len(sources) == 1:
            return [_fatal(*sources[0])]
        return [each for source in sources for each in self._run([source])]

    def _end_all(self) -> None:
        for _ in range(self._count):
            _end(self._idle.get())


def _end(worker: Worker | None) -> None:
    if worker is not None:
        worker.end()


def _ended(running: tuple[T, Future[list[Packed | None]]]) -> Done[T]:
    label, future = running
    return label, future.result()


def _fatal(path: str, content: bytes) -> Packed | None:
    language = language_for(path, content)
    return packed(Summary(language.name, problem=_KILLED)) if language else None
