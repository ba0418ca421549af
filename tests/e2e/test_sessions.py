"""Managed sessions with a real daemon, supervisors and git: to their review and merge, and killed at each place."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import git, process
from tests.e2e.daemon_process import Serving, serving
from tests.patience import until

import commonhold
from commonhold import EndCause, ManagedSessionRecord, SessionAction, SessionState
from commonhold.config import Settings
from commonhold.machine.process_tree import with_variable
from commonhold.session_host.session_files import SessionFiles
from commonhold.session_host.turn import LABEL
from commonhold.workspace.repository import find_repository

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc"),
]
COMMONHOLD = f"{sys.executable} -m commonhold"


class Office:
    """A served repository, and a person who starts sessions there."""

    def __init__(self, daemon: Serving, hold: commonhold.Commonhold, folder: Path) -> None:
        self.daemon, self.hold, self.folder, self.root = daemon, hold, folder, daemon.root

    def start(self, line: str, **more: Any) -> str:
        """Start an agent that is a line of shell; `{go}` in it waits for `go`."""
        waits = f"while [ ! -e {self.folder}/go ]; do sleep 0.05; done"
        agent = f"{line.replace('{go}', waits)}; : {{prompt_file}}"
        (view,) = self.hold.start_managed_session("fix it\nplease", agent=agent, **more).sessions
        return view.record.id

    def go(self) -> None:
        (self.folder / "go").touch()

    def record(self, session: str) -> ManagedSessionRecord:
        (view,) = self.hold.managed_sessions(session).sessions
        return view.record

    def until(self, session: str, state: SessionState) -> ManagedSessionRecord:
        until(lambda: self.record(session).state is state, what=f"{session} {state}")
        return self.record(session)

    def log(self, session: str, attempt: int = 1) -> str:
        place = self.daemon.state / "sessions" / session / f"{attempt}.log"
        return place.read_text() if place.exists() else ""

    def until_printed(self, session: str, text: str, attempt: int = 1) -> None:
        try:
            until(lambda: text in self.log(session, attempt), what=f"{session} prints {text}")
        except AssertionError as fault:
            fault.add_note(f"{self.record(session)}\n{self.log(session, attempt)}")
            raise

    def workspaces(self) -> list[Path]:
        return [each for each in self.folder.glob("workspaces/*/*") if each.name != ".trash"]

    def until_clear(self, session: str) -> None:
        """Wait until neither a process nor a workspace of the session is left."""
        until(lambda: not self.processes(session), what="its processes have ended")
        until(lambda: not self.supervisors(session) and not self.workspaces(), what="its workspace is gone")

    def processes(self, session: str, fence: int | str = "") -> tuple[int, ...]:
        settings = Settings(workspaces=str(self.folder / "workspaces"))
        return with_variable(LABEL, SessionFiles.of(find_repository(str(self.root)), settings).label(session, fence))

    def supervisors(self, session: str) -> list[int]:
        words = f"commonhold.session_host\0{self.root}\0{session}\0".encode()
        found = []
        for each in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if each.read_bytes().endswith(words):
                    found.append(int(each.parent.name))
            except OSError:
                continue
        return found


@pytest.fixture
def office(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    monkeypatch.setenv("COMMONHOLD_WORKSPACES", str(tmp_path / "workspaces"))
    git(root, "config", "user.name", "ann")
    git(root, "config", "user.email", "ann@example.com")
    with serving(root) as daemon, daemon.session() as hold:
        made = Office(daemon, hold, tmp_path)
        yield made
        for view in hold.managed_sessions().sessions:
            if view.record.state is SessionState.RUNNING:
                hold.change_managed_session(view.record.id, SessionAction.CANCEL, note="the test is over")
        until(lambda: not any(made.supervisors(f"s{number}") for number in range(1, 40)), what="supervisors end")


def test_the_work_of_a_session_is_reviewed_and_merged(office: Office) -> None:
    line = "echo 'x = 1' > b.py; git add b.py; git commit -q -m work; echo 'y = 2' > c.py; cat a.py > /dev/null"
    session = office.start(line, setup="echo ready", checks=("test -f b.py && test -f c.py",))
    record = office.until(session, SessionState.AWAITING_REVIEW)
    assert record.result is not None
    assert record.result.has_uncommitted
    office.until_clear(session)
    assert not (office.root / "b.py").exists()
    logged = process("session", "logs", "-f", session, cwd=office.root)
    assert logged.stdout.decode().startswith("ready\n")
    rest = json.loads(process("session", "logs", session, "--from", "1:2", "--json", cwd=office.root).stdout)
    assert rest["text"].startswith("ady\n")
    assert (rest["cursor"], rest["next"]) == ("1:2", f"1:{len(logged.stdout)}")

    reviewed = process("session", "review", session, cwd=office.root).stdout.decode()
    assert "b.py" in reviewed
    assert "+y = 2" in process("session", "diff", session, cwd=office.root).stdout.decode()
    refused = process("session", "approve", session, cwd=office.root)
    assert refused.returncode == 2
    assert f"commonhold session approve {session} --commit MESSAGE" in refused.stderr.decode()
    approved = process("session", "approve", session, "--commit", "Add b and c", cwd=office.root)
    assert approved.returncode == 0, approved.stderr
    assert (office.root / "c.py").read_text() == "y = 2\n"
    done = office.record(session)
    assert (done.state, len(done.commit)) == (SessionState.COMPLETED, 40)
    assert process("session", "approve", session, cwd=office.root).returncode == 1


def test_a_set_up_that_fails_stops_the_start_and_is_torn_down(office: Office) -> None:
    torn = office.folder / "torn"
    session = office.start("echo never", setup="echo preparing; exit 7", teardown=f"touch {torn}")
    record = office.until(session, SessionState.FAILED)
    assert (record.cause, record.status, office.log(session)) == (EndCause.SETUP_FAILED, 7, "preparing\n")
    office.until_clear(session)
    assert torn.exists()


def test_two_sessions_see_each_others_leases(office: Office) -> None:
    holds = office.start(f"{COMMONHOLD} acquire a.py#one --ttl 600; echo held; {{go}}")
    office.until_printed(holds, "held")
    asks = office.start(f"{COMMONHOLD} acquire a.py#one; echo status $?")
    office.until_printed(asks, "status 1")
    assert f"agent:{holds}" in office.log(asks)
    office.go()
    office.until(holds, SessionState.AWAITING_REVIEW)


def test_a_cancelled_session_ends_with_all_that_it_has_started(office: Office) -> None:
    session = office.start("echo 'x = 1' > b.py; (setsid sh -c 'trap \"\" TERM; sleep 600' &); echo begun; {go}")
    office.until_printed(session, "begun")
    office.hold.change_managed_session(session, SessionAction.CANCEL, note="wrong task")
    record = office.until(session, SessionState.CANCELLED)
    assert (record.note, record.cause) == ("wrong task", EndCause.ASKED)
    office.until_clear(session)
    assert record.result is not None
    git(office.root, "cat-file", "-e", f"{record.result.snapshot}:b.py")


def test_a_paused_session_goes_on_in_its_workspace(office: Office) -> None:
    session = office.start("echo turn >> turns.txt; cat turns.txt; {go}")
    office.until_printed(session, "turn")
    office.hold.change_managed_session(session, SessionAction.PAUSE)
    office.until(session, SessionState.PAUSED)
    assert len(office.workspaces()) == 1
    office.hold.change_managed_session(session, SessionAction.RESUME)
    office.until_printed(session, "turn\nturn\nturn")
    office.go()
    record = office.until(session, SessionState.AWAITING_REVIEW)
    assert (record.attempt, record.attempts[-1].turns) == (1, 2)


def test_a_session_outlives_its_daemon(office: Office, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = office.start("echo begun; {go}; echo 'x = 1' > b.py")
    office.until_printed(session, "begun")
    office.daemon.process.kill()
    office.daemon.process.wait()
    office.go()
    with serving(root) as daemon, daemon.session() as hold:
        monkeypatch.setattr(office, "hold", hold)
        record = office.until(session, SessionState.AWAITING_REVIEW)
    assert (record.attempt, record.tries) == (1, 1)


@pytest.mark.parametrize("dies", ["during the agent", "during the set-up"])
def test_a_killed_supervisor_costs_an_attempt_and_no_work(office: Office, dies: str) -> None:
    line = "echo $COMMONHOLD_SESSION > b.py; (setsid sleep 600 &); echo begun; {go}"
    is_agent = dies == "during the agent"
    session = office.start(
        "true" if not is_agent else line, setup="" if is_agent else line.replace("{go}", "sleep 600")
    )
    office.until_printed(session, "begun")
    first = office.record(session)
    (supervisor,) = office.supervisors(session)
    os.kill(supervisor, signal.SIGKILL)
    office.hold.break_lease(first.lease_id, reason="its supervisor is dead")
    office.until_printed(session, "begun", attempt=2)
    second = office.record(session)
    assert (second.attempt, second.attempts[0].cause) == (2, EndCause.LOST)
    kept = process("-C", str(office.root), "session", "show", session, cwd=office.root).stdout.decode()
    assert "lost its supervisor" in kept
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:b.py")
    assert office.processes(session, first.fence) == (), "the agent of the lost supervisor still runs"
    office.hold.change_managed_session(session, SessionAction.CANCEL, note="seen")
    office.until(session, SessionState.CANCELLED)
    office.until_clear(session)


def test_the_workspace_of_a_session_that_ended_otherwise_is_swept(office: Office) -> None:
    session = office.start("echo 'x = 1' > b.py; echo begun; {go}", most_attempts=1)
    office.until_printed(session, "begun")
    (supervisor,) = office.supervisors(session)
    os.kill(supervisor, signal.SIGKILL)
    office.hold.break_lease(office.record(session).lease_id, reason="its supervisor is dead")
    record = office.until(session, SessionState.FAILED)
    assert (record.cause, record.tries) == (EndCause.LOST, 1)
    office.until_clear(session)
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:b.py")


def test_commands_say_what_is_wrong(office: Office) -> None:
    def told(*words: str) -> tuple[int, str]:
        done = process("session", *words, cwd=office.root)
        return done.returncode, done.stderr.decode()

    calls: dict[tuple[str, ...], tuple[int, str]] = {
        ("start", "x", "--with", "nobody"): (2, "is no known agent"),
        ("start", " ", "--with", "a {prompt_file}"): (3, "its task is empty"),
        ("start", "x", "--with", "a {prompt_file}", "--timeout", "soon"): (2, "write a duration"),
        ("start", "x", "--with", "a {prompt_file}", "--base", "nowhere"): (3, "git knows no commit"),
        ("show", "s999"): (3, "there is no session"),
        ("cancel", "s999"): (2, "--note"),
    }
    found = {words: told(*words) for words in calls}
    for words, (status, text) in calls.items():
        assert found[words][0] == status, found[words]
        assert text in found[words][1]
    listed = json.loads(process("session", "list", "--all", "--json", cwd=office.root).stdout)
    assert listed == {"outcome": "listed", "sessions": []}
