"""Processes that run our programs and start warm: forks of a process that has loaded all of Commonhold.

Python takes half a second of a core to load Commonhold, and the tests start it a thousand times. `Warm` is a
`subprocess.Popen` for commands that begin with this interpreter and name a module or a script. The process is a child
of the test like any other, with streams, a folder, an environment, signals and an exit status of its own. Only its
command line in `/proc` is that of the process from which it was forked.

A test of how a program starts, of an interpreter's options, or of the modules that are loaded needs a plain
`subprocess.Popen`.
"""

import ctypes
import gc
import io
import json
import os
import platform
import random
import resource
import runpy
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, AnyStr, Final

import click

from commonhold.cli.commands import COMMANDS
from commonhold.cli.program import cli
from commonhold.machine.system import process_umask

PROJECT: Final = Path(__file__).parents[1]
LOADED: Final = ("commonhold.bootstrap", "commonhold.server.daemon.lifetime", "commonhold.server.http_runtime")
NOT_LOADED: Final = ("mcp", "serve", "demo")
"""Commands that load much more, and that few tests start."""
MOST_BYTES: Final = 1 << 20
MOST_DESCRIPTORS: Final = 1024
# What the system calls these on Linux on x86-64. The flags make the child one of the caller's parent, who waits for it.
CLONE, CLONE_PARENT, CLONE_CHILD_SETTID, PR_GET_TID_ADDRESS = 56, 0x8000, 0x1000000, 40
IS_KNOWN: Final = (sys.platform, platform.machine()) == ("linux", "x86_64")


class Warm(subprocess.Popen[AnyStr]):
    """A process that starts warm where that makes no difference to it, and like any other elsewhere."""

    def _execute_child(self, args: Any, *others: Any) -> None:
        given = signature(super()._execute_child).bind(args, *others).arguments  # type: ignore[misc]
        if not (IS_KNOWN and _may_be_warm(given)):
            super()._execute_child(args, *others)  # type: ignore[misc]
            return
        ends = [given[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        request = {
            "words": [os.fspath(word) for word in args[1:]],
            "folder": os.path.abspath(given["cwd"] or "."),  # noqa: PTH100 - which may be bytes
            "environment": dict(os.environ if given["env"] is None else given["env"]),
            "umask": process_umask(),
            "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
            "is_apart": given["start_new_session"],
        }
        streams = [number if end == -1 else end for number, end in enumerate(ends)]
        self.pid = _starter().start(json.dumps(request).encode(), streams)
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(given[name] for name in pipes))  # type: ignore[attr-defined]


def run(command: list[str | bytes], *, timeout: float = 60.0, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, as `subprocess.run` does."""
    with Warm[bytes](command, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _may_be_warm(given: dict[str, Any]) -> bool:
    args, environment = given["args"], os.environ if given["env"] is None else given["env"]
    is_text = all(isinstance(word, str | os.PathLike) for word in args)
    is_program = is_text and args[0] == sys.executable and (args[1] == "-m" or str(args[1])[0] != "-")
    is_plain = not any((given["executable"], given["preexec_fn"], given["pass_fds"], os.geteuid() != os.getuid()))
    is_measured = any(name.startswith("COVERAGE_") for name in environment)  # each process writes figures of its own
    is_alike = _read_at_start(environment) == _read_at_start(os.environ)
    return is_program and is_plain and is_alike and not is_measured


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that Python itself reads when it starts."""
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LANG", "LC_"))}


class Starter:
    """The process whose forks are the warm ones."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for each in (self._line, theirs):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
        command = [sys.executable, "-m", "tests.warm", str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, cwd=PROJECT, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        theirs.close()
        self.owner = os.getpid()
        self._turn = threading.Lock()

    def start(self, request: bytes, streams: list[int]) -> int:
        """Have a process started; return its process id."""
        with self._turn:
            socket.send_fds(self._line, [request], streams)
            return int(self._line.recv(64))

    def end(self) -> None:
        """End the process itself."""
        self._line.shutdown(socket.SHUT_RDWR)  # forks of the test have it open, too
        self._line.close()
        self._process.wait()


_started: list[Starter] = []


def _starter() -> Starter:
    if not _started or _started[-1].owner != os.getpid():  # a fork of the test would be no parent of what it starts
        _started.append(Starter())
    return _started[-1]


def end() -> None:
    """End the process whose forks are the warm ones, if there is one."""
    while _started:
        _started.pop().end()


def _serve(line: socket.socket) -> list[str]:
    """Start processes until nobody asks for more; in each of these return its words."""
    library, tid = ctypes.PyDLL(None), ctypes.c_void_p()
    library.prctl(PR_GET_TID_ADDRESS, ctypes.byref(tid))
    flags = CLONE_PARENT | CLONE_CHILD_SETTID | signal.SIGCHLD
    while True:
        request, streams, _, _ = socket.recv_fds(line, MOST_BYTES, 3)
        if not request:
            sys.exit()
        ctypes.pythonapi.PyOS_BeforeFork()
        child = library.syscall(CLONE, flags, None, None, tid, None)
        if child == 0:
            ctypes.pythonapi.PyOS_AfterFork_Child()
            line.close()
            return _become(json.loads(request), streams)
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        for each in streams:
            os.close(each)
        line.send(str(child).encode())


def _become(request: dict[str, Any], streams: list[int]) -> list[str]:
    """Be as a process that was just started."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, MOST_DESCRIPTORS)
    if request["is_apart"]:
        os.setsid()
    os.umask(request["umask"])
    resource.setrlimit(resource.RLIMIT_NOFILE, tuple(request["open_files"]))
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    random.seed()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
    sys.stdout = _writing(1, "strict")
    sys.stderr = _writing(2, "backslashreplace")
    words: list[str] = request["words"]
    return words


def _writing(number: int, errors: str) -> io.TextIOWrapper:
    is_line = number == 2 or os.isatty(number)
    raw = open(number, "wb", closefd=False)  # noqa: SIM115 - it stays open
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=is_line)


def _run(words: list[str]) -> None:
    """Run a module or a script as Python does."""
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = str(Path.cwd())
        warnings.filterwarnings("ignore", "'.*' found in sys.modules", RuntimeWarning)
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = str(Path(words[0]).absolute().parent)
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    for module in LOADED:
        import_module(module)
    for name in COMMANDS.keys() - set(NOT_LOADED):
        cli.get_command(click.Context(cli), name)
    gc.freeze()
    _run(_serve(socket.socket(fileno=int(sys.argv[1]))))
