"""A repository for a bench, with a daemon that serves it, and the end of both."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from commonhold.client import daemon as service
from commonhold.workspace.repository import find_repository


@contextmanager
def repository(lay_out: Callable[[Path], None]) -> Iterator[Path]:
    """A repository that `lay_out` writes into, served by a daemon; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="commonhold-bench-"))
    root = folder / "repository"
    root.mkdir()
    try:
        lay_out(root)
        found = find_repository(str(root))
        trouble = service.trouble_of(service.start(found), found)
        assert not trouble, trouble
        yield root
    finally:
        end(root)
        _delete(folder)


def _delete(folder: Path) -> None:
    """Delete a folder, in which a process may be writing that has not noticed yet that it is to end."""
    until = time.monotonic() + service.PATIENCE_SECONDS
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=time.monotonic() < until)


def daemon(root: Path) -> int:
    """The process that serves `root`. Raises LookupError where there is none."""
    pid = service.pid_of(find_repository(str(root)))
    if pid is None:
        raise LookupError(f"no daemon serves {root}")
    return pid


def end(root: Path) -> None:
    """End the daemon of `root`: politely, and by force if it does not go."""
    found = find_repository(str(root))
    pid = service.stop(found)
    if pid is not None and not service.wait_until_gone(found, pid):
        print(f"  the daemon {pid} ignored SIGTERM for {service.PATIENCE_SECONDS:g} s and was killed")
        os.kill(pid, signal.SIGKILL)
        service.wait_until_gone(found, pid)
