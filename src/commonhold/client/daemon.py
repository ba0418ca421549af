"""Looking after the daemon of a repository: whether it lives, starting it, stopping it."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Final

from commonhold.adapters import daemon_place
from commonhold.adapters.repository import Repository

PATIENCE_SECONDS: Final = 15.0
PAUSE_SECONDS: Final = 0.02
_LOG_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


def pid_of(repository: Repository) -> int | None:
    """The process that serves the repository; None where there is none."""
    folder = repository.state_folder
    return daemon_place.pid(folder) if daemon_place.is_running(folder) else None


def start(repository: Repository) -> None:
    """Begin a daemon that outlives this process, without waiting for it. It ends by itself where one lives already."""
    os.makedirs(repository.state_folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - Path.mkdir takes no mode for all
    log = os.open(daemon_place.log_path(repository.state_folder), _LOG_FLAGS, 0o600)
    command = [sys.executable, "-I", "-m", "commonhold.server.daemon", repository.root]
    try:
        daemon = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/"
        )
    finally:
        os.close(log)
    # Where it ends before this process does, no zombie is left.
    threading.Thread(target=daemon.wait, name=waiting_name(repository.root), daemon=True).start()


def waiting_name(root: str) -> str:
    """The name of the thread that waits for the end of a daemon that this process has begun for `root`."""
    return f"commonhold-daemon {root}"


def wait_until(repository: Repository, *, is_there: bool) -> bool:
    """Wait until the daemon is there, or gone; whether it came to that."""
    until = time.monotonic() + PATIENCE_SECONDS
    while (pid_of(repository) is not None) is not is_there:
        if time.monotonic() > until:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


def stop(repository: Repository) -> int | None:
    """Ask the daemon to finish what it does and end; the process that was asked, None where there is none."""
    pid = pid_of(repository)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return pid
