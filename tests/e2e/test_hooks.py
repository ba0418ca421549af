"""Hooks as agents run them: a process for each, a real daemon behind, and whatever may go wrong between them."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.daemon_process import Serving, kept, serving
from tests.e2e.hooked import KNOCK, Hooked, hooked, said
from tests.e2e.hooked_daemon import CROWD, LONGEST
from tests.patience import PATIENCE_SECONDS, until

from commonhold.client import hook_client
from commonhold.diagnostics import http
from commonhold.diagnostics.finding import Level
from commonhold.workspace import daemon_files
from commonhold.workspace.daemon_files import http_address

pytestmark = pytest.mark.slow
LATE_SECONDS = 3.0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooked]:
    with hooked(make_repository(tmp_path_factory.mktemp("hooked") / "work")) as daemon:
        yield daemon


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "work")


def test_a_hook_gives_back_what_the_daemon_says(shared: Hooked) -> None:
    passed = shared.hook({"do": "pass"})
    assert (passed.status, passed.complaint) == (0, "")
    denied = shared.hook({"do": "deny"})
    assert (denied.status, denied.shape) == (2, {"deny": "held by bob: «später»"})
    assert denied.complaint == "held by bob: «später»"


def test_a_large_payload_arrives_whole(shared: Hooked) -> None:
    assert shared.hook({"do": "pass", "content": "x" * 5_000_000}).status == 0


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"", "is not valid JSON"),
        (b"{", "is not valid JSON"),
        (b"[1]", "is a list, not an object"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"\xff\xfe\xfd", "is not valid JSON"),
        (b"{}", "it says nothing to do"),
        (b'{"do": "fail"}', "the disk is full [DISK_FULL]. Next: make room"),
        (b'{"do": "crash"}', "a defect of Commonhold: RuntimeError: a defect"),
        (b'{"do": 3}', "a defect of Commonhold: AttributeError"),
    ],
)
def test_what_cannot_be_decided_is_refused_in_the_agents_words(shared: Hooked, payload: bytes, why: str) -> None:
    refused = shared.hook(payload)
    assert refused.status == 2
    assert why in refused.shape["refused"]
    assert "so it is refused" in refused.complaint
    assert refused.complaint.count("Next: ") == 1


def test_a_payload_beyond_all_measure_is_refused(shared: Hooked) -> None:
    refused = shared.hook(b'{"do": "pass", "content": "' + b"x" * 20_000_000 + b'"}')
    assert (refused.status, refused.shape["payload"]) == (2, 0)
    assert "more than 20 MB. Next: change it with a shell command" in refused.complaint


def test_the_agents_process_is_told_apart_from_the_shell_that_starts_the_hook(shared: Hooked) -> None:
    began = Path(f"/proc/{os.getpid()}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    assert shared.hook({"do": "pass"}).shape["process"] == f"{os.getpid()}:{began}"
    line = f"true; '{sys.executable}' -I -S '{KNOCK}' probe '{shared.http}'; true"
    through = subprocess.run(["sh", "-c", line], input=b'{"do": "pass"}', capture_output=True, check=True)
    assert json.loads(through.stdout)["process"] == f"{os.getpid()}:{began}"


def test_many_hooks_are_answered_at_once(shared: Hooked) -> None:
    # Each waits until all are there: if one had to wait for another to be answered, none ever were.
    with ThreadPoolExecutor(CROWD) as crowd:
        answers = list(crowd.map(lambda _: shared.hook({"do": "meet"}, "block", f"{LONGEST}").status, range(CROWD)))
    assert answers == [0] * CROWD


def test_an_agent_that_is_not_known_is_let_through_nothing(shared: Hooked) -> None:
    answer = shared.hook({"hook_event_name": "PreToolUse"}, agent="nobody")
    assert (answer.status, answer.output) == (2, b"")
    assert "no hook 'nobody'" in answer.complaint
    assert "commonhold doctor" in answer.complaint


def test_a_daemon_that_is_suspended_lets_nothing_through(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hooked(work) as daemon:
        monkeypatch.setattr(http, "PATIENCE_SECONDS", PATIENCE_SECONDS)
        assert http.serving(str(daemon.state), 1).level is Level.OK
        daemon.suspend()
        monkeypatch.setattr(http, "PATIENCE_SECONDS", 0.3)
        assert "kill -9 4711" in http.serving(str(daemon.state), 4711).mend
        blocked = daemon.hook({"do": "pass"}, "block", "0.3")
        assert (blocked.status, blocked.output) == (2, b"")
        assert "did not answer within 0.3 seconds" in blocked.complaint
        assert "kill -9 4711" in http.serving(str(daemon.state), 4711).mend
        after = daemon.hook({"hook_event_name": "Stop"}, "block", "0.3")
        assert after.status == 1, "what is no tool call must not keep an agent from ending"
        allowed = daemon.hook({"do": "pass"}, "allow", "0.3", agent="copilot")
        assert (allowed.status, allowed.output) == (0, b"")
        assert "goes on without it" in allowed.complaint
        told = daemon.hook({"do": "pass"}, "allow", "0.3", agent="claude")
        assert (told.status, list(told.shape)) == (0, ["systemMessage"])


def test_a_hook_whose_time_is_up_before_it_can_ask_lets_nothing_through(shared: Hooked) -> None:
    """As when the machine was suspended just then."""
    blocked = shared.hook({"do": "pass"}, "block", "-1")
    assert (blocked.status, blocked.output) == (2, b"")
    assert "did not answer within -1 seconds" in blocked.complaint


def test_a_daemon_that_takes_seconds_to_answer_is_not_called_dead(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knocks first waits until what answers is loaded, and a busy machine takes its time."""
    assert http.PATIENCE_SECONDS > 3 * LATE_SECONDS
    monkeypatch.setattr(http, "PATIENCE_SECONDS", PATIENCE_SECONDS)
    with hooked(work) as daemon:
        daemon.suspend()
        going_on = threading.Timer(LATE_SECONDS, daemon.resume)
        going_on.start()
        assert http.serving(str(daemon.state), 1).level is Level.OK
        going_on.join()


def test_no_daemon_ends_while_a_hook_is_under_way(work: Path, tmp_path: Path) -> None:
    let_go = kept(work)
    with hooked(work, idle_seconds=0.1) as daemon:
        hook = daemon.begin(json.dumps({"do": f"wait {tmp_path}/go"}).encode())
        until((tmp_path / "go.begun").exists)
        let_go()
        with pytest.raises(subprocess.TimeoutExpired):
            daemon.process.wait(timeout=1.5)
        (tmp_path / "go").touch()
        assert said(hook).status == 0
        assert daemon.process.wait(timeout=60) == 0


def test_a_daemon_that_is_asked_to_end_answers_first(work: Path, tmp_path: Path) -> None:
    with hooked(work) as daemon:
        hook = daemon.begin(json.dumps({"do": f"wait {tmp_path}/go"}).encode())
        until((tmp_path / "go.begun").exists)
        daemon.process.send_signal(signal.SIGTERM)
        until(lambda: not os.path.lexists(daemon.http))
        (tmp_path / "go").touch()
        assert said(hook).status == 0
        assert daemon.process.wait(timeout=60) == 0
        assert daemon.said() == ""


def test_where_the_daemon_was_killed_the_next_one_takes_its_place(work: Path, tmp_path: Path) -> None:
    with hooked(work) as daemon:
        hook = daemon.begin(json.dumps({"do": f"wait {tmp_path}/go", "cwd": str(work)}).encode())
        until((tmp_path / "go.begun").exists)
        daemon.process.kill()
        answer = said(hook)
        assert "no hook 'probe'" in answer.complaint, "the daemon that was started answers, and knows no such agent"
        assert daemon.is_served
        assert daemon.pid != daemon.process.pid
        assert daemon_files.identity(daemon.http) is not None


def test_the_first_hook_starts_the_daemon(work: Path) -> None:
    daemon = Hooked(work)
    payload = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": str(work), "source": "startup"}
    try:
        answer = daemon.hook(payload, agent="claude")
        assert (answer.status, answer.complaint) == (0, "")
        assert daemon.is_served
        outside = {**payload, "cwd": str(work.parent)}
        elsewhere = subprocess.run(
            [sys.executable, "-I", "-m", "commonhold", "hook", "claude"],
            input=json.dumps(outside).encode(),
            capture_output=True,
            check=False,
        )
        assert (elsewhere.returncode, elsewhere.stdout) == (0, b""), "where no repository is there is nothing to guard"
        assert not (work.parent / ".commonhold").exists()
    finally:
        daemon.end()


def test_where_nothing_is_installed_any_more_nothing_is_let_through(work: Path, tmp_path: Path) -> None:
    alone = tmp_path / "hook_program.py"
    for each in (KNOCK, hook_client.__file__):
        (tmp_path / Path(each).name).write_bytes(Path(each).read_bytes())
    bare = [sys._base_executable, "-I", "-S", str(alone), "codex", f"{work}/.git/commonhold/http.sock"]  # type: ignore[attr-defined]
    gone = subprocess.run(bare, input=b'{"hook_event_name": "PreToolUse"}', capture_output=True, check=False)
    assert (gone.returncode, gone.stdout) == (2, b"")
    assert b"installed no more" in gone.stderr
    assert b"No module named commonhold" in gone.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells what a process has open")
def test_agents_that_come_and_go_leave_nothing_open(work: Path) -> None:
    """Each is somebody new to the daemon, and may be gone without a word after its last turn."""
    (work / "a.py").write_text("def f():\n    return 1\n")
    edit = {"file_path": str(work / "a.py"), "old_string": "return 1\n", "new_string": "return 1 \n"}
    about = {"tool_name": "Edit", "tool_input": edit}
    with serving(work, sweep_seconds=0.1) as daemon:

        def works(session: str) -> None:
            for event, more in {"SessionStart": {}, "PreToolUse": about, "PostToolUse": about, "Stop": {}}.items():
                tell(daemon, session, event, **more)

        works("first")
        before = has_open(daemon)
        for number in range(COMING):
            works(f"session-{number}")
        # Not as many as before to the last one: what the daemon begins beside may have come meanwhile.
        until(lambda: has_open(daemon) < before + COMING // 2, what="few more files open than with one agent")


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells what a process has open")
def test_agents_that_die_in_the_middle_of_an_edit_leave_nothing_open(work: Path) -> None:
    with serving(work, sweep_seconds=0.1) as daemon:

        def dies(session: str) -> None:
            new = {"file_path": str(work / f"{session}.py"), "content": "X = 1\n"}
            tell(daemon, session, "SessionStart")
            tell(daemon, session, "PreToolUse", tool_name="Write", tool_input=new)

        for number in range(FEW):
            dies(f"session-{number}")
        before = has_open(daemon)
        for number in range(FEW, DYING):
            dies(f"session-{number}")
        until(lambda: has_open(daemon) < before + FEW, what="hardly more open than after the first sessions")


COMING, FEW, DYING = 20, 5, 40


def has_open(daemon: Serving) -> int:
    """How many files and connections a daemon has open."""
    return len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))


def tell(daemon: Serving, session: str, event: str, **more: object) -> None:
    """What a hook of Claude Code's reports, which nothing is said to."""
    payload = {"session_id": session, "cwd": str(daemon.root), "hook_event_name": event, "tool_use_id": session, **more}
    status, _, complaint = hook_client.ask(
        "/hooks/claude", http_address(str(daemon.state)), json.dumps(payload).encode(), "", PATIENCE_SECONDS
    )
    assert (status, complaint) == (0, b"")


def test_a_daemon_that_cannot_be_started_is_told_with_the_reason(work: Path) -> None:
    (work / ".git" / "commonhold").write_text("a file where the folder is to be", encoding="utf-8")
    assert f"its daemon cannot be started (File exists: {work}/.git/commonhold)" in told_to_codex(work)


def test_a_daemon_that_ends_as_it_begins_is_told_at_once_with_what_it_says(work: Path) -> None:
    """It is not waited for, hook by hook, for as long as a hook may take."""
    (work / "commonhold.toml").write_text('shell = "sandbx"\n', encoding="utf-8")
    told = told_to_codex(work)
    assert "its daemon ends as it begins: the settings in commonhold.toml cannot be used: shell" in told
    (work / "commonhold.toml").unlink()
    (work / ".git" / "commonhold" / "daemon.lock").mkdir()
    assert "its daemon ends as it begins: IsADirectoryError" in told_to_codex(work)
    started = subprocess.run(
        [sys.executable, "-I", "-m", "commonhold", "-C", work, "daemon", "start"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert started.returncode == 4
    assert "its daemon ends as it begins: IsADirectoryError" in started.stderr
    assert "commonhold doctor" in started.stderr


def told_to_codex(work: Path) -> str:
    """Why nothing is let through, where no daemon is to be had."""
    blocked = Hooked(work).hook({"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": str(work)}, agent="codex")
    assert blocked.status == 2
    return blocked.complaint
