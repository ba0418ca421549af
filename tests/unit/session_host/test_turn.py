"""One turn of a session, with real commands: how it ends, and that no process of it is left."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import pytest
from tests.patience import PATIENCE_SECONDS, until

from commonhold.kernel.managed_session import EndCause, ManagedSession, SessionMove, SessionWish
from commonhold.machine import process_tree
from commonhold.machine.process_groups import SESSION_LABEL
from commonhold.machine.process_tree import become_subreaper, kill_with_variable, with_variable
from commonhold.session_host import commands
from commonhold.session_host import turn as turns
from commonhold.session_host.commands import Stopped
from commonhold.session_host.leftovers import guarded
from commonhold.session_host.session_files import WorkspaceNote
from commonhold.session_host.turn import Turn, environment_of
from commonhold.sessions.commands import SessionReport

pytestmark = pytest.mark.slow
T = TypeVar("T")
WALL = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PORTS = range(21_010, 21_020)
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


def in_a_process(act: Callable[[], T]) -> T:
    """Act in a process of its own, since a turn ends all processes below it: others belong to other tests."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child calls nothing that another thread may hold
        child = os.fork()
    if child == 0:
        try:
            become_subreaper()
            os.write(writing, pickle.dumps(act()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        said = stream.read()
    os.waitpid(child, 0)
    result: T = pickle.loads(said)  # noqa: S301 - our own child wrote it
    return result


def workspace_at(folder: Path) -> WorkspaceNote:
    return WorkspaceNote("s1", 1, str(folder), "", "", "c" * 40)


@pytest.fixture
def label() -> str:
    return f"test-{os.getpid()}-{time.monotonic_ns()}"


@pytest.fixture
def run(tmp_path: Path, label: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SessionReport]:
    monkeypatch.setattr(commands, "GRACE_SECONDS", 1.0)
    monkeypatch.setattr(commands, "LEFT_SECONDS", 0.2)

    def run(
        line: str,
        *,
        asked: Callable[[], Stopped | None] = lambda: None,
        now: Callable[[], float] = time.monotonic,
        is_first: bool = True,
        agent: str = "",
        rate_limits: int = 0,
        **rest: object,
    ) -> SessionReport:
        session = ManagedSession("s1", "do it", agent or line, "c" * 40, "/", "here", **rest)  # type: ignore[arg-type]
        environment = environment_of(os.environ, "agent:s1", label, PORTS, {"COMMONHOLD_STORE": "sqlite:/x"})
        one = Turn(workspace_at(tmp_path), tmp_path / "1.log", environment, asked, tuple, now=now, wall=lambda: WALL)
        words = ("/bin/sh", "-c", line)
        return in_a_process(lambda: one.run(session, words, is_first=is_first, rate_limits=rate_limits))

    return run


def test_a_turn_runs_set_up_agent_and_checks_and_logs_all_they_print(
    run: Callable[..., SessionReport], tmp_path: Path
) -> None:
    report = run("echo agent; echo work > file", setup="echo setup", checks=("echo check; test -f file",))
    assert (report.move, report.cause, report.status) == (SessionMove.FINISH, EndCause.EXITED, 0)
    assert (tmp_path / "1.log").read_text() == "setup\nagent\ncheck\n"


@pytest.mark.parametrize(
    "act", ["rm 1.log", "rm 1.log; mkdir 1.log", "rm 1.log; ln -s /dev/zero 1.log", "rm 1.log; mkfifo 1.log"]
)
def test_an_agent_may_delete_its_log(run: Callable[..., SessionReport], act: str) -> None:
    report = run(f"{act}; sleep 0.3; echo more; sleep 0.2", agent="codex")
    assert (report.move, report.cause) == (SessionMove.FINISH, EndCause.EXITED)


@pytest.mark.parametrize("act", ["mkdir 1.log", "ln -s /dev/zero 1.log", "mkfifo 1.log"])
def test_a_command_whose_log_is_no_file_is_not_started(run: Callable[..., SessionReport], act: str) -> None:
    report = run("true", setup=f"rm 1.log; {act}")
    assert (report.move, report.cause) == (SessionMove.FAIL, EndCause.NOT_STARTED)
    assert "could not be started" in report.note


def test_a_log_that_an_agent_deletes_still_has_its_limit(
    run: Callable[..., SessionReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_LOG_BYTES", 10_000)
    assert run("rm 1.log; yes").cause is EndCause.LOG_FULL


def test_a_later_turn_needs_no_set_up(run: Callable[..., SessionReport]) -> None:
    assert run("true", setup="exit 9", is_first=False).move is SessionMove.FINISH


@pytest.mark.parametrize(
    ("line", "rest", "cause", "status", "words"),
    [
        ("exit 3", {}, EndCause.EXITED, 3, "the agent ended with exit status 3"),
        ("no-such-program", {}, EndCause.EXITED, 127, "127, by which a shell reports a program that is not there"),
        ("sh -c 'kill -SEGV $$'; exit $?", {}, EndCause.EXITED, 139, "139, by which a shell reports the end"),
        ("true", {"setup": "exit 7"}, EndCause.SETUP_FAILED, 7, "exit status 7"),
        ("true", {"checks": ("true", "exit 5")}, EndCause.CHECK_FAILED, 5, "check `exit 5`"),
        ("kill -9 $$", {}, EndCause.KILLED, -signal.SIGKILL, "SIGKILL, which Commonhold did not send"),
        ("sleep 60", {"timeout_seconds": 0.3}, EndCause.TIMED_OUT, -signal.SIGTERM, "the limit of 0.3 s"),
        ("echo x; sleep 60", {"silence_seconds": 0.3}, EndCause.SILENT, -signal.SIGTERM, "nothing for 0.3 s"),
    ],
)
def test_the_cause_of_an_end_is_told(
    run: Callable[..., SessionReport],
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    rest: dict[str, object],
    cause: EndCause,
    status: int,
    words: str,
) -> None:
    monkeypatch.setattr(commands, "GRACE_SECONDS", PATIENCE_SECONDS)  # the first signal ends each, however late
    report = run(line, **rest)
    assert (report.move, report.cause, report.status) == (SessionMove.FAIL, cause, status)
    assert words in report.note


LIMITED = """echo '{"type": "turn.failed", "error": {"message": "429 Too Many Requests%s"}}'; exit 1"""


@pytest.mark.parametrize(
    ("line", "earlier", "pause"),
    [
        (LIMITED % "", 0, 60.0),
        (LIMITED % "", 3, 480.0),
        (LIMITED % "", 9, 1800.0),
        (LIMITED % "", 9_999, 1800.0),
        (LIMITED % "; try again at 12:10 PM", 9, 605.0),
        (LIMITED.replace("exit 1", "exit 0") % "", 0, 60.0),
    ],
)
def test_a_rate_limit_pauses_the_session(
    run: Callable[..., SessionReport], line: str, earlier: int, pause: float
) -> None:
    report = run(line, agent="codex", rate_limits=earlier, checks=("exit 5",))
    assert (report.move, report.cause, report.wait_seconds) == (SessionMove.PAUSE, EndCause.RATE_LIMITED, pause)
    assert report.note.startswith("the agent's account is rate-limited: 429 Too Many Requests")


@pytest.mark.parametrize(
    ("rest", "cause"),
    [
        ({"agent": ""}, EndCause.EXITED),
        ({"agent": "claude"}, EndCause.EXITED),
        ({"agent": "codex", "setup": f"({LIMITED % ''})"}, EndCause.SETUP_FAILED),
    ],
)
def test_only_the_agent_itself_reports_a_rate_limit(
    run: Callable[..., SessionReport], rest: dict[str, object], cause: EndCause
) -> None:
    report = run(LIMITED % "", **rest)
    assert (report.move, report.cause, report.wait_seconds) == (SessionMove.FAIL, cause, None)


def test_an_account_without_credit_pauses_the_session_until_a_person_resumes_it(
    run: Callable[..., SessionReport],
) -> None:
    report = run(LIMITED.replace("429 Too Many Requests%s", "insufficient credits"), agent="codex")
    assert (report.move, report.cause, report.wait_seconds) == (SessionMove.PAUSE, EndCause.RATE_LIMITED, None)
    assert report.note == "the agent's account has no credit left; pay, then resume: insufficient credits"


def test_a_person_without_a_terminal_to_spare_leaves_the_session_paused(tmp_path: Path) -> None:
    def joined(_: Path) -> None:
        raise OSError(errno.ENOSPC, "out of pty devices")

    one = Turn(workspace_at(tmp_path), tmp_path / "1.log", {}, lambda: None, tuple)
    session = ManagedSession("s1", "do it", "claude", "c" * 40, "/", "here")
    report = one.attend(session, ["true"], SimpleNamespace(joined=joined), finishes=True)  # type: ignore[arg-type]
    assert (report.move, report.cause) == (SessionMove.PAUSE, EndCause.NOT_STARTED)
    assert report.note == "no terminal could be opened: out of pty devices"


def test_an_agent_that_was_ended_at_a_limit_of_time_is_not_rate_limited(run: Callable[..., SessionReport]) -> None:
    report = run(LIMITED.replace("exit 1", "sleep 60") % "", agent="codex", timeout_seconds=0.5)
    assert (report.move, report.cause) == (SessionMove.FAIL, EndCause.TIMED_OUT)


def test_an_agent_that_prints_without_end_is_ended(
    run: Callable[..., SessionReport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_LOG_BYTES", 3 << 20)
    report = run("yes")
    assert (report.move, report.cause, report.note) == (
        SessionMove.FAIL,
        EndCause.LOG_FULL,
        "the attempt printed more than 3 MiB",
    )
    os.truncate(tmp_path / "1.log", 0)


def test_an_agent_that_prints_now_and_then_is_not_silent(run: Callable[..., SessionReport], tmp_path: Path) -> None:
    """From each line to the next three quarters of the limit pass; no line is printed before that is so."""

    def now() -> float:
        lines = (tmp_path / "1.log").read_text().count("\n")
        (tmp_path / f"go-{lines + 1}").touch()
        return 45.0 * lines

    (tmp_path / "1.log").touch()
    line = "for i in 1 2 3 4 5 6; do until [ -e go-$i ]; do sleep 0.01; done; echo $i; done"
    assert run(line, now=now, silence_seconds=60.0).move is SessionMove.FINISH


@pytest.mark.parametrize(
    ("name", "why"),
    [("./nowhere", "No such file or directory"), ("nowhere", "it is not on the PATH of the daemon or worker")],
)
def test_a_program_that_is_not_there_is_named(tmp_path: Path, name: str, why: str) -> None:
    one = Turn(workspace_at(tmp_path), tmp_path / "1.log", {}, lambda: None, tuple)
    session = ManagedSession("s1", "do it", "x", "c" * 40, "/", "here")
    report = in_a_process(lambda: one.run(session, (name,), is_first=True))
    assert (report.cause, report.note) == (EndCause.NOT_STARTED, f"{name} could not be started: {why}")


@pytest.mark.parametrize(
    ("wish", "move"), [(SessionWish.PAUSE, SessionMove.PAUSE), (SessionWish.CANCEL, SessionMove.CANCEL)]
)
def test_a_wish_ends_the_turn(
    run: Callable[..., SessionReport], tmp_path: Path, wish: SessionWish, move: SessionMove
) -> None:
    def asked() -> Stopped | None:
        is_deaf = "deaf" in (tmp_path / "1.log").read_text()
        return Stopped(EndCause.ASKED, "why", wish) if is_deaf else None

    report = run("trap '' TERM; echo deaf; sleep 60", asked=asked)
    assert (report.move, report.note, report.status) == (move, "why", -signal.SIGKILL)


@linux
@pytest.mark.parametrize(
    "line",
    [
        "setsid sleep 61 & exit 0",
        "(setsid sh -c 'trap \"\" TERM; sleep 62' &) ; exit 0",
        "setsid sh -c 'setsid sh -c \"sleep 63 & sleep 64\" & sleep 65' & sleep 0.2; exit 0",
    ],
)
def test_no_process_is_left_however_it_was_started(run: Callable[..., SessionReport], label: str, line: str) -> None:
    assert run(line).move is SessionMove.FINISH
    assert with_variable(SESSION_LABEL, label) == ()


@linux
def test_what_ignores_the_first_signal_is_killed_though_the_machine_stands_still_meanwhile(
    run: Callable[..., SessionReport], label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = 0.0

    def sleep(seconds: float) -> None:
        nonlocal passed
        passed += 60.0  # more than there is for both signals
        time.sleep(seconds)

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed, sleep=sleep)
    monkeypatch.setattr(process_tree, "time", clock)
    monkeypatch.setattr(commands, "LEFT_SECONDS", 30.0)
    line = "(setsid sh -c 'trap \"\" TERM; touch deaf; sleep 63' &); until [ -e deaf ]; do sleep 0.01; done"
    assert run(line).move is SessionMove.FINISH
    assert with_variable(SESSION_LABEL, label) == ()


@linux
@pytest.mark.parametrize("fault", [OSError("the log is gone"), SystemExit(143)])
def test_a_supervisor_that_fails_leaves_no_process(tmp_path: Path, label: str, fault: BaseException) -> None:
    def fails() -> None:
        raise fault

    one = Turn(
        workspace_at(tmp_path),
        tmp_path / "1.log",
        environment_of(os.environ, "agent:s1", label, PORTS, {}),
        fails,
        tuple,
    )
    session = ManagedSession("s1", "do it", "x", "c" * 40, "/", "here")

    def act() -> str:
        with pytest.raises(type(fault)):
            one.run(session, ("/bin/sh", "-c", "(setsid sleep 67 &); exec sleep 68"), is_first=True)
        return f"{with_variable(SESSION_LABEL, label)}"

    assert in_a_process(act) == "()"


@linux
def test_a_supervisor_that_is_killed_leaves_no_process(label: str) -> None:
    def act() -> None:
        with guarded(lambda: kill_with_variable(SESSION_LABEL, label)):
            subprocess.Popen(("sleep", "69"), env={SESSION_LABEL: label}, start_new_session=True)
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(EOFError):
        in_a_process(act)
    until(lambda: with_variable(SESSION_LABEL, label) == ())


@linux
def test_a_supervisor_that_ends_as_it_should_leaves_the_rest_alone(label: str) -> None:
    def act() -> int:
        with guarded(lambda: kill_with_variable(SESSION_LABEL, label)):
            return subprocess.Popen(("sleep", "70"), env={SESSION_LABEL: label}, start_new_session=True).pid

    left = in_a_process(act)
    time.sleep(0.3)
    assert with_variable(SESSION_LABEL, label) == (left,)
    os.kill(left, signal.SIGKILL)


@linux
def test_spared_processes_live_on(tmp_path: Path, label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "LEFT_SECONDS", 0.2)
    kept = tmp_path / "kept"
    environment = environment_of(os.environ, "agent:s1", label, PORTS, {})
    one = Turn(workspace_at(tmp_path), tmp_path / "1.log", environment, lambda: None, lambda: [int(kept.read_text())])
    session = ManagedSession("s1", "do it", "x", "c" * 40, "/", "here")
    line = f"setsid sh -c 'echo $$ > {kept}; exec sleep 66' & until [ -s {kept} ]; do sleep 0.01; done"
    report = in_a_process(lambda: one.run(session, ("/bin/sh", "-c", line), is_first=True))
    left = with_variable(SESSION_LABEL, label)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert report.move is SessionMove.FINISH
    assert left == (int(kept.read_text()),)
    until(lambda: with_variable(SESSION_LABEL, label) == ())


def test_the_environment_names_session_store_and_ports() -> None:
    made = environment_of(
        {"PATH": "/bin", "COMMONHOLD_SOCKET": "x", "COMMONHOLD_AGENT": "outer"},
        "claude:s2",
        "s2:9",
        PORTS,
        {"COMMONHOLD_STORE": "postgresql://host/db"},
    )
    assert made == {
        "PATH": "/bin",
        "COMMONHOLD_STORE": "postgresql://host/db",
        "COMMONHOLD_AGENT": "claude:s2",
        "COMMONHOLD_SESSION": "s2:9",
        "COMMONHOLD_PORT": "21010",
        "COMMONHOLD_PORTS": "21010-21019",
    }
