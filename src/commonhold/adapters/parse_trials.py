"""Trying a parse in a process of its own, which can be ended.

The parser holds the interpreter lock between its steps, and for some broken files its last step takes minutes, and all
memory. Another process finds that out without keeping anybody waiting.
"""

import json
import signal
import subprocess
import sys
from typing import Final

from commonhold.regions.budget import Reading
from commonhold.regions.language import parser_of
from commonhold.regions.languages import language_named

# Others wait for as long as this at most, by the time of the processor. An ordinary step takes a thousandth of it.
_LONGEST_STEP_SECONDS: Final = 0.1
_QUICK: Final = 0
_OVER_BUDGET: Final = 1
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop());"
    " from commonhold.adapters.parse_trials import main; sys.exit(main(sys.argv.pop()))"
)


def is_quick(source: bytes, language: str) -> bool:
    """Whether a parse is within its budget and takes no long step. If no process can be started to try it, it is."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _PROGRAM, language, json.dumps(sys.path)],
            input=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return True
    return done.returncode == _QUICK


def main(language: str) -> int:
    """Parse what comes on standard input, and give the exit status. A long step ends the process."""
    parser = parser_of(language_named(language))
    source = sys.stdin.buffer.read()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _watch_step()
    tree = Reading(source, at_step=_watch_step).parse(parser)
    return _OVER_BUDGET if tree is None else _QUICK


def _watch_step() -> None:
    signal.setitimer(signal.ITIMER_PROF, _LONGEST_STEP_SECONDS)
