"""`python -m commonhold.server.daemon.supervisor ROOT`: a repository's daemon, restarted when it is killed.

The daemon is a fork of this process, which only waits for its end: this process loads the modules that the daemon
needs, so that the next daemon is there as soon as the kernel has copied a page table. When a daemon ends by itself,
this process ends, too. A user who kills both has ended the daemon, and the next hook starts a new one.

If the program was upgraded meanwhile, this process restarts as the new version, too: a daemon with modules of both
versions would be neither.
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

from commonhold.client.hook_client import BEGIN_LOCK
from commonhold.machine import file_stamps
from commonhold.machine.logs import Log
from commonhold.server.daemon.lifetime import Times, begin_logging, serve

MOST_DEATHS: Final = 10
"""A daemon may be killed this often within `DEATHS_SECONDS`; one that dies faster dies of its own work."""
DEATHS_SECONDS: Final = 60.0
REST_SECONDS: Final = 1.0
"""The delay from the first hook until this process loads the modules for hooks: the daemon is answering that hook."""
BEHIND_HOOKS: Final = "commonhold.server.http_runtime"
"""The module that a daemon loads at its first hook, and that loads the rest."""

_ASKED_TO_END: Final = frozenset({-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
"""Exit statuses of a daemon that received a signal to end before it could handle it."""
_TO_END: Final = frozenset({signal.SIGTERM})
MOST_DESCRIPTORS: Final = 1024
_OF_SESSION: Final = ("COMMONHOLD_SOCKET", "COMMONHOLD_AGENT", "COMMONHOLD_HOLDER", "GIT_INDEX_FILE")
_PROGRAMS: Final = ("/.git/commonhold/", "/.commonhold/")
"""The folders of the programs that come first in the PATH of an agent's shell."""
_MODULE: Final = "commonhold.server.daemon.supervisor"
_PACKAGE: Final = "commonhold"

Program = dict[str, tuple[int, ...] | None]
"""The files that our modules were loaded from, each with a stamp that shows whether it was replaced."""
_KNOCKED: Final = b"k"
_log: Final = Log(__name__)


def supervise(root: str, times: Times) -> int:
    """Keep a daemon running until one ends by itself; return the exit status of that one, or of the last."""
    deaths: list[float] = []
    has_served_hooks = False
    program: Program = {}
    while True:
        program = _program() | program
        # A request to end that comes meanwhile waits until it can be passed on: else it would end this process alone.
        signal.pthread_sigmask(signal.SIG_BLOCK, _TO_END)
        child, line = _begin(root, times)
        signal.signal(signal.SIGTERM, lambda *_, child=child: os.kill(child, signal.SIGTERM))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _TO_END)
        has_served_hooks = _attend(line, is_loaded=has_served_hooks) or has_served_hooks
        os.close(line)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        now = time.monotonic()
        deaths = [at for at in deaths if now - at < DEATHS_SECONDS] + [now]
        if status >= 0 or status in _ASKED_TO_END:
            return abs(status)
        if len(deaths) > MOST_DEATHS:
            _log.error("daemon was killed too often, and is not started again", daemon=child, signal=-status)
            return abs(status)
        _log.warning("daemon was killed, and is started again", daemon=child, signal=-status)
        if any(_seen(file) != stamp for file, stamp in program.items()):
            _begin_anew(root, times)


def _program() -> Program:
    files = [module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == _PACKAGE]
    return {file: _seen(file) for file in files if file}


def _seen(file: str) -> tuple[int, ...] | None:
    """Return a file's time of writing, size and inode. Not its link count: installers share files by hard links."""
    stamp = file_stamps.at(file)
    return stamp and (stamp[0], *stamp[2:])


def _begin_anew(root: str, times: Times) -> NoReturn:
    """Become the program that is installed now, and keep the lock of the process that started this one."""
    with suppress(OSError):
        os.set_inheritable(BEGIN_LOCK, True)  # noqa: FBT003 - positional only
    os.execv(sys.executable, [sys.executable, "-I", "-m", _MODULE, root, *map(str, astuple(times))])  # noqa: S606


def _begin(root: str, times: Times) -> tuple[int, int]:
    """Fork a daemon; return its process id and a pipe that becomes readable at its first hook, or at its end."""
    reading, writing = os.pipe()
    gc.freeze()  # the collector writes to the objects that it scans, and written pages are copied
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_daemon(root, times, lambda: os.write(writing, _KNOCKED))
    os.close(writing)
    return child, reading


def _be_daemon(root: str, times: Times, knocked: Callable[[], object]) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _TO_END)
    sys.exit(serve(root, times, knocked))


def _attend(line: int, *, is_loaded: bool) -> bool:
    """Wait for the daemon's end; return whether hooks called it.

    If so, load the modules that the next daemon needs for hooks.
    """
    has_asked = False
    while os.read(line, 1) == _KNOCKED:
        has_asked = True
        is_gone, _, _ = select.select([line], [], [], REST_SECONDS)
        if not (is_gone or is_loaded):
            import_module(BEHIND_HOOKS).load_the_rest()
    return has_asked


def _leave_the_beginner() -> None:
    """Close all files of the hook that started this process except its lock, which no other process may inherit."""
    os.chdir("/")
    with suppress(OSError):
        os.set_inheritable(BEGIN_LOCK, False)  # noqa: FBT003 - positional only
    os.closerange(BEGIN_LOCK + 1, MOST_DESCRIPTORS)


def _leave_the_shell() -> None:
    """Drop the variables of an agent's shell that may have started this: the daemon belongs to no session."""
    for name in _OF_SESSION:
        os.environ.pop(name, None)
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(each for each in places if not any(part in each for part in _PROGRAMS))


if __name__ == "__main__":
    _leave_the_beginner()
    _leave_the_shell()
    root, *seconds = sys.argv[1:]
    begin_logging(root)
    sys.exit(supervise(root, Times(*map(float, seconds))))
