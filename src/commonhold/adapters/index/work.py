"""What a process does that summarises for another: bytes in, packed summaries out, until nothing comes any more.

On both pipes stand frames: four bytes of length, and MessagePack.
"""

import gc
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

import msgspec

from commonhold.adapters.index.packing import Packed, packed
from commonhold.linking.summarise import summarise

LENGTH_BYTES: Final = 4
READY: Final = b"ready"

Source = tuple[str, bytes]
"""A path, and what is there."""


def summarised(sources: Sequence[Source]) -> list[Packed | None]:
    """The summary of each, ready to be kept; None where there is none."""
    return [None if summary is None else packed(summary) for summary in (summarise(*source) for source in sources)]


def write_frame(stream: BinaryIO, value: object) -> None:
    """Put a value on a pipe."""
    data = msgspec.msgpack.encode(value)
    stream.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next value of a pipe, encoded; None at its end, even if that is in the middle."""
    head = stream.read(LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    data = stream.read(length)
    return data if len(head) == LENGTH_BYTES and len(data) == length else None


def _asked(stream: BinaryIO) -> Iterator[list[Source]]:
    decoder = msgspec.msgpack.Decoder(list[Source])
    while (data := read_frame(stream)) is not None:
        yield decoder.decode(data)


def main() -> None:
    """Serve on standard input and output."""
    # Ctrl-C is for the process that asked: when it ends, there is nothing more to read here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    # Syntax trees are large and go by themselves; looking through them for circles takes a fifth of the time.
    gc.freeze()
    gc.disable()
    try:
        write_frame(answers, READY)
        for sources in _asked(given):
            write_frame(answers, summarised(sources))
            gc.collect()
    except BrokenPipeError:
        # Whoever asked is gone; nothing is left to be flushed to him.
        sys.stdout = None


if __name__ == "__main__":
    main()
