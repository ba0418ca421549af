"""One correlation id leads from a call, command or hook to the decision on it, in the log of a real daemon."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.e2e.cli_driver import make_repository, process
from tests.e2e.daemon_process import Place, Raw, place
from tests.patience import until

import commonhold
from commonhold.api.wire import calls
from commonhold.client import hook_program
from commonhold.client.daemon import start as begin_daemon
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.machine.correlation import correlated
from commonhold.machine.log_output import MOST_BYTES, fields_of, older
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow
SECRET = "s3cr3t"


@dataclass
class Logged(Place):
    """A repository whose daemon was started as a command does it, so that it writes to its log."""

    @property
    def path(self) -> Path:
        """The log."""
        return self.state / "daemon.log"

    def lines(self) -> list[str]:
        """All lines of the log, the older files first."""
        files = [*reversed(older(str(self.path))), str(self.path)]
        return [line for each in files for line in Path(each).read_text(encoding="utf-8").splitlines()]

    def records(self, **wanted: str) -> list[dict[str, str]]:
        """The records with these fields."""
        return [found for found in map(fields_of, self.lines()) if found.items() >= wanted.items()]

    def record(self, **wanted: str) -> dict[str, str]:
        """The only record with these fields."""
        (found,) = self.records(**wanted)
        return found

    def events(self, correlation: str) -> list[str]:
        """The events of one request."""
        return [each["event"] for each in self.records(correlation=correlation)]

    def hook(self, event: str, **more: Any) -> bytes:
        """Run a hook of Claude Code as a process; return its standard output."""
        payload = {"session_id": "s1", "hook_event_name": event, "cwd": str(self.root), **more}
        words = [sys.executable, "-I", "-S", hook_program.__file__, "claude", http_address(str(self.state))]
        done = subprocess.run(words, input=json.dumps(payload).encode(), capture_output=True, timeout=60, check=True)
        return done.stdout


def begin(root: Path) -> Logged:
    begin_daemon(find_repository(str(root)))
    found = Logged(root)
    found.wait_until_served()
    return found


@pytest.fixture
def logged(root: Path, monkeypatch: pytest.MonkeyPatch) -> Logged:
    monkeypatch.setenv("COMMONHOLD_LOG", "debug")
    found = begin(root)
    monkeypatch.delenv("COMMONHOLD_LOG")
    return found


def new_file(path: str, text: str = "x = 1\n") -> Changeset:
    return Changeset((Edit(Op.CREATE_FILE, path, text=text),), f"make {path}")


def test_a_commit_has_the_id_of_its_call(logged: Logged) -> None:
    with logged.session() as hold:
        with correlated("c0ffee"):
            assert hold.commit(new_file("b.py")).outcome == "committed"
        assert hold.commit(new_file("b.py")).outcome == "refused"
    assert logged.events("c0ffee") == ["call begins", "commit committed"]
    refused = logged.record(event="commit refused")
    assert (refused["holder"], refused["keys"], refused["level"]) == ("ann", "b.py", "info")
    assert refused["code"]
    assert logged.events(refused["correlation"]) == ["call begins", "commit refused"]


def test_each_call_of_a_session_has_its_own_id(logged: Logged) -> None:
    with logged.session() as ann, logged.session("bob") as bob:
        lease = ann.acquire("acc:1", task="x").lease
        assert lease is not None
        assert bob.acquire("acc:1", task="y").outcome == "denied"
        ann.release(lease.id)
    granted, denied, released = (logged.record(event=f"lease {word}") for word in ("granted", "denied", "released"))
    assert (granted["lease"], granted["holder"], granted["level"]) == (lease.id, "ann", "debug")
    assert (denied["blockers"], denied["code"], denied["level"]) == ("ann", "LOCK_CONFLICT", "info")
    assert released["lease"] == lease.id
    assert len({each["correlation"] for each in (granted, denied, released)}) == 3


def test_calls_for_asyncio_have_theirs_in_every_thread(logged: Logged) -> None:
    async def acquire(hold: commonhold.AsyncCommonhold, number: int) -> None:
        with correlated(f"task{number}"):
            assert (await hold.acquire(f"acc:{number}")).lease

    async def acquire_all() -> None:
        async with commonhold.open_async(str(logged.root), agent="ann", daemon=True) as hold:
            await asyncio.gather(*(acquire(hold, number) for number in range(5)))

    asyncio.run(acquire_all())
    for number in range(5):
        assert logged.record(event="lease granted", correlation=f"task{number}")["keys"] == f"acc:{number}"


def test_a_command_and_the_daemon_log_the_same_id(logged: Logged) -> None:
    words = ("acquire", "acc:1", "--task", "x", "--verbose")
    done = process(*words, cwd=logged.root, env={**os.environ, "COMMONHOLD_DAEMON": "on"})
    own = [fields_of(line) for line in done.stderr.decode().splitlines()]
    assert [each["event"] for each in own] == ["command begins", "command ends"]
    assert {each["correlation"] for each in own} == {logged.record(event="lease granted")["correlation"]}


def test_a_command_that_only_looks_has_an_id(logged: Logged) -> None:
    done = process("leases", cwd=logged.root, env={**os.environ, "COMMONHOLD_DAEMON": "on"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(logged.record(event="call begins", method="status")["correlation"]) == 12


def test_a_hook_has_one_id_down_to_what_it_leads_to(logged: Logged) -> None:
    logged.hook("SessionStart", source="startup")
    edit = {"tool_name": "Write", "tool_input": {"file_path": str(logged.root / "b.py"), "content": f"# {SECRET}\n"}}
    assert b"deny" not in logged.hook("PreToolUse", tool_use_id="t1", **edit)
    answered = logged.record(event="hook answered", hook="AboutToEdit")
    assert (answered["holder"], answered["stance"]) == ("claude:s1", "pass")
    assert "edit committed" in logged.events(answered["correlation"])
    assert "lease granted" in logged.events(answered["correlation"])
    begun = logged.record(event="hook answered", hook="SessionBegan")
    assert begun["correlation"] != answered["correlation"]
    assert SECRET not in "\n".join(logged.lines())


def test_a_client_without_an_id_works_and_gets_one(logged: Logged) -> None:
    """Clients of an earlier version send three parts, and hooks that an agent posts by itself have no header."""
    with Raw(logged.address) as raw:
        raw.introduce(str(logged.root), "old")
        body = msgspec.msgpack.encode([1, "acquire", {"keys": ["acc:7"]}])
        raw.socket.sendall(calls.LENGTH.pack(len(body)) + body)
        assert raw.hear().kind == "answer"
    assert len(logged.record(event="lease granted", holder="old")["correlation"]) == 12
    payload = json.dumps({"session_id": "s2", "hook_event_name": "SessionStart", "cwd": str(logged.root)}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as posting:
        posting.connect(http_address(str(logged.state)))
        head = f"POST /hooks/claude HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(payload)}\r\n\r\n"
        posting.sendall(head.encode() + payload)
        assert posting.recv(100).startswith(b"HTTP/1.1 200 ")
    assert len(logged.record(event="hook answered", holder="claude:s2")["correlation"]) == 12


def test_an_id_that_would_forge_a_line_is_replaced(logged: Logged) -> None:
    with Raw(logged.address) as raw:
        raw.introduce(str(logged.root), "old")
        forged = "x\ntime=1 level=error event=forged"
        body = msgspec.msgpack.encode([1, "acquire", {"keys": ["acc:7"]}, forged])
        raw.socket.sendall(calls.LENGTH.pack(len(body)) + body)
        assert raw.hear().kind == "answer"
    assert logged.records(event="forged") == []
    assert all(fields_of(line) for line in logged.lines())


def test_a_planner_logs_with_the_id_of_the_commit(logged: Logged) -> None:
    with logged.session() as hold, ThreadPoolExecutor(8) as threads:

        def commit(number: int) -> None:
            with correlated(f"commit{number}"):
                assert hold.commit(new_file(f"f{number}.py", "def one():\n    return 1\n" * 100)).outcome == "committed"

        rounds = count()

        def is_planned_elsewhere() -> bool:
            first = next(rounds) * 8
            assert [*threads.map(commit, range(first, first + 8))] == [None] * 8
            return bool(logged.records(event="commit planned"))

        until(is_planned_elsewhere, what="planners are started once commits come at once")
    planned = logged.records(event="commit planned")
    planners = {each["planner"] for each in logged.records(event="planner started")}
    assert {each["pid"] for each in planned} <= planners
    for each in planned:
        assert logged.record(event="commit committed", correlation=each["correlation"])["pid"] == str(logged.pid)


def test_values_and_texts_are_not_logged(logged: Logged) -> None:
    with logged.session() as hold:
        hold.put("acc:1", SECRET, expected_version=0)
        hold.commit(new_file("b.py", f"KEY = '{SECRET}'\n"))
        hold.read("b.py")
    assert logged.record(event="commit committed")
    assert SECRET not in "\n".join(logged.lines())


def test_by_default_decisions_are_logged_and_usual_calls_are_not(root: Path) -> None:
    found = begin(root)
    with found.session() as hold:
        hold.acquire("acc:1")
        hold.commit(new_file("b.py"))
    os.kill(found.pid, signal.SIGTERM)
    until(lambda: not found.is_served)
    events = [fields_of(line)["event"] for line in found.lines()]
    assert events == ["daemon begins", "commit committed", "daemon ends"]


def test_a_setting_chooses_the_level(root: Path) -> None:
    (root / "commonhold.toml").write_text('log = "warning"\n')
    found = begin(root)
    with found.session() as hold:
        hold.commit(new_file("b.py"))
    assert "commit committed" not in "".join(found.lines())


def test_a_full_log_is_renamed_while_the_daemon_serves(logged: Logged) -> None:
    with logged.session() as hold:
        hold.acquire("acc:1")
        with logged.path.open("ab") as log:
            log.write(b"x" * 99 + b"\n" * MOST_BYTES)
        hold.acquire("acc:2")
    assert older(str(logged.path)) == [f"{logged.path}.1"]
    assert [fields_of(line)["event"] for line in logged.path.read_text().splitlines()] == [
        "call begins",
        "lease granted",
    ]
    os.kill(logged.pid, signal.SIGKILL)
    until(lambda: "daemon was killed" in logged.path.read_text(), what="the supervisor writes to the new file")
    logged.wait_until_served()


def test_doctor_shows_where_the_log_is(logged: Logged) -> None:
    done = process("doctor", "--json", cwd=logged.root)
    (found,) = (each for each in json.loads(done.stdout)["findings"] if each["check"] == "log")
    assert found["level"] == "ok"
    assert found["facts"]["path"] == str(logged.path)
    assert found["facts"]["bytes"] > 100
    assert str(logged.path) in found["found"]


@pytest.mark.parametrize("words", [("leases",), ("exec", "--", "true")])
def test_a_variable_makes_commands_log_to_standard_error(words: tuple[str, ...], root: Path) -> None:
    done = process(*words, cwd=root, env={**os.environ, "COMMONHOLD_LOG": "debug"})
    assert b'event="command begins"' in done.stderr
    plain = process("leases", cwd=root)
    assert plain.stderr == b""


def test_a_level_that_there_is_not_is_an_error_of_the_settings(root: Path) -> None:
    done = process("acquire", "acc:1", cwd=root, env={**os.environ, "COMMONHOLD_LOG": "loud"})
    assert done.returncode != 0
    assert b"log = 'loud'; there are debug, info, warning, error" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    made = make_repository(tmp_path / "elsewhere")
    with place(made):
        yield made


def test_a_daemon_in_the_foreground_logs_to_its_standard_error(elsewhere: Path) -> None:
    command = [sys.executable, "-m", "commonhold.server.daemon", str(elsewhere)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as daemon:
        found = Logged(elsewhere)
        found.wait_until_served()
        daemon.send_signal(signal.SIGTERM)
        _, said = daemon.communicate(timeout=60)
    assert [fields_of(line)["event"] for line in said.splitlines()] == ["daemon begins", "daemon ends"]
    assert not found.path.exists()
