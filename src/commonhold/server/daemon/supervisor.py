"""`python -m commonhold.server.daemon.supervisor ROOT`: a repository's daemon, begun again when it is killed.

The daemon is a fork of this process, which does nothing but wait for its end: what the daemon has to load is loaded
here, so that the next one is there as soon as the kernel has copied a table of pages. A daemon that ends by itself is
done; so is this process then. Whoever kills both has ended the daemon, and the next hook begins one anew.

Where the program was upgraded meanwhile this process begins anew as well, as the new one: a daemon that has half of its
modules from each would be neither.
"""

import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from importlib import import_module
from typing import Final, NoReturn

from commonhold.adapters import stamps
from commonhold.client.hook_client import BEGIN_LOCK
from commonhold.server.daemon.lifetime import Times, serve

MOST_DEATHS: Final = 10
"""So often a daemon may be killed within `DEATHS_SECONDS`; one that dies faster dies of what it does."""
DEATHS_SECONDS: Final = 60.0
REST_SECONDS: Final = 1.0
"""So long after the first hook this process begins to load what hooks need: the daemon is answering that hook."""
BEHIND_HOOKS: Final = "commonhold.server.behind"
"""What a daemon loads once it is asked by hooks, and what loads the rest."""

_ASKED_TO_END: Final = frozenset({-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
"""Exit statuses of a daemon that was told to go before it could hear of that."""
MOST_DESCRIPTORS: Final = 1024
_OF_SESSION: Final = ("COMMONHOLD_SOCKET", "COMMONHOLD_AGENT", "COMMONHOLD_HOLDER", "GIT_INDEX_FILE")
_PROGRAMS: Final = ("/.git/commonhold/", "/.commonhold/")
"""Where the programs are that come first in the PATH of an agent's shell."""
_MODULE: Final = "commonhold.server.daemon.supervisor"
_PACKAGE: Final = "commonhold"

Program = dict[str, tuple[int, ...] | None]
"""The files that our modules were loaded from, with what shows that another was put in the place of one."""
_KNOCKED: Final = b"k"


def supervise(root: str, times: Times) -> int:
    """Let there be a daemon until one ends by itself; the exit status of that one, or of the last."""
    deaths: list[float] = []
    has_served_hooks = False
    program: Program = {}
    while True:
        program = _program() | program
        child, line = _begin(root, times)
        signal.signal(signal.SIGTERM, lambda *_, child=child: os.kill(child, signal.SIGTERM))
        has_served_hooks = _attend(line, is_loaded=has_served_hooks) or has_served_hooks
        os.close(line)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        now = time.monotonic()
        deaths = [at for at in deaths if now - at < DEATHS_SECONDS] + [now]
        if status >= 0 or status in _ASKED_TO_END or len(deaths) > MOST_DEATHS:
            return abs(status)
        if any(_seen(file) != stamp for file, stamp in program.items()):
            _begin_anew(root, times)


def _program() -> Program:
    files = [module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == _PACKAGE]
    return {file: _seen(file) for file in files if file}


def _seen(file: str) -> tuple[int, ...] | None:
    """When a file was written, its size and its number. Not how many links it has: installers share files by these."""
    stamp = stamps.at(file)
    return stamp and (stamp[0], *stamp[2:])


def _begin_anew(root: str, times: Times) -> NoReturn:
    """Become what is installed by now, with the lock of who has begun this process."""
    with suppress(OSError):
        os.set_inheritable(BEGIN_LOCK, True)  # noqa: FBT003 - positional only
    os.execv(sys.executable, [sys.executable, "-I", "-m", _MODULE, root, *map(str, astuple(times))])  # noqa: S606


def _begin(root: str, times: Times) -> tuple[int, int]:
    """Fork a daemon; its process, and what can be read from once it has been asked by a hook, or is gone."""
    reading, writing = os.pipe()
    gc.freeze()  # what the daemon looks through for garbage it writes to, and pages that are written to are copied
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_daemon(root, times, lambda: os.write(writing, _KNOCKED))
    os.close(writing)
    return child, reading


def _be_daemon(root: str, times: Times, knocked: Callable[[], object]) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(serve(root, times, knocked))


def _attend(line: int, *, is_loaded: bool) -> bool:
    """Wait until the daemon is gone; whether hooks have asked it. What the next one needs for them is loaded then."""
    has_asked = False
    while os.read(line, 1) == _KNOCKED:
        has_asked = True
        is_gone, _, _ = select.select([line], [], [], REST_SECONDS)
        if not (is_gone or is_loaded):
            import_module(BEHIND_HOOKS).load_the_rest()
    return has_asked


def _leave_the_beginner() -> None:
    """Keep nothing of the hook that has begun this process but its lock, which no other process is to inherit."""
    os.chdir("/")
    with suppress(OSError):
        os.set_inheritable(BEGIN_LOCK, False)  # noqa: FBT003 - positional only
    os.closerange(BEGIN_LOCK + 1, MOST_DESCRIPTORS)


def _leave_the_shell() -> None:
    """Drop the variables of an agent's shell, where this may have been started: the daemon is no session's."""
    for name in _OF_SESSION:
        os.environ.pop(name, None)
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(each for each in places if not any(part in each for part in _PROGRAMS))


if __name__ == "__main__":
    _leave_the_beginner()
    _leave_the_shell()
    root, *seconds = sys.argv[1:]
    sys.exit(supervise(root, Times(*map(float, seconds))))
