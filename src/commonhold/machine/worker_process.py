"""A child interpreter that answers requests on its standard input and output, one at a time.

It is started afresh and not forked, since this process may have threads; and not by `multiprocessing`, which would run
our program once more in each child, and leaves children behind when their parent is killed. A child of ours reads the
end of its input then, and ends.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import RawIOBase
from typing import BinaryIO, Final, cast

LENGTH_BYTES: Final = 4
# More would not fit into the memory that we allow ourselves beside a daemon.
MOST_PROCESSES: Final = 4
READY: Final = b"ready"
"""The first frame that a child sends."""
ANSWER: Final = b"="
QUESTION: Final = b"?"
"""The first bytes of a child's frame."""
SILENCE_SECONDS: Final = 60.0
"""How long a child may be silent while it works on an answer: then it counts as stuck, for whatever reason."""
MOST_BYTES_AT_ONCE: Final = 1 << 20
CRASHES: Final = frozenset(
    -number
    for number in (
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGPROF,
        signal.SIGSEGV,
        signal.SIGSYS,
        signal.SIGXCPU,
    )
)
"""The exit statuses of a child that its work killed: any other child would die of it, too."""

Ask = Callable[[bytes], bytes]
"""Asks the parent. Raises BrokenPipeError when it is gone."""


def _no_answer(_question: bytes) -> bytes:
    raise EOFError("this child has nothing to ask")


def usable_processors() -> int:
    """Return how many processors this process may use, up to our own limit."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_PROCESSES)


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Write one frame: four bytes of length, big-endian, and the data."""
    stream.write(len(data).to_bytes(LENGTH_BYTES, "big"))
    stream.write(data)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """The data of the next frame; None at the end of the stream, even in the middle of a frame."""
    head = stream.read(LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    data = stream.read(length)
    return data if len(head) == LENGTH_BYTES and len(data) == length else None


def answer_frames(answer: Callable[[bytes, Ask], bytes]) -> None:
    """Be the child: answer each request on standard input, until it ends.

    While it works on an answer the child may ask its parent something in turn.
    """
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # printed text is no answer

    def ask(question: bytes) -> bytes:
        write_frame(answers, QUESTION + question)
        reply = read_frame(given)
        if reply is None:
            raise BrokenPipeError
        return reply

    try:
        write_frame(answers, READY)
        while (data := read_frame(given)) is not None:
            write_frame(answers, ANSWER + answer(data, ask))
    except BrokenPipeError:
        pass  # the caller is gone


def program_of(module: str, *arguments: str) -> str:
    """Return the program that runs `main` of a module with `arguments`; its import path is its last word, as JSON."""
    run = f"main(*{arguments!r})"
    return f"import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from {module} import main; {run}"


class ChildGone(EOFError):  # noqa: N818 - the end of its output, as any other
    """A child that was asked has died, or was ended by us."""


class ChildSilent(ChildGone):
    """A child has said nothing for too long, and was killed."""


class WorkerProcess:
    """One child. Raises OSError if it cannot be started, ChildGone when it is gone."""

    def __init__(self, program: str, *, stderr: int | None = subprocess.DEVNULL) -> None:
        """Start it with a `program_of` a module, and wait until it is ready.

        `stderr` is the descriptor for its error output; None: that of this process.
        """
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-c", program, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
        )
        self._given, self._answers = cast("RawIOBase", self._child.stdin), cast("RawIOBase", self._child.stdout)
        for stream in (self._given, self._answers):
            os.set_blocking(stream.fileno(), False)
        try:
            is_ready = self._heard(time.monotonic() + SILENCE_SECONDS) == READY
        except ChildGone:
            is_ready = False
        if not is_ready:
            self.end()
            raise ChildProcessError("it ended before it was ready")

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def has_crashed(self) -> bool:
        """Whether its own work made it die; a kill from outside does not count."""
        return self._child.returncode in CRASHES

    def ask(
        self, request: bytes, reply: Ask = _no_answer, silence: Callable[[], float] = lambda: SILENCE_SECONDS
    ) -> bytes:
        """Return its answer to one request; threads must take turns.

        Its own requests meanwhile are answered with `reply`. It may be silent for as many seconds as `silence` returns
        each time that a wait for it begins.
        """
        frame = self._frame_after(request, silence())
        while frame[:1] == QUESTION:
            answer = reply(frame[1:])
            frame = self._frame_after(answer, silence())
        return frame[1:]

    def _frame_after(self, data: bytes, seconds: float) -> bytes:
        until = time.monotonic() + seconds
        try:
            unsent = memoryview(len(data).to_bytes(LENGTH_BYTES, "big") + data)
            while unsent:
                written = self._given.write(unsent)
                if written is None:
                    self._wait_for(self._given, select.POLLOUT, until)
                else:
                    unsent = unsent[written:]
            return self._heard(until)
        except (BrokenPipeError, ValueError) as fault:  # ValueError: it was ended meanwhile, and its streams closed
            raise ChildGone from fault

    def _heard(self, until: float) -> bytes:
        """Return the next frame."""
        return self._exactly(int.from_bytes(self._exactly(LENGTH_BYTES, until), "big"), until)

    def _exactly(self, size: int, until: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait_for(self._answers, select.POLLIN, until)
            part = self._answers.read(min(size - len(data), MOST_BYTES_AT_ONCE))
            if part == b"":
                raise ChildGone
            data += part or b""
        return bytes(data)

    def _wait_for(self, stream: RawIOBase, event: int, until: float) -> None:
        poll = select.poll()
        poll.register(stream.fileno(), event)
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            self._child.kill()
            raise ChildSilent

    def end(self) -> None:
        """End it at once: it holds nothing."""
        self._child.kill()
        self._child.wait()
        for stream in (self._given, self._answers):
            stream.close()
