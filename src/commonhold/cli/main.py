"""Where the `commonhold` command begins. It loads nothing by itself, so that Ctrl-C is answered from the start."""

import sys
from typing import NoReturn

_INTERRUPTED = 130


def run() -> NoReturn:
    """Run as a program; `program` maps what happens to the exit status."""
    try:
        from commonhold.cli.program import start  # noqa: PLC0415 - inside the guard: loading takes the longest

        status = start(sys.argv[1:])
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("interrupted: nothing was begun\n")
        status = _INTERRUPTED
    sys.exit(status)
