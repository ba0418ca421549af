"""Sessions of known agents with a real daemon: scripted programs print what the real ones print."""

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.e2e.cli_driver import Call, call
from tests.e2e.test_sessions import Office, opened
from tests.patience import until
from tests.unit.agents.test_headless_reports import PRINTED, SESSIONS

from commonhold import EndCause, SessionAction, SessionState
from commonhold.cli import session_logs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc"),
]
AGENTS = ("claude", "gemini", "codex")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    (folder / "bin").mkdir()
    for name in AGENTS:
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {folder}/{name}.calls\n. {folder}/{name}.play\n')
        program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
        with opened(folder) as office:
            yield office


@pytest.fixture
def office(shared: Office) -> Iterator[Office]:
    yield shared
    for view in shared.hold.managed_sessions().sessions:
        shared.hold.change_managed_session(view.record.id, SessionAction.CANCEL, note="the test is over")
    until(lambda: not shared.supervisors(), what="supervisors end")


@pytest.fixture
def call_here(office: Office, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(office.root)
    return lambda *words: call(capsysbinary, monkeypatch, *words)


def play(office: Office, agent: str, *lines: str) -> None:
    """Let the program of an agent do these lines of shell from now on."""
    (office.folder / f"{agent}.play").write_text("\n".join(lines) + "\n")


def prints(*events: dict[str, Any] | Path) -> str:
    """A line of shell that prints events, or a file of them."""
    return "; ".join(
        f"cat {each}" if isinstance(each, Path) else f"printf '%s\\n' {shlex.quote(json.dumps(each))}"
        for each in events
    )


def shown(call_here: Call, session: str) -> Any:
    (found,) = call_here("session", "show", session, "--json").json["sessions"]
    return found


def start(office: Office, agent: str, **more: Any) -> str:
    (view,) = office.hold.start_managed_session("fix it", agent=agent, **more).sessions
    return view.record.id


def test_a_session_that_is_still_queued_is_followed_from_its_begin(
    office: Office, call_here: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = office.root / "commonhold.toml"
    settings.write_text("max_sessions = 0\n")
    session = start(office, "echo worked; : {prompt_file}")

    def sleep(seconds: float) -> None:
        settings.unlink(missing_ok=True)
        time.sleep(seconds)

    monkeypatch.setattr(session_logs, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    assert call_here("session", "logs", "-f", session).out == b"worked\n"


def test_a_character_that_is_printed_in_parts_is_followed_as_one(office: Office, call_here: Call) -> None:
    session = start(office, "printf '\\342'; sleep 0.3; printf '\\202\\254\\342\\202'; : {prompt_file}")
    pieces = [json.loads(line) for line in call_here("session", "logs", "-f", "--json", session).out.splitlines()]
    assert "".join(each["text"] for each in pieces) == "€\\xe2\\x82"
    assert pieces[-1]["next"] == "1:5"


def test_the_log_of_an_agent_reads_as_a_conversation(office: Office, call_here: Call) -> None:
    play(office, "gemini", "echo odd >&2", prints(PRINTED["gemini"]))
    session = start(office, "gemini", setup="echo ready")
    followed = call_here("session", "logs", "-f", "--events", session)
    assert followed.out.decode().splitlines() == [
        "ready",
        "odd",
        "  calls read_file: /repo/app.py",
        "  changes /repo/app.py by replace",
        "Done.",
        "  used: 30 tokens in, 15 out",
        "the agent ended its turn",
    ]
    events = [json.loads(line) for line in call_here("session", "logs", "--events", "--json", session).out.splitlines()]
    assert [each["kind"] for each in events][2:] == ["start", "tool_call", "file_change", "text", "usage", "end"]
    assert events[2]["session"] == SESSIONS["gemini"]
    assert events[-2]["usage"] == {"tokens_in": 30, "tokens_out": 15, "cost": 0}
    rest = call_here("session", "logs", "--events", "--json", session, "--from", events[3]["next"]).out.splitlines()
    assert [json.loads(line) for line in rest] == events[4:]


def test_usage_is_kept_for_each_attempt_also_of_one_that_failed(office: Office, call_here: Call) -> None:
    play(office, "claude", prints(PRINTED["claude"]))
    session = start(office, "claude", checks=("exit 3",))
    office.until(session, SessionState.FAILED)
    used = {"tokens_in": 30, "tokens_out": 15, "cost": 0.000315}
    assert shown(call_here, session)["usage"] == used
    office.hold.change_managed_session(session, SessionAction.RETRY)
    office.until(session, SessionState.FAILED)
    twice = {"tokens_in": 60, "tokens_out": 30, "cost": 0.00063}
    (listed,) = call_here("session", "list", "--state", "failed", "--json").json["sessions"]
    assert (listed["usage"], [each["usage"] for each in listed["attempts"]]) == (twice, [used, used])
    assert "used: 60 tokens in, 30 out, $0.0006" in call_here("session", "show", session).out.decode()


def test_an_agent_that_reports_no_usage_has_none(office: Office, call_here: Call) -> None:
    session = office.start(prints(PRINTED["claude"]))
    office.until(session, SessionState.AWAITING_REVIEW)
    assert shown(call_here, session)["usage"] is None


LIMITED = '{"type": "result", "is_error": true, "result": "Claude AI usage limit reached|%s"}'


def test_a_session_pauses_while_the_account_of_its_agent_is_at_a_limit(office: Office, call_here: Call) -> None:
    play(office, "claude", f"echo '{LIMITED % int(time.time() + 7200)}'", "exit 1")
    session = start(office, "claude", most_attempts=1)
    record = office.until(session, SessionState.PAUSED)
    assert (record.cause, record.status, record.tries) == (EndCause.RATE_LIMITED, 1, 1)
    assert record.note.startswith("the agent's account is rate-limited: Claude AI usage limit reached|")
    for words in (("list",), ("show", session)):
        text = call_here("session", *words).text
        assert "it goes on in " in text
        assert ": the agent's account is rate-limited" in text
    assert office.workspaces(session)


def test_a_session_goes_on_by_itself_when_the_limit_ends(office: Office) -> None:
    play(
        office,
        "claude",
        f'case "$*" in *--resume*) test -f made.py && {prints(PRINTED["claude"])}; exit;; esac',
        f"echo half > made.py; echo '{LIMITED}' | sed \"s/%s/$(($(date +%s) + 5))/\"; exit 1",
    )
    session = start(office, "claude", most_attempts=1)
    record = office.until(session, SessionState.AWAITING_REVIEW)
    (attempt,) = record.attempts
    assert (attempt.turns, record.tries, attempt.rate_limits) == (2, 1, 0)
    assert attempt.usage.tokens_in == 30


def test_an_agent_that_chooses_the_id_of_its_conversation_goes_on_with_it(office: Office) -> None:
    limited = '{"type": "turn.failed", "error": {"message": "usage limit reached, try again in 1 second"}}'
    play(
        office,
        "codex",
        f'case "$*" in *"resume 0199-a "*) test -f made.py && {prints(PRINTED["codex"])}; exit;; esac',
        """echo half > made.py; echo '{"type": "thread.started", "thread_id": "0199-a"}'""",
        f"echo '{limited}'; exit 1",
    )
    session = start(office, "codex", most_attempts=1)
    record = office.until(session, SessionState.AWAITING_REVIEW)
    assert (record.attempts[0].turns, record.tries) == (2, 1)


def test_an_id_that_could_be_an_option_is_none(office: Office) -> None:
    play(
        office,
        "codex",
        f'case "$*" in *evil*) exit 3;; esac; test ! -f made.py || {{ {prints(PRINTED["codex"])}; exit; }}',
        """echo half > made.py; echo '{"type": "thread.started", "thread_id": "--evil"}'""",
        """echo '{"type": "turn.failed", "error": {"message": "rate limit, try again in 1 second"}}'; exit 1""",
    )
    session = start(office, "codex", most_attempts=1)
    assert office.until(session, SessionState.AWAITING_REVIEW).attempts[0].turns == 2


def test_a_session_is_recorded_with_the_times_of_its_output(office: Office, call_here: Call, tmp_path: Path) -> None:
    play(office, "claude", "echo first >&2", "while [ ! -e go-on ]; do sleep 0.05; done", prints(PRINTED["claude"]))
    session = start(office, "claude")
    times = office.daemon.state / "sessions" / session / "1.times"
    until(lambda: times.exists() and times.read_text().endswith(" 6\n"), what="the time of the first line is kept")
    (workspace,) = office.workspaces(session)
    (workspace / "go-on").touch()
    office.until(session, SessionState.AWAITING_REVIEW)
    place = tmp_path / "s.cast"
    assert call_here("session", "logs", session, "--events", "--cast", str(place)).status == 0
    header, first, *rest = map(json.loads, place.read_text().splitlines())
    assert (header["version"], first) == (3, [0.0, "o", "first\r\n"])
    assert [each[2] for each in rest][-1] == "the agent ended its turn\r\n"
    assert sum(each[0] for each in rest) > 0
    again = call_here("session", "logs", session, "--cast", str(place), "--json")
    assert again.status == 2
