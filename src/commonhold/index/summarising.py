"""The work of a process that summarises for another: bytes in, packed summaries out, both in MessagePack."""

import gc
import signal
from collections.abc import Sequence
from typing import Final

import msgspec

from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.regions.budget import TRIALS
from commonhold.index.packed_summaries import Packed, packed
from commonhold.machine.decoding import from_msgpack
from commonhold.machine.worker_process import Ask, answer_frames
from commonhold.workspace.parse_trials import is_quick

# A request that takes longer ends this process; the caller finds out which of the files it was.
_LIMIT_SECONDS: Final = 2.0
_LIMIT_SECONDS_A_BYTE: Final = 20e-6

Source = tuple[str, bytes]
"""A path and the bytes there."""


def summarised(sources: Sequence[Source]) -> list[Packed | None]:
    """Return the summary of each, packed for storage; None if there is none."""
    return [None if summary is None else packed(summary) for summary in (summarise(*source) for source in sources)]


def _answer(request: bytes, _ask: Ask) -> bytes:
    signal.setitimer(signal.ITIMER_PROF, _LIMIT_SECONDS + len(request) * _LIMIT_SECONDS_A_BYTE)
    answer = msgspec.msgpack.encode(summarised(from_msgpack(request, list[Source])))
    gc.collect()
    signal.setitimer(signal.ITIMER_PROF, 0)
    return answer


def main() -> None:
    """Serve on standard input and output."""
    # Ctrl-C is for the process that asked: when it ends, there is nothing more to read here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    TRIALS.is_quick = is_quick
    # Syntax trees are large and freed by reference counts; searching them for cycles takes a fifth of the time.
    gc.freeze()
    gc.disable()
    answer_frames(_answer)


if __name__ == "__main__":
    main()
