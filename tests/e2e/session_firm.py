"""A repository on several machines, as clones of one remote, with a store, a broker, and workers as processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from tests import warm
from tests.e2e.cli_driver import git, make_repository, process
from tests.patience import PATIENCE_SECONDS, until
from tests.services.postgres_server import Database
from tests.services.redis_server import RedisServer

import commonhold
from commonhold import ManagedSessionRecord, SessionAction, SessionState

NAMESPACE: Final = "shared"


@dataclass
class Worker:
    """A worker process in its clone, and the file that it logs to."""

    root: Path
    running: subprocess.Popen[Any]
    log: Path

    def said(self, text: str) -> int:
        return self.log.read_text().count(text)

    def until_said(self, text: str) -> None:
        try:
            until(lambda: self.said(text), what=f"the worker says {text}")
        except AssertionError as fault:
            fault.add_note(self.log.read_text())
            raise


class Firm:
    """A repository with a bare remote, clones of it as other machines would have, and their store and broker."""

    def __init__(self, folder: Path, broker: RedisServer) -> None:
        self.folder, self.broker = folder, broker
        self.root = make_repository(folder / "here")
        git(folder, "init", "--quiet", "--bare", "remote.git")
        git(self.root, "remote", "add", "origin", str(folder / "remote.git"))
        git(self.root, "push", "--quiet", "origin", "HEAD")
        self.hold = commonhold.open(str(self.root), agent="ann")

    @contextmanager
    def worker(self, name: str) -> Iterator[Worker]:
        root, log = self.folder / name, self.folder / f"{name}.log"
        if not root.exists():
            git(self.folder, "clone", "--quiet", "remote.git", name)
        with log.open("ab") as file:
            running = warm.Warm([sys.executable, "-m", "commonhold", "worker"], cwd=root, stdout=file, stderr=file)
        try:
            yield Worker(root, running, log)
        finally:
            if running.poll() is None:
                running.send_signal(signal.SIGTERM)
                assert running.wait(PATIENCE_SECONDS) == 0, log.read_text()

    def start(self, line: str, **environment: str) -> str:
        words = ("session", "start", "fix it", "--remote", "origin", "--with", f"{line}; : {{prompt_file}}", "--json")
        done = process(*words, cwd=self.root, env={**os.environ, **environment})
        return str(parsed(done)["sessions"][0]["id"])

    @property
    def waits(self) -> str:
        """Shell that waits for `go`."""
        return f"while [ ! -e {self.folder}/go ]; do sleep 0.05; done"

    def go(self) -> None:
        (self.folder / "go").touch()

    def record(self, session: str) -> ManagedSessionRecord:
        (view,) = self.hold.managed_sessions(session).sessions
        return view.record

    def until(self, session: str, state: SessionState) -> ManagedSessionRecord:
        until(lambda: self.record(session).state is state, what=f"{session} {state}")
        return self.record(session)


@contextmanager
def opened(folder: Path, store: Database, broker: RedisServer) -> Iterator[Firm]:
    """A firm in a folder of its own; its sessions are cancelled at the end."""
    settings = {"STORE": store.socket_url, "NAMESPACE": NAMESPACE, "BROKER": broker.url, "AGENT": "ann"}
    (folder / ".gitconfig").write_text("[user]\n\tname = ann\n\temail = ann@example.com\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        for name, value in {**settings, "WORKSPACES": str(folder / "workspaces"), "LOG": "debug"}.items():
            patch.setenv(f"COMMONHOLD_{name}", value)
        made = Firm(folder, broker)
        yield made
        for view in made.hold.managed_sessions().sessions:
            if view.record.state is not SessionState.AWAITING_REVIEW:
                made.hold.change_managed_session(view.record.id, SessionAction.CANCEL, note="the test is over")
        made.hold.close()


def parsed(done: subprocess.CompletedProcess[bytes]) -> Any:
    assert done.returncode == 0, done
    return json.loads(done.stdout)
