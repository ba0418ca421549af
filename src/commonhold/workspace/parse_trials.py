"""Trying a parse in a process of its own, which can be ended.

The parser holds the interpreter lock between its steps, and for some broken files its last step takes minutes, and all
memory. Another process finds that out while this one goes on. It takes longer to start than most trials do, so one is
kept.
"""

import atexit
import os
import signal
from typing import Final

from commonhold.code.regions.budget import Reading
from commonhold.code.regions.language import parser_of
from commonhold.code.regions.languages import language_named
from commonhold.machine.worker_process import Ask, WorkerProcess, answer_frames, program_of

# The longest time, by the processor's clock, that others wait. An ordinary step takes a thousandth of it.
_LONGEST_STEP_SECONDS: Final = 0.05
_MOST_TRIES: Final = 2
_QUICK: Final = b"quick"
_OVER_BUDGET: Final = b"over budget"
_PROGRAM: Final = program_of("commonhold.workspace.parse_trials")


class Trials:
    """Processes that try parses: as many as there are threads that ask, of which one is kept."""

    def __init__(self) -> None:
        """Begin with none."""
        self._idle: list[WorkerProcess] = []
        self._process = os.getpid()

    def is_quick(self, source: bytes, language: str) -> bool:
        """Whether a parse is within its budget and has no long step. If no process can be started to try it, it is."""
        for _ in range(_MOST_TRIES):
            try:
                child = self._taken()
            except OSError:
                return True
            try:
                answer = child.ask(language.encode() + b"\0" + source)
            except EOFError:
                child.end()
                if child.has_crashed:
                    break  # else another thread has killed it
                continue
            self._put_back(child)
            return answer == _QUICK
        return False

    def _taken(self) -> WorkerProcess:
        if self._process != os.getpid():  # a forked child: idle processes are its parent's
            self._process, self._idle = os.getpid(), []
        try:
            return self._idle.pop()
        except IndexError:
            return WorkerProcess(_PROGRAM)

    def _put_back(self, child: WorkerProcess) -> None:
        self._idle.append(child)
        while len(self._idle) > 1:
            self._idle.pop().end()

    def close(self) -> None:
        """End those that are idle; idempotent."""
        while self._process == os.getpid() and self._idle:
            self._idle.pop().end()


TRIALS: Final = Trials()
"""Those of this process."""
atexit.register(TRIALS.close)
is_quick: Final = TRIALS.is_quick


def _answer(request: bytes, _ask: Ask) -> bytes:
    """Try a parse. A long step ends this process."""
    language, _, source = request.partition(b"\0")
    parser = parser_of(language_named(language.decode()))
    _watch_step()
    tree = Reading(source, at_step=_watch_step).parse(parser)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return _OVER_BUDGET if tree is None else _QUICK


def _watch_step() -> None:
    signal.setitimer(signal.ITIMER_PROF, _LONGEST_STEP_SECONDS)


def main() -> None:
    """Serve on standard input and output."""
    # Ctrl-C is for the process that asked: when it ends, there is nothing more to read here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    answer_frames(_answer)
