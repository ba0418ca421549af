"""The command line for a person: short ids, one's own name at a terminal, colours, watching, and what was meant."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import warm
from tests.e2e.cli_driver import Call, start
from tests.patience import PATIENCE_SECONDS

from commonhold.cli import colours, describe
from commonhold.cli.commands import COMMANDS, GROUPS, MEANT
from commonhold.cli.setting_meanings import MEANINGS
from commonhold.config import Settings

pytestmark = pytest.mark.slow

SHOW_CURSOR = b"\x1b[?25h"


def leased(run: Call, key: str, *options: str) -> str:
    found: str = run("acquire", key, *options, "--json").json["lease"]["id"]
    return found


def at_a_terminal(root: Path, *words: str, environment: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Run a command whose both ends are a terminal; its exit status and what it shows."""
    ours, theirs = pty.openpty()
    agents = ("CLAUDE", "AI_AGENT", "CODEX", "COMMONHOLD_", "NO_COLOR", "FORCE_COLOR", "CURSOR_", "GEMINI_CLI")
    own = {name: value for name, value in os.environ.items() if not name.startswith(agents)}
    child = warm.Warm(
        [sys.executable, "-m", "commonhold", *words],
        cwd=root,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**own, "TERM": "xterm", "COMMONHOLD_DAEMON": "off", **(environment or {})},
    )
    os.close(theirs)
    shown = b""
    try:
        while True:
            try:
                shown += os.read(ours, 65_536)
            except OSError:
                return child.wait(timeout=60), shown
    finally:
        os.close(ours)


def test_the_beginning_of_an_id_is_enough(run: Call) -> None:
    lease = leased(run, "x:1")
    digits = lease.removeprefix("lease-")
    for typed in (lease[:-4], digits[:6], lease):
        assert run("renew", typed).status == 0
    assert run("ask", digits[:8], "--why", "mine waits", "--agent", "ben").status == 0
    assert run("log", "--lease", digits[:8], "--json").json["events"][0]["event"]["lease"]["id"] == lease
    assert run("commit", "--key", "n.txt", "--create", "--lease", f"{digits[:8]}:1", stdin=b"n\n").status == 0
    assert run("hand-over", digits[:8], "--to", "ben").status == 0
    assert run("release", digits[:8], "--agent", "ben").text.startswith(f"released: {lease}")


def test_an_id_that_may_be_several_lists_them_and_one_that_is_none_is_refused(run: Call) -> None:
    both = {leased(run, "x:1"), leased(run, "x:2")}
    several = run("release", "lease-", "--json")
    assert several.status == 2
    assert set(several.json["fields"]["candidates"]) == both
    assert all(lease in several.json["message"] for lease in both)
    assert run("release", "lease-none").status == 1


def test_partial_work_is_named_in_the_same_way(root: Path, run: Call) -> None:
    lease = leased(run, "a.py#one")
    (root / "a.py").write_text("def one(): return 1\n", encoding="utf-8")
    run("break", lease[:12], "--reason", "its machine is gone")
    assert run("review", "show", lease[6:12]).status == 0
    assert run("review", "resolve", lease[6:12], "--note", "done").status == 0


def test_a_session_is_named_by_the_beginning_of_its_id_and_nobody_else_by_a_part_of_their_name(run: Call) -> None:
    session = "claude:26baef9a-7c1e-4c55-9a34-0b1c2d3e4f50"
    leased(run, "x:1", "--agent", session)
    leased(run, "x:2", "--agent", "agent-10")
    assert len(run("leases", "--holder", "claude:26ba", "--json").json["leases"]) == 1
    mine = leased(run, "x:3")
    assert run("hand-over", mine, "--to", "claude:26ba", "--json").json["lease"]["holder"] == session
    mine = leased(run, "x:4")
    assert run("hand-over", mine, "--to", "agent-1", "--json").json["lease"]["holder"] == "agent-1"


def test_all_of_ones_own_are_released_and_nothing_of_others(run: Call) -> None:
    theirs = leased(run, "x:9", "--agent", "ben")
    mine = {leased(run, "x:1"), leased(run, "x:2")}
    run("acquire", "x:9", "--queue")
    done = run("release", "--all", "--json")
    assert done.status == 0
    assert {each["lease"]["id"] for each in done.json["leases"] if each["lease"]} == mine
    left = run("leases", "--json").json
    assert [each["id"] for each in left["leases"]] == [theirs]
    assert left["waiters"] == []
    assert "nothing to release" in run("release", "--all").text
    assert run("release").status == run("release", theirs, "--all").status == 2


def test_every_command_is_in_one_group() -> None:
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert set(MEANT.values()) <= {*COMMANDS, "--help"}
    assert not MEANT.keys() & COMMANDS.keys()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("aquire", "x"), "did you mean `commonhold acquire`?"),
        (("lock", "x"), "did you mean `commonhold acquire`?"),
        (("review", "shw"), "did you mean `commonhold review show`?"),
        (("leases", "--hodler", "x"), "did you mean --holder?"),
        (("config", "ttl"), "did you mean ttl_seconds"),
    ],
)
def test_what_may_have_been_meant_is_told(words: tuple[str, ...], hint: str, run: Call) -> None:
    done = run(*words)
    assert done.status == 2
    assert hint in done.err


def test_the_settings_and_where_they_come_from(root: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {each["origin"] for each in run("config", "--json").json["settings"]} <= {
        "default",
        "COMMONHOLD_TYPES",
        "COMMONHOLD_DAEMON",
    }
    (root / "pyproject.toml").write_text("[tool.commonhold]\nttl_seconds = 600\n", encoding="utf-8")
    assert run("config", "ttl_seconds", "--json").json == {
        "name": "ttl_seconds",
        "value": 600.0,
        "default": Settings().ttl_seconds,
        "origin": "pyproject.toml",
    }
    (root / "commonhold.toml").write_text('ttl_seconds = 60\nwritable = ["build"]\n', encoding="utf-8")
    monkeypatch.setenv("COMMONHOLD_STORE", "redis://ann:secret@cache/0")
    said = run("config").text
    assert re.search(r"^ttl_seconds +60 +commonhold.toml$", said, re.MULTILINE)
    assert re.search(r"^writable +build +commonhold.toml$", said, re.MULTILINE)
    assert re.search(r"^store +redis://cache/0 +COMMONHOLD_STORE$", said, re.MULTILINE)
    assert "secret" not in said + run("config", "--json").text + run("config", "store").text
    told = run("config", "ttl_seconds").text
    assert told.startswith("ttl_seconds = 60  (commonhold.toml; default: 1,800)\n")
    assert MEANINGS["ttl_seconds"] in told
    (root / "commonhold.toml").write_text("ttl_seconds = no\n", encoding="utf-8")
    assert run("config").status == 3


def test_times_are_told_as_durations_and_by_this_machines_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    noon = 1_767_000_000.0
    monkeypatch.setattr(time, "time", lambda: noon)
    assert describe.when(noon + 1800) == "in 30 min, at 15:20"
    assert describe.when(noon - 5) == "5 s ago, at 14:49:55"
    assert describe.when(noon + 86400) == "in 24 h, on 2025-12-30 at 14:50"
    monkeypatch.undo()
    time.tzset()


def test_colours_are_for_terminals_and_for_those_who_want_them(
    run: Call, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert "\x1b" not in run("acquire", "x:1").text
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run("acquire", "x:2").text.startswith("\x1b[32mgranted\x1b[0m: ")
    assert "\x1b[" in run("aquire").err
    assert "\x1b" not in run("acquire", "x:3", "--plain").text + run("aquire", "--plain").err
    assert "\x1b" not in run("leases", "--json").text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("acquire", "x:4").text
    _, shown = at_a_terminal(root, "leases")
    assert b"\x1b[36mlease-" in shown
    _, shown = at_a_terminal(root, "leases", environment={"NO_COLOR": "1"})
    assert b"\x1b" not in shown


@pytest.mark.parametrize(
    ("line", "painted"),
    [
        ("ok    git              git 2", "\x1b[32mok\x1b[0m    git              git 2"),
        ("  +x = 1", "  \x1b[32m+x = 1\x1b[0m"),
        ("---", "---"),
        ("leases:", "\x1b[1mleases:\x1b[0m"),
        ("plain words", "plain words"),
    ],
)
def test_a_line_is_painted_by_what_it_begins_with(line: str, painted: str) -> None:
    assert colours.painted(line) == painted


def test_a_person_at_a_terminal_has_a_name_and_no_agent_gets_it(root: Path, run: Call) -> None:
    status, shown = at_a_terminal(root, "acquire", "x:1", "--json")
    assert status == 0, shown
    assert re.fullmatch(r"person:[\w.-]+@[\w.-]+", json.loads(shown)["lease"]["holder"])
    for agent in ("CLAUDECODE", "AI_AGENT", "GEMINI_CLI", "CODEX_THREAD_ID", "COMMONHOLD_HOLDER"):
        status, shown = at_a_terminal(root, "acquire", "x:2", "--json", environment={agent: "1"})
        assert b"person:" not in shown, agent
    named = json.loads(at_a_terminal(root, "acquire", "x:3", "--json", "--agent", "bob")[1])["lease"]["holder"]
    assert named == "bob"
    assert run("leases", "--holder", "bob").status == 0
    piped = subprocess.run(
        [sys.executable, "-m", "commonhold", "acquire", "x:4"],
        cwd=root,
        env={name: value for name, value in os.environ.items() if name != "COMMONHOLD_AGENT"},
        capture_output=True,
        check=False,
    )
    assert b"HOLDER_MISSING" in piped.stderr


def lines_until(child: subprocess.Popen[bytes], mark: bytes) -> bytes:
    assert child.stdout is not None
    said, until = b"", time.monotonic() + PATIENCE_SECONDS
    while mark not in said and select.select([child.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(child.stdout.fileno(), 65_536)
        if not part:
            break
        said += part
    assert mark in said, said
    return said


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_watching_prints_each_change_and_ends_with_ctrl_c(options: tuple[str, ...], root: Path, run: Call) -> None:
    child = start("status", "--watch", *options, cwd=root)
    try:
        first = lines_until(child, b"\n")
        assert b"lease-" not in first
        lease = leased(run, "x:1")
        assert b"\x1b" not in lines_until(child, lease.encode())
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=PATIENCE_SECONDS)
        assert (child.returncode, complaint) == (0, b"")
    finally:
        child.kill()
        child.communicate()


def test_watching_on_a_terminal_is_in_place_and_leaves_it_as_it_was(root: Path) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "commonhold", "status", "--watch"], cwd=root, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    try:
        shown = b""
        while shown.count(b"\x1b[H") < 2:
            shown += os.read(ours, 65_536)
        child.send_signal(signal.SIGINT)
        while SHOW_CURSOR not in shown:
            shown += os.read(ours, 65_536)
        assert child.wait(timeout=PATIENCE_SECONDS) == 0
    finally:
        child.kill()
        child.wait()
        os.close(ours)
