"""Workers of managed sessions on several machines, each a clone of its own: woken by a real Celery, and killed."""

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
from tests.e2e.cli_driver import Call, git, make_repository, process
from tests.patience import PATIENCE_SECONDS, until
from tests.services.fixtures import NewRedis
from tests.services.postgres_server import Database
from tests.services.redis_server import RedisServer

import commonhold
from commonhold import EndCause, ManagedSessionRecord, SessionAction, SessionState
from commonhold.sessions.wakes import send_wake

pytestmark = pytest.mark.slow
NAMESPACE: Final = "shared"
CLOSED: Final = "redis://127.0.0.1:1/0"


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


@pytest.fixture
def firm(tmp_path: Path, database: Database, new_redis: NewRedis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Firm]:
    broker = new_redis()
    settings = {"STORE": database.socket_url, "NAMESPACE": NAMESPACE, "BROKER": broker.url, "AGENT": "ann"}
    for name, value in {**settings, "WORKSPACES": str(tmp_path / "workspaces"), "LOG": "debug"}.items():
        monkeypatch.setenv(f"COMMONHOLD_{name}", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = ann\n\temail = ann@example.com\n")
    made = Firm(tmp_path, broker)
    yield made
    for view in made.hold.managed_sessions().sessions:
        if view.record.state is not SessionState.AWAITING_REVIEW:
            made.hold.change_managed_session(view.record.id, SessionAction.CANCEL, note="the test is over")
    made.hold.close()


def test_a_session_runs_on_another_machine_and_its_work_comes_back(firm: Firm) -> None:
    with firm.worker("there") as worker:
        worker.until_said("worker of")
        session = firm.start("echo 'x = 1' > b.py; git add b.py; git commit -q -m work")
        record = firm.until(session, SessionState.AWAITING_REVIEW)
        assert record.place.endswith(f":{worker.root}/.git/commonhold")
        found = {each["check"]: each for each in parsed(process("doctor", "--json", cwd=firm.root))["findings"]}
        assert (found["workers"]["level"], found["broker"]["level"]) == ("ok", "ok"), found
    shown = process("session", "show", session, cwd=firm.root).stdout.decode()
    assert "its work travels through the git remote origin" in shown
    logs = process("session", "logs", session, cwd=firm.root)
    assert (logs.returncode, str(worker.root) in logs.stderr.decode()) == (3, True), logs
    approved = process("session", "approve", session, cwd=firm.root)
    assert approved.returncode == 0, approved.stderr
    assert (firm.root / "b.py").read_text() == "x = 1\n"


def test_wakes_that_are_doubled_lost_or_flushed_start_each_session_once(firm: Firm) -> None:
    with firm.worker("there") as worker:
        worker.until_said("worker of")
        wake_until_heard(firm, worker, 1)
        session = firm.start(f"echo begun >> {firm.folder}/begun; {firm.waits}")
        until((firm.folder / "begun").exists, what="the agent begins")
        for _ in range(5):
            send_wake(firm.broker.url, NAMESPACE)
        firm.broker.empty()
        wake_until_heard(firm, worker, worker.said("woken") + 1)
        lost = firm.start("true", COMMONHOLD_BROKER=CLOSED)
        firm.until(lost, SessionState.AWAITING_REVIEW)
        firm.broker.kill()
        firm.go()
        firm.until(session, SessionState.AWAITING_REVIEW)
        firm.broker.start()
        wake_until_heard(firm, worker, worker.said("woken") + 1)
    assert (firm.folder / "begun").read_text() == "begun\n"
    assert [firm.record(each).attempt for each in (session, lost)] == [1, 1]


def test_another_worker_goes_on_when_one_is_killed(firm: Firm) -> None:
    with firm.worker("first") as first:
        session = firm.start(f"echo begun > {firm.folder}/begun; {firm.waits}; echo done > c.py")
        until((firm.folder / "begun").exists, what="the agent begins")
        first.running.kill()
        first.running.wait()
        with firm.worker("second") as second:
            after = firm.start("echo second > d.py")
            assert str(second.root) in firm.until(after, SessionState.AWAITING_REVIEW).place
            firm.go()
            record = firm.until(session, SessionState.AWAITING_REVIEW)
    assert (record.attempt, str(first.root) in record.place) == (1, True)
    assert b"+done" in process("session", "diff", session, cwd=firm.root).stdout


def test_a_session_whose_remote_cannot_be_reached_keeps_its_work_and_says_where(firm: Firm) -> None:
    with firm.worker("there") as worker:
        worker.until_said("worker of")
        git(worker.root, "remote", "set-url", "origin", str(firm.folder / "gone.git"))
        git(firm.root, "commit", "--quiet", "--allow-empty", "--message", "newer than the clone")
        session = firm.start("true")
        record = firm.until(session, SessionState.FAILED)
    assert (record.cause, "cannot be fetched from the git remote origin" in record.note) == (EndCause.NOT_STARTED, True)


@pytest.mark.parametrize(
    ("words", "settings", "why"),
    [
        (("worker",), {"STORE": ""}, "names no PostgreSQL"),
        (("worker", "--store", "redis://x"), {}, "do not get its --store"),
        (("worker",), {"BROKER": "http://x"}, "no URL of Redis or RabbitMQ"),
        (("session", "start", "x", "--with", "a {prompt_file}", "--remote", "nowhere"), {}, "no git remote 'nowhere'"),
        (("session", "start", "x", "--with", "a {prompt_file}", "--remote", "."), {"STORE": ""}, "no git remote '.'"),
    ],
)
def test_commands_say_what_is_missing(
    run: Call, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], settings: dict[str, str], why: str
) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "off")
    for name, value in {"STORE": "postgresql://127.0.0.1:1/x", **settings}.items():
        monkeypatch.setenv(f"COMMONHOLD_{name}", value)
    refused = run(*words)
    assert (refused.status in (2, 3), why in refused.err) == (True, True), refused


def wake_until_heard(firm: Firm, worker: Worker, times: int) -> None:
    """Send wakes until the worker has got as many: a broker that was lost is connected again after some time."""

    def is_heard() -> bool:
        send_wake(firm.broker.url, NAMESPACE)
        return worker.said("woken") >= times

    until(is_heard, what="the worker is woken")


def parsed(done: subprocess.CompletedProcess[bytes]) -> Any:
    assert done.returncode == 0, done
    return json.loads(done.stdout)
