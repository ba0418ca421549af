"""Private servers as processes: each in a folder and on a port of its own, kept by a keeper, never run as root."""

import fcntl
import functools
import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.services.keeper import Order, is_running

LOOPBACK: Final = "127.0.0.1"
KEEPER: Final = Path(__file__).with_name("keeper.py")
STARTING_TAKES_AT_MOST_SECONDS: Final = 100
LOOK_AGAIN_AFTER_SECONDS: Final = 0.02
# Below the range from which the kernel takes ports for outgoing connections: a server that restarts finds its own free.
PORTS: Final = range(20_000, 32_000)


class ServerFailedError(Exception):
    """A server did not start, or did not stop."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who a server runs as."""

    name: str
    uid: int
    gid: int


@functools.cache
def account() -> Account | None:
    """Who to be instead of root, as which PostgreSQL and PgBouncer refuse to run; None stays who we are."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def as_account() -> dict[str, Any]:
    """The arguments that make `subprocess.run` run as `account()`."""
    who = account()
    return {"user": who.uid, "group": who.gid, "extra_groups": []} if who else {}


def make_folder(purpose: str) -> Path:
    """Make a folder that belongs to `account()`: near the root, for the path of a Unix socket has to be short.

    Programs that it is for may be called as it is, and containerd takes no name that ends with `_`.
    """
    folder = Path(tempfile.gettempdir(), f"commonhold-tests-{purpose}-{secrets.token_hex(4)}")
    folder.mkdir(mode=0o700)
    give(folder)
    return folder


def give(path: Path) -> None:
    """Let `account()` own a file or folder that we made."""
    if who := account():
        os.chown(path, who.uid, who.gid)


_taken: Final[set[int]] = set()
"""The ports that this process has taken."""


def free_port() -> int:
    """Find a port that nobody listens on, and that no other server of tests has, in this run or one beside it."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if _take(port) and probe.connect_ex((LOOPBACK, port)) != 0 and _can_bind(probe, port):
                return port


def _take(port: int) -> bool:
    """Whether nobody had taken the port; it is that of this process then, until the process ends.

    It is taken long before a server listens on it, and nobody listens on it while that is restarted.
    """
    if port in _taken:
        return False
    try:
        fcntl.lockf(_port_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except (BlockingIOError, PermissionError):  # as the system has it
        return False
    _taken.add(port)
    return True


@functools.cache
def _port_locks() -> int:
    """The file whose bytes stand for ports; whoever has locked one has taken that port."""
    path = Path(tempfile.gettempdir(), f"commonhold-tests-ports-{os.geteuid()}.lock")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _can_bind(probe: socket.socket, port: int) -> bool:
    try:
        probe.bind((LOOPBACK, port))
    except OSError:
        return False
    return True


@dataclass(slots=True)
class Process:
    """A server's process, and the keeper that ends it when any of those it is kept for ends.

    One that `is_shared` with other processes is ended by nobody else, since it may have to live longer than this one.
    One that `has_our_rights` runs as this user, even if that is root.
    """

    folder: Path
    end_signal: int
    kept_for: tuple[int, ...]
    is_shared: bool = False
    has_our_rights: bool = False
    pid: int = 0
    _keeper: subprocess.Popen[str] | None = None

    def start(self, command: list[str], is_ready: Callable[[], bool]) -> None:
        """Start the server and wait until it is ready."""
        who = None if self.has_our_rights else account()
        order = Order(
            command=command,
            user=who.name if who else None,
            group=who.gid if who else None,
            folder=str(self.folder),
            end_signal=self.end_signal,
            kept_for=list(self.kept_for),
            is_nobodys_child=self.is_shared,
        )
        self._keeper = _start_keeper(order)
        self.pid = _first_line(self._keeper)
        if self.is_shared:
            self._keeper.wait()
            self._keeper = None
        self._wait_until(is_ready)

    def is_running(self) -> bool:
        """Whether the server runs."""
        if self.is_shared:
            return is_running(self.pid)
        return self._keeper is not None and self._keeper.poll() is None

    def end(self, by_signal: int) -> None:
        """End the server and wait until it is gone."""
        if self._keeper is None:
            return
        if self.is_running():
            os.kill(self.pid, by_signal)
        self._keeper.wait(STARTING_TAKES_AT_MOST_SECONDS)
        self._keeper = None

    def discard(self) -> None:
        """End the server as quickly as it can be, and remove its folder."""
        self.end(self.end_signal)
        shutil.rmtree(self.folder)

    def _wait_until(self, is_ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + STARTING_TAKES_AT_MOST_SECONDS
        while not is_ready():
            if not self.is_running() or time.monotonic() > deadline:
                raise ServerFailedError(f"The server in {self.folder} did not start. {self.log()[-2000:]}")
            time.sleep(LOOK_AGAIN_AFTER_SECONDS)

    def log(self) -> str:
        """What the server said."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")


def _start_keeper(order: Order) -> subprocess.Popen[str]:
    """Start a keeper outside of our session: keys pressed at the terminal are meant for the tests."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(KEEPER), json.dumps(order)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _first_line(keeper: subprocess.Popen[str]) -> int:
    """Read the server's pid. What the keeper complains of is on our standard error."""
    if keeper.stdout is None:
        raise ServerFailedError("The keeper was started without a pipe")
    with keeper.stdout as stream:
        line = stream.readline()
    if not line:
        raise ServerFailedError(f"The keeper ended with {keeper.wait()} before the server started")
    return int(line)
