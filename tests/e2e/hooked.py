"""A repository served by a daemon with the agent `probe`, and hooks of it as processes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests import warm
from tests.e2e.daemon_process import Serving
from tests.patience import until

from commonhold.client import hook_program
from commonhold.workspace.daemon_files import http_address

DAEMON: Final = Path(__file__).with_name("hooked_daemon.py")
KNOCK: Final = hook_program.__file__


@dataclass
class Hooked(Serving):
    """A repository whose daemon answers hooks."""

    @property
    def http(self) -> str:
        """Where it listens for hooks."""
        return http_address(str(self.state))

    def start(self, *times: float) -> None:
        """Start it in the foreground; of `times` it takes that which it is idle."""
        command = [sys.executable, str(DAEMON), str(self.root), str(times[0])]
        self.process = warm.Warm(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def begin(self, payload: bytes, *more: str, agent: str = "probe") -> "subprocess.Popen[bytes]":
        """A hook as an agent starts it."""
        command = [sys.executable, "-I", "-S", KNOCK, agent, self.http, *more]
        hook = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert hook.stdin is not None
        hook.stdin.write(payload)
        hook.stdin.close()
        hook.stdin = None
        return hook

    def hook(self, payload: bytes | dict[str, Any], *more: str, agent: str = "probe") -> "Said":
        """What a hook says."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return said(self.begin(raw, *more, agent=agent))


@dataclass(frozen=True)
class Said:
    """What a hook gave back."""

    status: int
    output: bytes
    complaint: str

    @property
    def shape(self) -> Any:
        """Its output, read."""
        return json.loads(self.output)


def said(hook: "subprocess.Popen[bytes]") -> Said:
    """What a hook says, once it has ended."""
    output, complaint = hook.communicate(timeout=60)
    assert b"Traceback" not in complaint
    return Said(hook.returncode, output, complaint.decode())


@contextmanager
def hooked(root: Path, *, idle_seconds: float = 600.0) -> Iterator[Hooked]:
    """A daemon for `root`, which is ended with the test."""
    daemon = Hooked(root)
    daemon.start(idle_seconds)
    try:
        until(lambda: os.path.lexists(daemon.http))
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.process.kill()
        daemon.process.communicate()
        daemon.end()
