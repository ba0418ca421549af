"""The hook's own client: what it makes of an answer, and of none."""

import json
import os
import socket
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.client import hook_client
from commonhold.workspace import daemon_files

OK = b"HTTP/1.1 200 OK\r\n"
REPLY = b"X-Commonhold-Reply: 2 3\r\n"


def test_an_answer_is_parted_as_its_form_says() -> None:
    answer = OK + b"connection: close\r\n" + REPLY + b"content-length: 7\r\n\r\nout\xc3\xa9rr"
    assert hook_client._read(answer) == (2, b"out", "érr".encode())
    assert hook_client.parted(b"0 0", b"") == (0, b"", b"")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200",
        OK + REPLY + b"content-length: 7\r\n",
        OK + REPLY + b"content-length: 7\r\n\r\nout",
        OK + REPLY + b"\r\nouterr",
        b"SSH-2.0-something\r\n",
    ],
)
def test_an_answer_that_is_cut_off_is_none(answer: bytes) -> None:
    with pytest.raises(hook_client.Unanswered):
        hook_client._read(answer)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 3\r\n\r\nwhy", "why"),
        (b"HTTP/1.1 500 \r\ncontent-length: 2\r\n\r\n\xff\xfe", "\ufffd"),
        (OK + b"content-length: 0\r\n\r\n", "something else answers"),
    ],
)
def test_an_answer_that_says_no_is_told(answer: bytes, why: str) -> None:
    with pytest.raises(hook_client.Rejected, match=why):
        hook_client._read(answer)


@pytest.mark.parametrize(
    ("payload", "status"),
    [
        ({"hook_event_name": "PreToolUse"}, hook_client.BLOCKED),
        ({"hook_event_name": "preToolUse"}, hook_client.BLOCKED),
        ({"hook_event_name": "BeforeTool"}, hook_client.BLOCKED),
        ({"toolName": "edit", "toolArgs": "{}"}, hook_client.BLOCKED),
        ({"toolName": "edit", "toolResult": {}}, hook_client.FAILED),
        ({"hook_event_name": "Stop"}, hook_client.FAILED),
        ({"hook_event_name": "PostToolUse"}, hook_client.FAILED),
        ({"hook_event_name": "UserPromptSubmit"}, hook_client.FAILED),
        ({"hook_event_name": 3}, hook_client.BLOCKED),
        ([], hook_client.BLOCKED),
    ],
)
def test_without_an_answer_what_is_about_to_act_is_blocked_and_nothing_else(payload: object, status: int) -> None:
    said = hook_client.without_answer("codex", json.dumps(payload).encode(), "block", "it is gone")
    assert said[:2] == (status, b"")
    assert b"it is gone" in said[2]
    assert (b"Nothing is written" in said[2]) is (status == hook_client.BLOCKED)


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_payload_that_cannot_be_read_is_taken_for_one_that_is_about_to_act(payload: bytes) -> None:
    assert hook_client.without_answer("claude", payload, "block", "why")[0] == hook_client.BLOCKED


@pytest.mark.parametrize(
    ("agent", "payload"),
    [("copilot", {"toolName": "edit", "toolArgs": {}}), ("claude", {"hook_event_name": "PreToolUse"})],
)
def test_who_makes_little_of_an_exit_status_is_told_why_in_its_own_form(agent: str, payload: object) -> None:
    status, output, complaint = hook_client.without_answer(agent, json.dumps(payload).encode(), "block", "it is gone")
    assert (status, complaint) == (0, b"")
    answer = json.loads(output)
    answer = answer.get("hookSpecificOutput", answer)
    assert answer["permissionDecision"] == "deny"
    assert "it is gone" in answer["permissionDecisionReason"]


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "vscode", "copilot", "cursor", "opencode"])
def test_who_chose_to_go_on_without_is_let_through_and_told(agent: str) -> None:
    status, output, complaint = hook_client.without_answer(agent, b"{}", "allow", "it is gone")
    assert status == 0
    told = json.loads(output)["systemMessage"] if output else complaint.decode()
    assert "it is gone" in told
    assert "when_down = allow" in told


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/w/r/.git/commonhold/http.sock", ["-C", "/w/r"]),
        ("/w/r/.commonhold/http.sock", ["-C", "/w/r"]),
        ("/.commonhold/http.sock", ["-C", "/"]),
        ("/run/commonhold-0/0123.http.sock", []),
    ],
)
def test_the_repository_is_that_of_the_socket(address: str, words: list[str]) -> None:
    assert hook_client._place_of(address) == words


def test_a_process_is_told_from_another_of_its_number_by_its_beginning() -> None:
    pid, _, began = hook_client.agent_process(os.getpid()).partition(":")
    assert int(pid) == os.getpid()
    assert int(began) > 0
    assert hook_client.agent_process(2**22 + 1) == "", "what is not there is not made up"


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the system does not tell who listens")
@pytest.mark.parametrize("is_ours", [True, False])
def test_what_another_user_listens_at_is_told_nothing(monkeypatch: pytest.MonkeyPatch, *, is_ours: bool) -> None:
    """In a folder for temporary files anybody may have made the socket, and would be asked what to run."""
    with tempfile.TemporaryDirectory(prefix="k") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address := f"{folder}/0123.http.sock")
        listener.listen()
        listener.settimeout(PATIENCE_SECONDS)
        uid = os.geteuid()
        if not is_ours:
            monkeypatch.setattr("posix.geteuid", lambda: uid + 1)
            monkeypatch.setattr(hook_client, "_ROOT", uid + 2)
        with ThreadPoolExecutor() as pool:
            asking = pool.submit(hook_client.ask, "/hooks/claude", address, b"a secret", "", PATIENCE_SECONDS)
            connection, _ = listener.accept()
            with connection:
                heard = connection.recv(65_536)
                with suppress(OSError):
                    connection.sendall(OK + b"x-commonhold-reply: 0 2\r\ncontent-length: 2\r\n\r\n{}")
            if is_ours:
                assert asking.result() == (0, b"{}", b"")
                assert heard.endswith(b"a secret")
            else:
                with pytest.raises(hook_client.Rejected, match="another user"):
                    asking.result()
                assert heard == b""


@pytest.mark.parametrize("seconds", [0.0, -0.5])
def test_no_daemon_is_asked_when_the_time_is_up(seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="k") as folder:
        address = f"{folder}/http.sock"
        with daemon_files.listen(address), pytest.raises(TimeoutError):
            hook_client.ask("/hooks/claude", address, b"", "", seconds)


def test_a_daemon_that_was_killed_is_waited_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is on its way; the hook does not begin another."""
    monkeypatch.setattr(hook_client, "REVIVAL_SECONDS", PATIENCE_SECONDS)
    with tempfile.TemporaryDirectory(prefix="k") as folder, ThreadPoolExecutor() as pool:
        address = f"{folder}/http.sock"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(address)
        asking = pool.submit(hook_client._ask_who_is_there, "/hooks/claude", address, b"", "", time.monotonic() + 60)
        time.sleep(hook_client.PAUSE_SECONDS)
        with daemon_files.listen(address) as listener:
            listener.settimeout(PATIENCE_SECONDS)
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(OK + b"x-commonhold-reply: 0 2\r\ncontent-length: 2\r\n\r\n{}")
            assert asking.result() == (0, b"{}", b"")


def test_where_no_daemon_was_none_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def nobody(path: str, *_: object) -> hook_client.Said:
        asked.append(path)
        raise hook_client.Unanswered from FileNotFoundError()

    monkeypatch.setattr(hook_client, "ask", nobody)
    with pytest.raises(hook_client.Unanswered):
        hook_client._ask_who_is_there("/hooks/claude", "", b"", "", time.monotonic() + 60)
    assert asked == ["/hooks/claude"]


def test_a_daemon_that_a_busy_machine_starts_too_late_is_no_reason_to_call_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("commonhold", 1)

    monkeypatch.setattr(subprocess, "run", run)
    status, _, told = hook_client._ask_anew("codex", "/x/.git/commonhold/http.sock", b"{}", "block", "", 1.0)
    assert status == hook_client.BLOCKED
    assert b"Next: try again in a moment; if it stays so, ask your user to run `commonhold doctor` here." in told
