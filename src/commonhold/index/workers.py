"""Summarising in several processes at once, when there is enough to do."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Final, TypeVar

import msgspec

from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.regions.languages import language_for
from commonhold.index.packed_summaries import Packed, packed
from commonhold.index.summarising import Source, summarised
from commonhold.machine.decoding import from_msgpack
from commonhold.machine.worker_process import WorkerProcess, program_of

T = TypeVar("T")

Batch = tuple[T, Sequence[Source]]
Done = tuple[T, list[Packed | None]]

_PROGRAM: Final = program_of("commonhold.index.summarising")
# The number of batches that wait for each process, so that none waits for us.
_AHEAD: Final = 2
MOST_TRIES: Final = 3
"""After this many kills over one file, that file is to blame: the system kills a process that needs all memory."""
_KILLED: Final = "it could not be summarised: the process that tried died"


class Worker(WorkerProcess):
    """A process that summarises."""

    def __init__(self) -> None:
        """Start it."""
        super().__init__(_PROGRAM)

    def summarise(self, sources: Sequence[Source]) -> list[Packed | None]:
        """The summaries of some files."""
        return from_msgpack(self.ask(msgspec.msgpack.encode(sources)), list[Packed | None])


class Workers:
    """Several processes, started one by one as there is work for them. If none can start, the work is done here."""

    def __init__(self, count: int) -> None:
        """Use up to `count` processes."""
        self._count = count
        self._idle: SimpleQueue[Worker | None] = SimpleQueue()
        self._is_over = False
        for _ in range(count):
            self._idle.put(None)

    def summarised(self, batches: Iterable[Batch[T]]) -> Iterator[Done[T]]:
        """Yield the summaries of each batch, in order; a few batches are read ahead."""
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
            for _ in range(self._count):
                _end(self._idle.get())

    def _run(self, sources: Sequence[Source], tries: int = MOST_TRIES) -> list[Packed | None]:
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
            tries, worker = 1 if worker and worker.has_crashed else tries, None
        finally:
            self._idle.put(worker)
        return self._one_by_one(sources, tries)

    def _one_by_one(self, sources: Sequence[Source], tries: int) -> list[Packed | None]:
        """Find the file that a process died of, by trying them one by one. None if it was just killed."""
        if len(sources) > 1:
            return [each for source in sources for each in self._run([source])]
        if tries > 1:
            return self._run(sources, tries - 1)
        language = language_for(*sources[0])
        return [packed(Summary(language.name, problem=_KILLED)) if language else None]


def _end(worker: Worker | None) -> None:
    if worker is not None:
        worker.end()


def _ended(running: tuple[T, Future[list[Packed | None]]]) -> Done[T]:
    label, future = running
    return label, future.result()
