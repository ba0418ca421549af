"""The program that an agent runs as its hook, with the payload as its standard input.

It is called as `python -I -S hook_program.py AGENT SOCKET [block|allow] [SECONDS]`. A script is compiled at every
start and a module is not, so this is short; the work is done in `hook_client.py`.
"""

import posix
import sys

BLOCKED = 2

if __name__ == "__main__":
    try:
        sys.path.append(__file__.rpartition("/")[0])  # after the standard library, so that it hides nothing of it
        from hook_client import main  # type: ignore[import-not-found]  # by its short name

        status = main(*sys.argv[1:])
    except BaseException as fault:  # noqa: BLE001 - whatever it is, the agent must not take it for consent
        posix.write(2, f"Commonhold's hook failed, so nothing is let through: {fault!r}".encode())
        status = BLOCKED
    posix._exit(status)  # noqa: SLF001 - nothing is left to be flushed, and the interpreter's own end takes time
