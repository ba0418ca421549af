"""`commonhold session attach` at a real terminal: with keys, sizes, signals, and killed in the middle."""

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from tests.e2e.cli_driver import Call, call, git
from tests.e2e.terminal import Person, at_terminal
from tests.e2e.test_sessions import Office, opened
from tests.patience import until

from commonhold import ManagedSessionRecord, Sandbox, SessionAction, SessionState

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc"),
]
IS_THERE = "echo is-$((40 + 2))-there\r"
"""Keys whose echo differs from what they print."""


CLAUDE = """#!/bin/sh
[ "$1" != -p ] || { echo "begun: $*"; exec sleep 600; }
echo "opened: $*"
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("attach")
    (folder / "bin").mkdir()
    (folder / "bin/claude").write_text(CLAUDE, encoding="utf-8")
    (folder / "bin/claude").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder / "bin"), prepend=os.pathsep)
        with opened(folder) as office:
            yield office


@pytest.fixture
def office(shared: Office) -> Iterator[Office]:
    yield shared
    shared.cancel_all()
    until(lambda: not shared.processes(), what="processes of sessions end")


def attach(office: Office, *words: str, name: str = "ann") -> AbstractContextManager[Person]:
    return at_terminal("session", "attach", "--agent", name, *words, cwd=office.root, SHELL="/bin/sh", PS1="$ ")


def paused(office: Office, line: str = "echo begun; {go}; touch agent", **more: object) -> str:
    session = office.start(line, **more)
    office.until_printed(session, "begun")
    office.hold.change_managed_session(session, SessionAction.PAUSE)
    office.until(session, SessionState.PAUSED)
    return session


def attached(office: Office, session: str) -> ManagedSessionRecord:
    until(lambda: office.record(session).attached, what=f"a person is attached to {session}")
    return office.record(session)


def test_a_person_works_in_a_running_session_and_its_agent_goes_on(office: Office) -> None:
    session = office.start("echo begun; {go}; cat mine")
    office.until_printed(session, "begun")
    with attach(office, session) as person:
        person.sees(f"{session} is being paused")
        person.sees("$ ")
        person.types("tty; echo me $COMMONHOLD_AGENT, port $COMMONHOLD_PORT\r")
        person.sees(f"me agent:{session}, port 2")
        person.types("pwd\r")
        person.sees(str(office.workspaces(session)[0]))
        (view,) = office.hold.managed_sessions(session).sessions
        assert (view.record.attached, view.is_supervised) == ("ann", True)
        person.types("echo from ann > mine; exit 3\r")
        person.sees("exit status 3")
        person.sees(f"commonhold session resume {session}")
        assert person.ended() == 0
        assert person.settings() == person.before
    record = office.record(session)
    assert (record.state, record.attempts[-1].turns, record.attached) == (SessionState.PAUSED, 2, "")
    assert f"me agent:{session}" in office.log(session)
    office.hold.change_managed_session(session, SessionAction.RESUME)
    office.go()
    office.until(session, SessionState.AWAITING_REVIEW)
    assert "from ann" in office.log(session)
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:mine")


def test_a_known_agent_resumes_its_own_conversation(office: Office) -> None:
    (view,) = office.hold.start_managed_session("fix it", agent="claude").sessions
    session = view.record.id
    office.until_printed(session, "begun")
    (conversation,) = re.findall(r"--session-id (\S+)", office.log(session))
    with attach(office, session) as person:
        person.sees(f"opened: --resume {conversation}\r\n")
        assert person.ended() == 0
    assert office.record(session).state is SessionState.PAUSED


def test_list_and_show_name_the_person(office: Office, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    session = paused(office)
    with attach(office, session) as person:
        attached(office, session)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(office.root)
            listed = call(capsysbinary, patch, "session", "list").text
            shown = call(capsysbinary, patch, "session", "show", session).text
            logged = call(capsysbinary, patch, "log", "--limit", "1").text
        person.types("exit\r")
        assert person.ended() == 0
    assert re.search(rf"{session} +attached ", listed), listed
    assert "ann works on it at a terminal" in shown
    assert f"{session} goes on at the terminal of ann" in logged, logged


def test_keys_and_sizes_reach_the_command(office: Office) -> None:
    script = (
        "stty size; until [ \"$(stty size)\" = '50 132' ]; do sleep 0.05; done; echo resized; "
        "trap 'echo caught; exit 0' INT; echo ready; while :; do sleep 0.05; done"
    )
    with attach(office, paused(office), "--", "sh", "-c", script) as person:
        person.sees("24 80")
        person.resize(50, 132)
        person.sees("resized")
        person.sees("ready")
        person.types("\x03")
        person.sees("caught")
        assert person.ended() == 0
        assert person.settings() == person.before


def test_every_byte_is_in_the_log(office: Office) -> None:
    session = paused(office)
    command = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 400 + b'END'); sys.stdout.flush()"
    with attach(office, session, "--", "sh", "-c", f'stty raw; exec {sys.executable} -c "{command}"') as person:
        person.sees("END")
        assert person.ended() == 0
    log = office.daemon.state / "sessions" / session / "1.log"
    assert bytes(range(256)) * 400 + b"END" in log.read_bytes()


def test_what_is_pasted_waits_for_a_command_that_prints_first(office: Office) -> None:
    session = paused(office)
    waits = f"until [ -e {office.gate} ]; do sleep 0.05; done"
    script = f"stty raw -echo; echo ready; {waits}; yes | head -c 300000; echo END; head -c 20000 | wc -c"
    with attach(office, session, "--", "sh", "-c", script) as person:
        person.sees("ready")
        person.types("x" * 20_000)
        office.go()
        person.sees("END")
        person.sees("20000")
        assert person.ended() == 0


def test_with_finish_its_checks_decide(office: Office) -> None:
    session = paused(office, checks=("test -e mine && echo checked",))
    with attach(office, session, "--finish", "--", "touch", "mine") as person:
        person.sees("1 check to pass")
        assert person.ended() == 0
    record = office.record(session)
    assert (record.state, record.note) == (
        SessionState.AWAITING_REVIEW,
        "the command at the terminal ended; 1 check passed",
    )
    office.until_clear(session)
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:mine")


@pytest.mark.parametrize("command", [("false",), ("no-such-program",)], ids=["fails", "is-not-there"])
def test_with_finish_a_command_that_fails_only_pauses(office: Office, command: tuple[str, ...]) -> None:
    session = paused(office)
    with attach(office, session, "--finish", "--", *command) as person:
        assert person.ended() == 0
    assert office.record(session).state is SessionState.PAUSED
    assert office.workspaces(session)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_pauses_the_session_and_gives_the_terminal_back(office: Office, number: signal.Signals) -> None:
    session = paused(office)
    with attach(office, session) as person:
        person.sees("$ ")
        person.types(IS_THERE)
        person.sees("is-42-there")
        person.process.send_signal(number)
        assert person.ended() == 0
        assert person.settings() == person.before
    assert office.record(session).state is SessionState.PAUSED
    assert office.processes(session) == ()


def test_a_closed_terminal_pauses_the_session(office: Office) -> None:
    session = paused(office)
    with attach(office, session) as person:
        person.sees("$ ")
        person.types("touch mine; sleep 600\r")
        until(lambda: any((each / "mine").exists() for each in office.workspaces(session)), what="it works")
        person.close()
        office.until(session, SessionState.PAUSED)
        person.process.wait()
    record = office.record(session)
    assert record.note == "the terminal was closed"
    assert office.processes(session) == ()
    assert (office.workspaces(session)[0] / "mine").exists()


def test_killed_it_leaves_no_process_and_loses_no_work(office: Office) -> None:
    session = paused(office, "echo begun; {go}")
    with attach(office, session) as person:
        person.sees("$ ")
        person.types(f"echo 1 > mine; (setsid sleep 600 &); {IS_THERE}")
        person.sees("is-42-there")
        record = office.record(session)
        assert person.settings() != person.before
        person.process.kill()
        until(lambda: not office.processes(session, record.fence), what="the processes end")
        until(lambda: person.settings() == person.before, what="the terminal is as before")
    office.hold.break_lease(record.lease_id, reason="it is dead")
    office.go()
    until(lambda: office.record(session).attempt == 2, what="the next attempt begins")
    office.until(session, SessionState.AWAITING_REVIEW)
    git(office.root, "cat-file", "-e", f"refs/commonhold/sessions/{session}/1:mine")


def test_pausing_ends_the_work_at_the_terminal(office: Office) -> None:
    session = paused(office)
    with attach(office, session) as person:
        person.sees("$ ")
        attached(office, session)
        office.hold.change_managed_session(session, SessionAction.PAUSE, note="bob needs it")
        person.sees("bob needs it")
        assert person.ended() == 0
    assert office.record(session).state is SessionState.PAUSED


def test_of_two_persons_one_attaches(office: Office) -> None:
    session = office.start("echo begun; {go}")
    office.until_printed(session, "begun")
    with attach(office, session, name="ann") as ann, attach(office, session, name="bob") as bob:
        record = attached(office, session)
        winner, loser = (ann, bob) if record.attached == "ann" else (bob, ann)
        loser.sees(f"{record.attached} is attached to {session}")
        assert loser.ended() == 1
        winner.types(IS_THERE)
        winner.sees("is-42-there")
        winner.types("exit\r")
        assert winner.ended() == 0
    record = office.record(session)
    assert (record.state, record.attempts[-1].turns) == (SessionState.PAUSED, 2)


def test_one_that_was_resumed_is_refused(office: Office) -> None:
    (office.root / "commonhold.toml").write_text("max_sessions = 1\n", encoding="utf-8")
    try:
        session = paused(office)
        blocker = office.start("echo begun; {go}")
        office.until(blocker, SessionState.RUNNING)
        office.hold.change_managed_session(session, SessionAction.RESUME)
        with attach(office, session) as person:
            person.sees("was resumed")
            assert person.ended() == 1
        office.hold.change_managed_session(blocker, SessionAction.CANCEL, note="enough")
        office.until(session, SessionState.RUNNING)
    finally:
        (office.root / "commonhold.toml").unlink()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_in_a_sandbox_the_person_is_confined_as_the_agent_is(office: Office) -> None:
    session = paused(office, sandbox=Sandbox.BUBBLEWRAP)
    with attach(office, session, "--", "bash", "--norc", "--noediting", "-i") as person:
        person.sees("$ ")
        person.types("touch /etc/no; touch mine && ls -A ~ | wc -l\r")
        person.sees("Read-only file system")
        person.types("sh -c 'echo is-$((40 + 1))-there; exec sleep 600'\r")
        person.sees("is-41-there")
        person.types("\x03")
        person.sees("^C")
        person.sees("$ ")
        person.types(IS_THERE)
        person.sees("is-42-there")
        person.types("exit\r")
        assert person.ended() == 0
    assert (office.workspaces(session)[0] / "mine").exists()
    with attach(office, session, "--", "bash", "-c", "echo up; sleep 600") as person:
        person.sees("up")
        os.kill(person.process.pid, signal.SIGTERM)
        assert person.ended() == 0
    assert office.processes(session) == ()


def test_without_a_terminal_it_is_refused(root: object, run: Call) -> None:  # noqa: ARG001 - where it runs
    refused = run("session", "attach", "s1")
    assert refused.status == 2
    assert "can be attached to a terminal only" in refused.err
    assert "session logs -f s1" in refused.err


def test_the_store_of_a_supervisor_is_that_of_the_settings(office: Office) -> None:
    with attach(office, "s1", "--store", "redis://127.0.0.1:1") as person:
        person.sees("COMMONHOLD_STORE=redis://127.0.0.1:1")
        assert person.ended() == 2
