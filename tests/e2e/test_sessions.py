"""Managed sessions with a real daemon, supervisors and git: to their review and merge, and killed at each place."""

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import Call, call, git, make_repository, process
from tests.e2e.daemon_process import Serving, place, serving
from tests.patience import until
from tests.unit.session_host.repository import mounted_below

import commonhold
from commonhold import EndCause, ManagedSessionRecord, Sandbox, SessionAction, SessionState, Task
from commonhold.config import Settings
from commonhold.machine.process_groups import SESSION_LABEL
from commonhold.machine.process_tree import parent_of, with_variable
from commonhold.session_host.overlays import Overlays
from commonhold.session_host.session_files import SessionFiles
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc"),
]
_numbers = count(1)
COMMONHOLD = f"{sys.executable} -m commonhold"


class Office:
    """A served repository, and a person who starts sessions there."""

    def __init__(self, daemon: Serving, hold: commonhold.Commonhold, folder: Path) -> None:
        self.daemon, self.hold, self.folder, self.root = daemon, hold, folder, daemon.root
        self.gate = folder / "go"

    def start(self, line: str, **more: Any) -> str:
        """Start an agent that is a line of shell; `{go}` in it waits for `go`, unless another was started since."""
        self.gate = self.folder / f"go-{next(_numbers)}"
        waits = f"while [ ! -e {self.gate} ]; do sleep 0.05; done"
        agent = f"{line.replace('{go}', waits)}; : {{prompt_file}}"
        (view,) = self.hold.start_managed_session("fix it\nplease", agent=agent, **more).sessions
        return view.record.id

    def go(self) -> None:
        self.gate.touch()

    def record(self, session: str) -> ManagedSessionRecord:
        (view,) = self.hold.managed_sessions(session).sessions
        return view.record

    def started_by(self, holder: str) -> list[ManagedSessionRecord]:
        views = self.hold.managed_sessions().sessions
        return [each.record for each in views if each.record.started_by == holder]

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

    def workspaces(self, session: str) -> list[Path]:
        return [*self.folder.glob(f"workspaces/*/{session}.*")]

    def kill_supervisor(self, session: str) -> ManagedSessionRecord:
        """Kill it and not the process that guards it, which must end the agent."""
        record = self.record(session)
        (supervisor,) = (each for each in self.supervisors(session) if parent_of(each) == self.daemon.process.pid)
        os.kill(supervisor, signal.SIGKILL)
        until(lambda: not self.processes(session, record.fence), what="the agent of a killed supervisor ends")
        self.hold.break_lease(record.lease_id, reason="its supervisor is dead")
        return record

    def until_clear(self, session: str) -> None:
        """Wait until neither a process nor a workspace of the session is left."""
        until(lambda: not self.processes(session), what="its processes have ended")
        until(lambda: not self.supervisors(session) and not self.workspaces(session), what="its workspace is gone")

    def cancel_all(self) -> None:
        """End what runs and waits; sessions in review stay."""
        for view in self.hold.managed_sessions().sessions:
            if view.record.state is not SessionState.AWAITING_REVIEW:
                self.hold.change_managed_session(view.record.id, SessionAction.CANCEL, note="the test is over")
        until(lambda: not self.supervisors(), what="supervisors end")

    def processes(self, session: str = "", fence: int | str = "") -> tuple[int, ...]:
        """The processes of a session, or of all."""
        files = SessionFiles.of(find_repository(str(self.root)), Settings(workspaces=str(self.folder / "workspaces")))
        return with_variable(SESSION_LABEL, files.label(session, fence) if session else files.mark)

    def supervisors(self, session: str = "") -> list[int]:
        words = f"commonhold.session_host\0{self.root}\0{session}".encode()
        found = []
        for each in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if words in each.read_bytes():
                    found.append(int(each.parent.name))
            except OSError:
                continue
        return found


@contextmanager
def opened(folder: Path) -> Iterator[Office]:
    """Serve a repository in a folder of its own."""
    root = make_repository(folder / "work")
    git(root, "config", "user.name", "ann")
    git(root, "config", "user.email", "ann@example.com")
    with pytest.MonkeyPatch.context() as patch, place(root):
        patch.setenv("COMMONHOLD_DAEMON", "on")
        patch.setenv("COMMONHOLD_AGENT", "ann")
        patch.setenv("HOME", str(folder))
        patch.setenv("COMMONHOLD_WORKSPACES", str(folder / "workspaces"))
        with serving(root) as daemon, daemon.session() as hold:
            yield Office(daemon, hold, folder)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with opened(tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest.fixture
def office(shared: Office) -> Iterator[Office]:
    yield shared
    shared.cancel_all()
    assert shared.processes() == (), "processes of sessions are left"


@pytest.fixture
def call_here(office: Office, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(office.root)
    return lambda *words: call(capsysbinary, monkeypatch, *words)


def test_the_work_of_a_session_is_reviewed_and_merged(office: Office, call_here: Call) -> None:
    line = "echo 'x = 1' > b.py; git add b.py; git commit -q -m work; echo 'y = 2' > c.py; cat a.py > /dev/null"
    session = office.start(line, setup="echo ready", checks=("test -f b.py && test -f c.py",))
    record = office.until(session, SessionState.AWAITING_REVIEW)
    assert record.result is not None
    assert record.result.has_uncommitted
    office.until_clear(session)
    assert not (office.root / "b.py").exists()
    logged = call_here("session", "logs", "-f", session)
    assert logged.text.startswith("ready\n")
    rest = call_here("session", "logs", session, "--from", "1:2", "--json").json
    assert rest["text"].startswith("ady\n")
    assert (rest["cursor"], rest["next"]) == ("1:2", f"1:{len(logged.out)}")
    end = rest["next"]
    assert call_here("session", "logs", session, "--from", end).out == b""
    for cursor, code in ((f"{end}0", "CURSOR_UNKNOWN"), ("2:0", "CURSOR_UNKNOWN"), (f"1:{'9' * 5_000}", "USAGE")):
        unknown = call_here("session", "logs", session, "--from", cursor, "--json")
        assert unknown.json["code"] == code

    reviewed = call_here("session", "review", session).text
    assert "b.py" in reviewed
    assert f"next: commonhold session approve {session} --commit " in reviewed
    assert "+y = 2" in call_here("session", "diff", session).text
    refused = call_here("session", "approve", session)
    assert refused.status == 2
    assert f"commonhold session approve {session} --commit MESSAGE" in refused.err
    approved = process("session", "approve", session, "--commit", "Add b and c", cwd=office.root)
    assert approved.returncode == 0, approved.stderr
    assert (office.root / "c.py").read_text() == "y = 2\n"
    done = office.record(session)
    assert (done.state, len(done.commit)) == (SessionState.COMPLETED, 40)
    assert call_here("session", "approve", session).status == 1


def test_sessions_of_a_whole_plan_start_with_the_work_that_their_tasks_need(office: Office, call_here: Call) -> None:
    office.hold.add_tasks(
        Task("floor", "lay the floor", target="main"), Task("wall", "build the wall", needs=("floor",), target="main")
    )
    agent = (
        "[ $(cat floor* | wc -l) = 1 ] && touch wall; echo > floor; git add -A; git commit -qm work; : {prompt_file}"
    )
    begun = call_here("session", "start", "--each-task", "--with", agent)
    assert begun.status == 0, begun
    (floor, wall) = re.findall(r"^queued: (s\d+)  ", begun.text, re.MULTILINE)
    assert call_here("session", "start", "--each-task", "--with", agent).text.startswith("no open task")
    office.until(floor, SessionState.AWAITING_REVIEW)
    assert office.record(wall).state is SessionState.QUEUED
    approved = process("session", "approve", floor, cwd=office.root)
    assert approved.returncode == 0, approved.stderr
    record = office.until(wall, SessionState.AWAITING_REVIEW)
    head = Git(str(office.root)).line("rev-parse", "HEAD")
    assert record.session.base == head
    assert "wall" in call_here("session", "review", wall).text
    assert process("session", "approve", wall, cwd=office.root).returncode == 0
    assert (office.root / "wall").exists()


def test_the_work_becomes_a_pull_request_and_is_approved_once_that_is_merged(
    office: Office, call_here: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = tmp_path / "remote.git"
    git(office.root, "init", "-q", "--bare", str(remote))
    git(office.root, "remote", "add", "hub", str(remote))
    git(office.root, "push", "-q", "hub", "main")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/gh"  # it cannot sign in here
    program.write_text("#!/bin/sh\necho https://example.test/pull/7\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    session = office.start("echo 1 > pulled.py; git add pulled.py; git commit -qm work; echo 2 > pulled2.py; {go}")
    early = call_here("session", "pull-request", session, "--remote", "hub")
    assert (early.status, "does not await review: it is" in early.err) == (3, True), early
    office.go()
    office.until(session, SessionState.AWAITING_REVIEW)
    dirty = call_here("session", "pull-request", session, "--remote", "hub")
    assert (dirty.status, f"session pull-request {session} --commit MESSAGE" in dirty.err) == (2, True), dirty
    words = ("session", "pull-request", session, "--remote", "hub", "--commit", "Add both")
    opened = call_here(*words, "--json").json
    assert opened == opened | {
        "branch": f"agent/{session}",
        "onto": "main",
        "pull_request": "https://example.test/pull/7",
    }
    assert f"next: once it is merged: git pull && commonhold session approve {session}" in call_here(*words).text
    assert Git(str(remote)).line("rev-parse", f"agent/{session}") == opened["commit"]
    assert not (office.root / "pulled.py").exists()
    assert office.record(session).state is SessionState.AWAITING_REVIEW

    git(office.root, "fetch", "-q", "hub")
    git(office.root, "merge", "-q", "--no-ff", "--no-edit", f"hub/agent/{session}")
    approved = process("session", "approve", session, "--commit", "Add both", cwd=office.root)
    assert approved.returncode == 0, approved.stderr
    assert office.record(session).state is SessionState.COMPLETED
    git(office.root, "remote", "remove", "hub")


def test_the_work_on_a_task_is_handed_to_the_merge_queue(office: Office, call_here: Call) -> None:
    office.hold.add_tasks(Task("price", "Round prices", intent="to cents", target="main", checks=("test -f d.py",)))
    line = "cat {prompt_file} > d.py; git add d.py; git commit -q -m work; echo more >> d.py"
    (view,) = office.hold.start_managed_session("", agent=line, task_id="price").sessions
    session = view.record.id
    assert view.record.session.task == "Round prices\n\nto cents"
    office.until(session, SessionState.AWAITING_REVIEW)
    approved = call_here("session", "approve", session, "--queue", "--commit", "Round prices", "--check", "true")
    assert approved.status == 0, approved
    (entry,) = [each.record.entry for each in office.hold.entries().entries]
    assert (entry.branch, entry.onto, entry.session, entry.task) == (
        f"agent/{session}",
        "refs/heads/main",
        session,
        "price",
    )
    assert set(entry.checks) == {"test -f d.py", "true"}
    (task,) = office.hold.tasks("price").tasks
    assert (task.record.holder, task.record.result and task.record.result.commit) == (f"agent:{session}", entry.commit)
    git(office.root, "merge-base", "--is-ancestor", entry.commit, f"agent/{session}")
    assert call_here("session", "approve", session, "--queue").status == 0
    assert [each.record.entry.commit for each in office.hold.entries().entries] == [entry.commit]
    assert office.record(session).state is SessionState.COMPLETED
    shown = call_here("session", "show", session).text
    assert f"it waits in the merge queue as {entry.id}\n" in shown
    assert shown.endswith("next: commonhold queue list\n")
    assert call_here("session", "show", session, "--json").json["sessions"][0]["entry"] == entry.id


def test_a_set_up_that_fails_stops_the_start_and_is_torn_down(office: Office) -> None:
    torn = office.folder / "torn"
    session = office.start("echo never", setup="echo preparing; exit 7", teardown=f"touch {torn}")
    record = office.until(session, SessionState.FAILED)
    assert (record.cause, record.status, office.log(session)) == (EndCause.SETUP_FAILED, 7, "preparing\n")
    office.until_clear(session)
    assert torn.exists()


def test_a_session_that_an_agent_starts_begins_at_its_last_commit(office: Office) -> None:
    starts = f"{COMMONHOLD} session start more --with 'true {{prompt'_file}}"  # the quotes hide it from the parent
    commits = "echo $COMMONHOLD_AGENT > started.txt; git add started.txt; git commit -qm start"
    parent = office.start(f"{commits}; {starts}; {{go}}")
    until(lambda: len(office.started_by(f"agent:{parent}")) == 1, what="the agent starts a session")
    (child,) = office.started_by(f"agent:{parent}")
    office.go()
    result = office.until(parent, SessionState.AWAITING_REVIEW).result
    assert result is not None
    assert (child.session.base, child.session.branch) == (result.tip, f"agent/{parent}")
    assert result.tip != office.record(parent).session.base


def test_two_sessions_see_each_others_leases(office: Office) -> None:
    holds = office.start(f"{COMMONHOLD} acquire a.py#one --ttl 600; echo held; {{go}}")
    office.until_printed(holds, "held")
    gate = office.gate
    asks = office.start(f"{COMMONHOLD} acquire a.py#one; echo status $?")
    office.until_printed(asks, "status 1")
    assert f"agent:{holds}" in office.log(asks)
    gate.touch()
    office.until(holds, SessionState.AWAITING_REVIEW)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_session_in_a_sandbox_sees_leases_and_its_work_comes_out(office: Office) -> None:
    lease = office.hold.acquire("a.py#two").lease
    assert lease is not None
    line = f"{COMMONHOLD} acquire a.py#two; echo status $?; cat {{prompt_file}} > e.py; git add e.py; git commit -qm e"
    expose = (str(Path(commonhold.__file__).parents[2]),)
    session = office.start(f"{line}; touch /etc/sandboxed; ls -A ~", sandbox=Sandbox.BUBBLEWRAP, exposed=expose)
    record = office.until(session, SessionState.AWAITING_REVIEW)
    office.hold.release(lease.id)
    assert "status 1" in office.log(session), office.log(session)
    assert "Read-only file system" in office.log(session)
    assert record.result is not None
    assert record.result.tip != record.session.base
    git(office.root, "cat-file", "-e", f"agent/{session}:e.py")
    office.until_clear(session)


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
    assert len(office.workspaces(session)) == 1
    office.hold.change_managed_session(session, SessionAction.RESUME)
    office.until_printed(session, "turn\nturn\nturn")
    office.go()
    record = office.until(session, SessionState.AWAITING_REVIEW)
    assert (record.attempt, record.attempts[-1].turns) == (1, 2)


def test_a_session_outlives_its_daemon(tmp_path: Path) -> None:
    with opened(tmp_path) as office:
        session = office.start("echo begun; {go}; echo 'x = 1' > b.py")
        office.until_printed(session, "begun")
        office.daemon.process.kill()
        office.daemon.process.wait()
        office.go()
        with serving(office.root) as daemon, daemon.session() as hold:
            office.hold = hold
            record = office.until(session, SessionState.AWAITING_REVIEW)
            office.until_clear(session)
    assert (record.attempt, record.tries) == (1, 1)


@pytest.mark.parametrize("dies", ["during the agent", "during the set-up"])
def test_a_killed_supervisor_costs_an_attempt_and_no_work(office: Office, call_here: Call, dies: str) -> None:
    line = "echo $COMMONHOLD_SESSION > b.py; (setsid sleep 600 &); echo begun; {go}"
    is_agent = dies == "during the agent"
    session = office.start(
        "true" if not is_agent else line, setup="" if is_agent else line.replace("{go}", "sleep 600")
    )
    office.until_printed(session, "begun")
    office.kill_supervisor(session)
    office.until_printed(session, "begun", attempt=2)
    second = office.record(session)
    assert (second.attempt, second.attempts[0].cause) == (2, EndCause.LOST)
    assert "lost its supervisor" in call_here("session", "show", session).text
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:b.py")
    office.hold.change_managed_session(session, SessionAction.CANCEL, note="seen")
    office.until(session, SessionState.CANCELLED)
    office.until_clear(session)


def test_the_workspace_of_a_session_that_ended_otherwise_is_swept(office: Office, call_here: Call) -> None:
    session = office.start("echo 'x = 1' > b.py; echo begun; {go}", most_attempts=1)
    office.until_printed(session, "begun")
    office.kill_supervisor(session)
    record = office.until(session, SessionState.FAILED)
    assert (record.cause, record.tries) == (EndCause.LOST, 1)
    listed = call_here("session", "list").text
    assert re.search(rf"^ +{session} +failed .*\({re.escape(record.note)}\)$", listed, re.MULTILINE), listed
    office.until_clear(session)
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:b.py")


def test_an_overlay_is_unmounted_and_its_work_kept_when_its_supervisor_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Overlays(tmp_path, "").is_possible():
        pytest.skip("no overlay can be mounted here")
    monkeypatch.setenv("COMMONHOLD_OVERLAYS", "always")
    with opened(tmp_path) as office:
        line = f"mkdir new; git mv a.py new/; git commit -qm moved; {COMMONHOLD} acquire new/a.py#one; echo status $?"
        says = 'echo "$COMMONHOLD_AGENT $COMMONHOLD_PORTS"'
        session = office.start(
            f"{line}; echo 'x = 1' > b.py; {says}; echo begun; {{go}}", teardown=f"{says}; pwd", most_attempts=1
        )
        office.until_printed(session, "begun")
        (workspace,) = office.workspaces(session)
        assert mounted_below(tmp_path) == [str(workspace)]
        office.kill_supervisor(session)
        office.until(session, SessionState.FAILED)
        office.until_clear(session)
        assert mounted_below(tmp_path) == []
        status, agent, begun, torn_down, place = office.log(session).splitlines()[-5:]
        assert (status, agent, begun, place) == ("status 0", torn_down, "begun", str(workspace))
        kept = f"refs/commonhold/sessions/{session}/1"
        git(office.root, "cat-file", "-e", f"{kept}:b.py")
        git(office.root, "cat-file", "-e", f"agent/{session}:new/a.py")


def test_an_empty_log_says_why(office: Office, call_here: Call) -> None:
    session = office.start("{go}", setup="exit 3")
    office.until(session, SessionState.FAILED)
    logged = call_here("session", "logs", session)
    why = f"notice: attempt 1 of {session} has printed nothing: the set-up ended with exit status 3\n"
    assert (logged.status, logged.out, logged.err) == (0, b"", why)
    assert call_here("session", "logs", session, "--json").err == ""


def test_commands_say_what_is_wrong(call_here: Call) -> None:
    def begun() -> list[str]:
        return [each["id"] for each in call_here("session", "list", "--all", "--json").json["sessions"]]

    before = begun()
    calls: dict[tuple[str, ...], tuple[int, str]] = {
        ("start", "x", "--with", "nobody"): (2, "is no known agent"),
        ("start", " ", "--with", "a {prompt_file}"): (3, "its task is empty"),
        ("start", "x", "--with", "a {prompt_file}", "--timeout", "soon"): (2, "write a number with s, m, h or d"),
        ("start", "x", "--with", "a {prompt_file}", "--base", "nowhere"): (3, "git knows no commit"),
        ("start", "x", "--with", "a {prompt_file}", "--memory", "much"): (2, "is no size"),
        ("start", "x", "--with", "a {prompt_file}", "--memory", "1m"): (3, "too low"),
        ("show", "s999"): (3, "there is no session"),
        ("cancel", "s999"): (2, "--note"),
        ("retry", "s999", "--edit", " "): (2, "the new text of the task is empty"),
    }
    for words, (status, text) in calls.items():
        done = call_here("session", *words)
        assert done.status == status, (words, done)
        assert text in done.err
    assert begun() == before
