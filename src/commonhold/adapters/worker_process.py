"""A child interpreter that answers requests on its standard input and output, one at a time.

It is started afresh and not forked, since this process may have threads; and not by `multiprocessing`, which would run
the program that we are part of once more in each child, and leaves children behind when their parent is killed. A
child of ours reads the end of its input then, and ends.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final, cast

LENGTH_BYTES: Final = 4
# More would not fit beside a daemon into the memory that we allow ourselves.
MOST_PROCESSES: Final = 4
READY: Final = b"ready"
"""The first frame that a child sends."""
ANSWER: Final = b"="
QUESTION: Final = b"?"
"""What a frame of a child begins with."""

Ask = Callable[[bytes], bytes]
"""Asks the parent. Raises BrokenPipeError when it is gone."""


def _no_answer(_question: bytes) -> bytes:
    raise EOFError("this child has nothing to ask")


def usable_processors() -> int:
    """How many processors this process may use, or as many of them as we take."""
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
    sys.stdout = sys.stderr  # what anybody prints is no answer

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
        pass  # whoever asked is gone


def program_of(module: str) -> str:
    """The program that runs `main` of a module, with the import path that its last argument gives as JSON."""
    return f"import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from {module} import main; main()"


class WorkerProcess:
    """One child. Raises OSError where it cannot be started, EOFError when it is gone."""

    def __init__(self, program: str, *, stderr: int | None = subprocess.DEVNULL) -> None:
        """Start it with a `program_of` a module, and wait until it is ready.

        `stderr` is where it may complain; None: where this process does.
        """
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-c", program, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        self._given, self._answers = cast("BinaryIO", self._child.stdin), cast("BinaryIO", self._child.stdout)
        if read_frame(self._answers) != READY:
            self.end()
            raise ChildProcessError("it ended before it was ready")

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    def ask(self, request: bytes, reply: Ask = _no_answer) -> bytes:
        """Its answer to one request; threads must take turns. What it asks meanwhile is answered with `reply`."""
        frame = self._frame_after(request)
        while frame[:1] == QUESTION:
            frame = self._frame_after(reply(frame[1:]))
        return frame[1:]

    def _frame_after(self, data: bytes) -> bytes:
        try:
            write_frame(self._given, data)
            frame = read_frame(self._answers)
        except (BrokenPipeError, ValueError) as fault:  # ValueError: it was ended meanwhile, and its streams closed
            raise EOFError from fault
        if frame is None:
            raise EOFError
        return frame

    def end(self) -> None:
        """End it at once: it holds nothing."""
        self._child.kill()
        self._child.wait()
        for stream in (self._given, self._answers):
            with suppress(BrokenPipeError):  # what was not written any more is of no use to anybody
                stream.close()
