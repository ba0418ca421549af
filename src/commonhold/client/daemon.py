"""The daemon of a repository: find it, start it, stop it."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from commonhold.machine.process_groups import SESSION_LABEL
from commonhold.workspace import daemon_files
from commonhold.workspace.repository import Repository

PATIENCE_SECONDS: Final = 15.0
BEGINNING_SECONDS: Final = 60.0
"""How long a daemon may take to begin while its process lives: its first start writes to the disk several times."""
PAUSE_SECONDS: Final = 0.02
_LOG_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


def pid_of(repository: Repository) -> int | None:
    """Return the id of the process that serves the repository; None if there is none."""
    folder = repository.state_folder
    return daemon_files.pid(folder) if daemon_files.is_running(folder) else None


class Begun:
    """A daemon that this process started."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, told_before: int) -> None:
        """Watch `process`; its output in `log` begins after the `told_before` bytes that were there already."""
        self._process = process
        self._log = log
        self._told_before = told_before

    @property
    def trouble(self) -> str:
        """Return why it ended without serving; empty if it still runs, has served, or left that to another daemon."""
        status = self._process.poll() or 0
        if status <= 0:
            return ""
        return f"its daemon ends as it begins: {self._reason() or self._why_silent(status)}"

    def _reason(self) -> str:
        """Return the reason that its log gives, else the exception that ended it, else the last line there."""
        # Loaded here: a daemon seldom fails.
        from commonhold.machine.log_output import fields_of  # noqa: PLC0415

        with self._log.open("rb") as log:
            is_renamed = os.fstat(log.fileno()).st_size < self._told_before  # it was full: this is the next one
            log.seek(0 if is_renamed else self._told_before)
            lines = log.read().decode(errors="replace").strip().splitlines()
        for record in map(fields_of, reversed(lines)):
            if record.get("event") == daemon_files.DOES_NOT_SERVE:
                return f"{record['message']}; next: {record['hint']}"
            if "traceback" in record:
                return record["traceback"].strip().rpartition("\n")[2]
        return lines[-1] if lines else ""

    def _why_silent(self, status: int) -> str:
        if shutil.disk_usage(self._log.parent).free:
            return f"it says nothing, with exit status {status}"
        return f"the disk that {self._log.parent} is on is full"


def start(repository: Repository) -> Begun:
    """Start a daemon that outlives this process, without waiting for it. It ends by itself if one is running already.

    Raises StoreError `STORE_UNSAFE` if the state folder that this session used is gone, `STORE_READ_ONLY` if it cannot
    be seen any more, and OSError.
    """
    repository.state.make()
    path = daemon_files.log_path(repository.state_folder)
    log = os.open(path, _LOG_FLAGS, 0o600)
    told_before = os.fstat(log).st_size
    command = [sys.executable, "-I", "-m", "commonhold.server.daemon.supervisor", repository.root]
    try:
        daemon = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env={name: value for name, value in os.environ.items() if name != SESSION_LABEL},
        )
    finally:
        os.close(log)
    # If it ends before this process does, no zombie is left.
    threading.Thread(target=daemon.wait, name="commonhold-daemon", daemon=True).start()
    return Begun(daemon, Path(path), told_before)


def trouble_of(begun: Begun, repository: Repository) -> str:
    """Wait until a daemon serves; return why none does, or an empty text."""
    until = time.monotonic() + BEGINNING_SECONDS
    while pid_of(repository) is None:
        if (why := begun.trouble) or time.monotonic() > until:
            return why or f"its daemon did not start within {BEGINNING_SECONDS:g} seconds"
        time.sleep(PAUSE_SECONDS)
    return ""


def wait_until_gone(repository: Repository, pid: int) -> bool:
    """Wait until this daemon is gone, even if another was started meanwhile; return whether it is."""
    until = time.monotonic() + PATIENCE_SECONDS
    while pid_of(repository) == pid:
        if time.monotonic() > until:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


def stop(repository: Repository) -> int | None:
    """Ask the daemon to finish its work and end; return the id of its process, None if there is none."""
    pid = pid_of(repository)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return pid
