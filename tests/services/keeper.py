"""Keeps one server: `python keeper.py ORDER` starts it and ends it when any of the processes it is kept for ends.

A test run may be killed at any moment; its servers must not outlive it. So each server is the child of a keeper, and
the keeper watches the run. Should the keeper itself be killed, the kernel sends the server the signal that ends it.
The order is JSON (see `Order`); the keeper says the server's pid on standard output. Standard library only.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypedDict

SET_PARENT_DEATH_SIGNAL = 1
ENDING_TAKES_AT_MOST_SECONDS = 60
LOOK_AGAIN_AFTER_SECONDS = 0.1


class Order(TypedDict):
    """What to keep, as whom and where, and whose end ends it (by this signal, quickly) and removes its folder.

    What `is_nobodys_child` may live longer than the process that asked for it, which would be complained of otherwise.
    """

    command: list[str]
    user: str | None
    group: int | None
    folder: str
    end_signal: int
    kept_for: list[int]
    is_nobodys_child: bool


def start(order: Order) -> subprocess.Popen[bytes]:
    """Start the server with its output in a log in its folder."""
    with open(f"{order['folder']}/log", "ab") as log:  # noqa: PTH123  # pathlib would double the time to start
        return subprocess.Popen(
            order["command"],
            cwd=order["folder"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            user=order["user"],
            group=order["group"],
            extra_groups=[] if order["user"] else None,
            preexec_fn=_die_with_parent(order["end_signal"]),  # noqa: PLW1509  # no threads here
        )


def _die_with_parent(end_signal: int) -> Callable[[], object] | None:
    """Make what lets the kernel stop the server when its keeper is killed; it must run after the change of user."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(SET_PARENT_DEATH_SIGNAL, end_signal)


def wait_for_any_end(server: subprocess.Popen[bytes], pids: list[int]) -> None:
    """Return when the server or any of the processes has ended."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(ProcessLookupError):  # one has ended before we looked
            select.select([os.pidfd_open(pid) for pid in (server.pid, *pids)], [], [])
    else:
        while server.poll() is None and all(map(is_running, pids)):
            time.sleep(LOOK_AGAIN_AFTER_SECONDS)


def is_running(pid: int) -> bool:
    """Whether there is such a process: for systems that cannot wait for one that is no child."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def end(server: subprocess.Popen[bytes], end_signal: int) -> None:
    """End the server, by force if it takes too long: nobody needs its data any more."""
    server.send_signal(end_signal)
    try:
        server.wait(ENDING_TAKES_AT_MOST_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def main() -> None:
    """Keep the server that the order names."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    order: Order = json.loads(sys.argv[1])
    if order["is_nobodys_child"] and os.fork():
        return
    server = start(order)
    sys.stdout.write(f"{server.pid}\n")
    sys.stdout.flush()
    wait_for_any_end(server, order["kept_for"])
    if server.poll() is None:
        end(server, order["end_signal"])
        shutil.rmtree(order["folder"], ignore_errors=True)


if __name__ == "__main__":
    main()
