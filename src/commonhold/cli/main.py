"""The entry point of the `commonhold` command. It loads nothing by itself, so Ctrl-C is answered from the start."""

import sys
from collections.abc import Sequence
from typing import NoReturn

_INTERRUPTED = 130


def run() -> NoReturn:
    """Run as a program; `program` maps errors to the exit status."""
    try:
        status = _started(sys.argv[1:])
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("interrupted: nothing was begun\n")
        status = _INTERRUPTED
    sys.exit(status)


def _started(arguments: Sequence[str]) -> int:
    """Return the exit status. The daemon answers commands that only read, and `exec`; only others load the program.

    Loading it takes long.
    """
    if arguments[:1] == ["exec"]:
        from commonhold.cli.quick_exec import executed  # noqa: PLC0415 - inside the guard, as below

        status = executed(arguments)
        if status is not None:
            return status
    from commonhold.cli.quick import printing  # noqa: PLC0415 - inside the guard: loading takes the longest

    printed = printing(arguments)
    if printed is None:
        from commonhold.cli.program import start  # noqa: PLC0415

        return start(arguments)
    try:
        printed()
        sys.stdout.flush()
    except Exception as fault:  # noqa: BLE001 - whatever it is, the program knows how to tell it
        from commonhold.cli.program import end  # noqa: PLC0415

        return end(fault)
    return 0
