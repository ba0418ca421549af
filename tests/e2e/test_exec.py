"""`commonhold exec`: what a shell command may write while it runs, and what becomes of what it wrote."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT, make_repository
from tests.e2e.daemon_process import Serving, kept, place, serving
from tests.patience import until

from commonhold.adapters.daemon_place import http_address
from commonhold.adapters.sandbox.probing import offered
from commonhold.client.launcher import launching
from commonhold.domain.changeset import Changeset, Edit, Op
from commonhold.domain.events import Committed
from commonhold.server.git_homes import programs

pytestmark = pytest.mark.slow
LISTEN = """import signal, sys, time
def told(number, _):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM:
        sys.exit(9)
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(each, told)
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


class Shell:
    """Shell commands of agents in one repository."""

    def __init__(self, daemon: Serving) -> None:
        self.daemon = daemon
        self.root = daemon.root

    def words(self, *command: str, agent: str = "ann", when_down: str = "block") -> list[str]:
        return launching(http_address(str(self.daemon.state)), agent, when_down, command)

    def run(self, *command: str, cwd: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        words = self.words(*command, **more)
        return subprocess.run(words, cwd=self.root / cwd, capture_output=True, text=True, check=False)

    def line(self, line: str, cwd: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return self.run("bash", "-c", line, cwd=cwd, **more)

    def commits(self) -> list[tuple[str, list[str], str]]:
        with self.daemon.session() as session:
            events = [each.event for each in session.log(after=0, limit=1000)]
        return [
            (event.holder, [file.path for file in event.files], event.unadmitted)
            for event in events
            if isinstance(event, Committed)
        ]


@pytest.fixture(scope="module")
def module_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("exec") / "work"
    for path, text in {
        "src/prices.py": "def total(items):\n    return sum(items)\n",
        "src/use.py": "from src.prices import total\n\n\ndef show():\n    return total([1])\n",
        "lib/other.py": "def other():\n    return 1\n",
        "README.md": "# Work\n",
        ".gitignore": "build/\n*.log\n.pytest_cache/\n.venv/\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run((*GIT, *words), cwd=root, check=True)
    (root / "build").mkdir()
    return root


@pytest.fixture(scope="module")
def served(module_root: Path) -> Iterator[Shell]:
    with serving(module_root) as daemon:
        yield Shell(daemon)


@pytest.fixture
def shell(served: Shell) -> Iterator[Shell]:
    yield served
    for agent in ("ann", "bob"):
        with served.daemon.session(agent) as session:
            for lease in session.leases(holder=agent):
                session.release(lease.id)
    subprocess.run((*GIT, "checkout", "-qf", "."), cwd=served.root, check=True)
    subprocess.run((*GIT, "clean", "-qfd"), cwd=served.root, check=True)


def test_what_a_command_plainly_writes_it_may_and_it_is_recorded_as_its_sessions(shell: Shell) -> None:
    done = shell.line("sed -i 's/sum(items)/sum(items, 0)/' src/prices.py && echo note > src/new.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert shell.commits()[-1] == ("ann", ["src/new.txt", "src/prices.py"], "")
    with shell.daemon.session() as session:
        assert session.leases() == ()


def test_elsewhere_it_writes_nothing_and_is_told_where_it_could(shell: Shell) -> None:
    wrong = (sys.executable, "-c", "open('src/prices.py', 'a').write('x')")
    done = shell.run(*wrong, agent="newcomer")
    assert done.returncode == 1
    assert "PermissionError" in done.stderr
    assert "it could write in build/. If that is why it failed, next: commonhold acquire PATH" in done.stderr
    assert "it could write" not in shell.run(*wrong, agent="newcomer").stderr, "once is enough"
    acquired = re.search(r"next: commonhold (acquire PATH --agent \S+), or", done.stderr)
    assert acquired
    words = acquired[1].replace("PATH", "lib/").split()
    told = shell.run("env", "COMMONHOLD_DAEMON=on", sys.executable, "-m", "commonhold", *words, agent="newcomer")
    assert told.returncode == 0, told.stderr
    assert shell.run(sys.executable, "-c", "open('lib/new.py', 'a').close()", agent="newcomer").returncode == 0
    with shell.daemon.session("newcomer") as session:
        for lease in session.leases(holder="newcomer"):
            session.release(lease.id)
    assert "x" not in (shell.root / "src/prices.py").read_text().splitlines()


@pytest.mark.parametrize("line", ["exec nosuchprogram", "kill -9 $$"])
def test_what_did_not_fail_for_want_of_a_place_is_told_of_none(shell: Shell, line: str) -> None:
    assert "it could write" not in shell.line(line).stderr


def test_where_its_session_holds_something_it_writes_beside_it(shell: Shell) -> None:
    with shell.daemon.session() as session:
        session.acquire("src/prices.py#total")
    done = shell.run(sys.executable, "-c", "open('src/made.txt', 'a').write('x')")
    assert (done.returncode, done.stderr) == (0, "")
    assert shell.commits()[-1] == ("ann", ["src/made.txt"], "")


def test_a_virtual_environment_that_git_ignores_can_be_made(shell: Shell) -> None:
    done = shell.run(sys.executable, "-m", "venv", "--without-pip", "build/../.venv")
    assert (done.returncode, done.stderr) == (0, "")
    assert (shell.root / ".venv/pyvenv.cfg").exists()
    shutil.rmtree(shell.root / ".venv")


def test_what_git_ignores_is_for_everybody(shell: Shell) -> None:
    before = shell.commits()
    assert shell.run("touch", "build/a", "build/b").returncode == 0
    assert shell.line("python3 -c \"open('build/c', 'w')\"").returncode == 0
    assert shell.commits() == before


def test_what_another_holds_is_refused_before_the_command_runs(shell: Shell) -> None:
    with shell.daemon.session("bob") as session:
        session.acquire("src/use.py#show", task="bob's work")
    done = shell.line("touch build/ran; sed -i s/1/2/ src/use.py")
    assert done.returncode == 1
    assert 'src/use.py is held by bob ("bob\'s work")' in done.stderr.replace("#show", "")
    assert "Next: " in done.stderr
    assert not (shell.root / "build/ran").exists()


def test_beside_what_another_holds_it_does_not_get_at_it(shell: Shell) -> None:
    with shell.daemon.session("bob") as session:
        session.acquire("src/use.py", task="bob's work")
    before = (shell.root / "src/use.py").read_bytes()
    shell.line("echo x >> src/prices.py; f=use; echo x >> src/$f.py; rm -f src/$f.py")
    assert (shell.root / "src/use.py").read_bytes() == before


@pytest.mark.parametrize("what", ["log", "state.db", "http.sock"])
def test_the_state_is_never_written(shell: Shell, what: str) -> None:
    shell.line("echo x > new.txt")  # what the state is kept in is all there from the first record on
    before = sorted(path.name for path in shell.daemon.state.iterdir())
    done = shell.line(f"d=.git/commonhold; rm -rf $d/{what}; echo x > $d/{what}", cwd="src")
    done = shell.line(f"d=.git/commonhold; rm -rf $d/{what}; echo x > $d/{what}")
    assert done.returncode != 0
    assert sorted(path.name for path in shell.daemon.state.iterdir()) == before


@pytest.mark.skipif(not offered().can_mask, reason="only who may mount can have it")
def test_what_keeps_an_agent_to_all_this_stays_where_the_root_is_given(shell: Shell) -> None:
    for path in (".claude/commonhold-shell", ".gemini/settings.json"):
        (shell.root / path).parent.mkdir()
        (shell.root / path).write_text("{}\n")
    subprocess.run((*GIT, "add", "-f", ".gemini"), cwd=shell.root, check=True)
    subprocess.run((*GIT, "commit", "-qm", "settings"), cwd=shell.root, check=True)
    line = "echo x > README.md; for f in .claude/commonhold-$(echo shell) .gemini/settings.json; do echo x > $f; done"
    shell.line(f"{line}; rm -rf .claude; mv .claude gone; touch .claude/beside")
    assert (shell.root / ".claude/commonhold-shell").read_text() == "{}\n"
    assert (shell.root / ".claude/beside").exists()
    assert (shell.root / ".gemini/settings.json").read_text() == "x\n", "git has it, and changes it"


def test_names_that_no_key_can_have_are_written_and_not_told(shell: Shell) -> None:
    odd = b"build/../lib/\xff.txt"
    (Path(os.fsdecode(os.fsencode(shell.root) + b"/" + odd))).write_bytes(b"x")
    done = shell.line("echo x > $'lib/two\\nlines'; echo x > lib/one; rm lib/*.txt; ls lib")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "one\nother.py\ntwo\nlines\n")
    assert shell.commits()[-1] == ("ann", ["lib/one"], "")


def test_what_could_not_have_been_committed_is_recorded_and_left_for_review(shell: Shell) -> None:
    done = shell.line("echo 'def broken(:' >> src/prices.py")
    assert done.returncode == 0
    assert "recorded, but would have been refused (PARSE_INVALID)" in done.stderr
    assert "commonhold review show found-" in done.stderr
    assert "broken" in (shell.root / "src/prices.py").read_text()
    holder, paths, unadmitted = shell.commits()[-1]
    assert (holder, paths) == ("ann", ["src/prices.py"])
    assert unadmitted.startswith("PARSE_INVALID")


def test_exit_codes_and_streams_are_the_commands(shell: Shell) -> None:
    done = subprocess.run(shell.words("cat"), cwd=shell.root, input=b"\0\xff", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"\0\xff")
    assert [shell.line(line).returncode for line in ("exit 7", "kill -KILL $$", "nosuchcommand")] == [7, 137, 127]
    assert shell.run("/nosuchcommand").returncode == 127
    assert shell.run("/").returncode == 126


def test_what_is_closed_early_ends_the_command_as_it_would_without_us(shell: Shell) -> None:
    done = shell.line("yes | head -1; echo ${PIPESTATUS[0]}")
    assert done.stdout == "y\n141\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command(shell: Shell, number: signal.Signals) -> None:
    words = shell.words(sys.executable, "-c", LISTEN)
    with subprocess.Popen(words, cwd=shell.root, stdout=subprocess.PIPE, start_new_session=True, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        assert child.stdout.readline() == f"{number.name}\n"
        child.terminate()
        assert (child.stdout.readline(), child.wait()) == ("SIGTERM\n", 9)


def test_a_launcher_that_is_killed_takes_the_command_along_and_its_work_is_recorded(shell: Shell) -> None:
    line = "echo x > lib/half.txt; echo $$; exec sleep 600"
    with subprocess.Popen(shell.words("bash", "-c", line), cwd=shell.root, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        inner = int(child.stdout.readline())
        child.kill()
    until(lambda: not Path(f"/proc/{inner}/cmdline").exists() or not Path(f"/proc/{inner}/cmdline").read_bytes())
    assert shell.run("true").returncode == 0
    assert shell.commits()[-1] == ("ann", ["lib/half.txt"], "")


@contextmanager
def running(shell: Shell, line: str, agent: str = "ann") -> Iterator[Callable[[], object]]:
    """A command that goes on until it is told to end, or the block is over."""
    words = shell.words("bash", "-c", f"{line}; read _", agent=agent)
    with subprocess.Popen(words, cwd=shell.root, stdin=subprocess.PIPE) as child:
        yield lambda: child.communicate(b"\n")


@pytest.mark.parametrize("is_killed", [False, True])
def test_no_daemon_ends_while_a_command_runs(tmp_path: Path, *, is_killed: bool) -> None:
    """Its git would find nobody, and its end nobody to tell."""
    root, beside = make_repository(tmp_path / "work"), tmp_path / "beside"
    beside.mkdir()
    let_go = kept(root)
    with serving(root, idle_seconds=0.1) as daemon:
        waiting = f"touch {beside}/begun; for each in $(seq 600); do [ -e {beside}/go ] && break; sleep 0.05; done"
        words = Shell(daemon).words("bash", "-c", f"{waiting}; git status")
        with subprocess.Popen(words, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as shell:
            until((beside / "begun").exists)
            let_go()
            with pytest.raises(subprocess.TimeoutExpired):
                daemon.process.wait(timeout=1.5)
            if is_killed:
                shell.kill()
            else:
                (beside / "go").touch()
            assert (shell.communicate(timeout=60)[1], shell.returncode) == (b"", -9 if is_killed else 0)
        assert daemon.process.wait(timeout=60) == 0


def test_inside_of_another_command_it_may_write_what_both_may(shell: Shell) -> None:
    """An agent that a shell command of an agent starts has shell commands, too."""
    inner = shell.words("bash", "-c", "echo x > build/inner; f=other; echo x > lib/$f.py", agent="bob")
    done = shell.line(f"echo x > lib/mine.txt; {shlex.join(inner)}")
    assert done.returncode == 1
    assert "lib/other.py: Permission denied" in done.stderr
    assert (shell.root / "build/inner").read_text() == "x\n"


def test_two_at_once_are_each_told_their_own(shell: Shell) -> None:
    one = running(shell, "echo a > src/ann.txt")
    with one as end_one, running(shell, "echo b > lib/bob.txt", "bob") as end_other:
        until(lambda: (shell.root / "src/ann.txt").exists() and (shell.root / "lib/bob.txt").exists())
        end_one()
        end_other()
    assert shell.commits()[-2:] == [("ann", ["src/ann.txt"], ""), ("bob", ["lib/bob.txt"], "")]


def test_what_another_commits_meanwhile_is_not_taken_for_the_commands(shell: Shell) -> None:
    edit = Edit(Op.CREATE_FILE, "file:src/bobs.txt", text="his")
    with running(shell, "touch src/own.txt") as end:
        until((shell.root / "src/own.txt").exists)
        with shell.daemon.session("bob") as session:
            assert session.commit(Changeset((edit,))).outcome == "committed"
        end()
    assert shell.commits()[-2:] == [("bob", ["src/bobs.txt"], ""), ("ann", ["src/own.txt"], "")]


def test_what_would_fail_midway_is_refused_before_it_begins(shell: Shell) -> None:
    with shell.daemon.session("bob") as session:
        session.acquire("src/", task="bob's work")
    done = shell.line("touch build/begun; f=x; echo > src/sub/new.txt")
    assert (done.returncode, (shell.root / "build/begun").exists()) == (1, False)
    assert 'held by bob ("bob\'s work")' in done.stderr


def test_git_goes_on_as_ever(shell: Shell) -> None:
    done = shell.line(
        "echo more >> README.md && git add README.md && git -c user.name=t -c user.email=t@x commit -qm more"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert shell.run("git", "status", "--short").stdout == ""
    assert shell.run("git", "log", "-1", "--format=%s").stdout == "more\n"


def test_temporary_files_have_a_place(shell: Shell) -> None:
    done = shell.run(sys.executable, "-c", "import tempfile; tempfile.NamedTemporaryFile()")
    assert (done.returncode, done.stderr) == (0, "")


def test_where_settings_say_so_commands_are_only_watched_or_let_be(shell: Shell) -> None:
    (shell.root / "commonhold.toml").write_text('shell = "watch"\n')
    assert shell.line("f=lib/w.txt; echo x > $f").returncode == 0
    assert ("ann", ["lib/w.txt"], "") in shell.commits()
    (shell.root / "commonhold.toml").write_text('shell = "off"\n')
    before = shell.commits()
    assert shell.line("f=lib/o.txt; echo x > $f").returncode == 0
    assert shell.commits() == before


def test_people_call_it_by_its_name(shell: Shell) -> None:
    words = [sys.executable, "-m", "commonhold", "-C", str(shell.root / "src"), "--agent", "ann", "exec", "--"]
    done = subprocess.run([*words, "bash", "-c", "pwd; exit 3"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, f"{shell.root}/src\n")


@contextmanager
def answering(place: Path, answer: Callable[[bytes], bytes]) -> Iterator[None]:
    """A server that answers each request with these bytes."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                request = connection.recv(65536)
                connection.sendall(answer(request))

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def launched(place: Path, when_down: str, *command: str) -> subprocess.CompletedProcess[str]:
    words = launching(str(place / "s"), "ann", when_down, command)
    environment = os.environ | {"PATH": os.environ["PATH"]}
    return subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)


RUBBISH = {
    "nothing": b"",
    "no HTTP": b"\0\1\2",
    "not found": b"HTTP/1.0 404 Not Found\r\n\r\nthere is nothing at /shell/begin\n",
    "no JSON": b"HTTP/1.0 200 OK\r\n\r\n<html>",
    "no object": b"HTTP/1.0 200 OK\r\n\r\n[1]",
    "another version": b'HTTP/1.0 200 OK\r\n\r\n{"ticket": "t"}',
    "a fault": b'HTTP/1.0 409 Conflict\r\n\r\n{"message": "it cannot be", "code": "X", "hint": "do that"}',
    "not UTF-8": b'HTTP/1.0 200 OK\r\n\r\n{"a": "\xff"}',
    "deep": b"HTTP/1.0 200 OK\r\n\r\n" + b"[" * 100_000,
}


@pytest.mark.parametrize("what", RUBBISH)
def test_a_server_that_talks_rubbish_lets_nothing_run(tmp_path: Path, what: str) -> None:
    with answering(tmp_path / "s", lambda _: RUBBISH[what]):
        done = launched(tmp_path, "block", "touch", "ran")
    assert done.returncode == 4
    assert done.stderr.startswith("commonhold: the command was not run: ")
    assert "Next: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    words = launching(str(tmp_path / "s"), "ann", "block", ["touch", "ran"])
    leave = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    done = subprocess.run(
        ("bash", "-c", leave, "bash", *words), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert "the folder that it was to run in cannot be used (No such file or directory). Next: " in done.stderr
    assert "Traceback" not in done.stderr


def test_where_nobody_answers_it_is_run_only_if_that_was_chosen(tmp_path: Path) -> None:
    with place(tmp_path):
        blocked = launched(tmp_path, "block", "touch", "ran")
        assert (blocked.returncode, (tmp_path / "ran").exists()) == (4, False)
        allowed = launched(tmp_path, "allow", "bash", "-c", "touch ran; exit 5")
    assert (allowed.returncode, (tmp_path / "ran").exists()) == (5, True)
    assert "without being watched over" in allowed.stderr


def test_an_end_that_cannot_be_told_is_said_and_changes_no_exit_code(tmp_path: Path) -> None:
    begun = {
        "ticket": "t",
        "sandbox": "",
        "env": {"A": "é"},
        "protected": [],
        "writable": [],
        "masked": [],
        "prefix": [],
    }
    answer = b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(begun).encode()

    def answers(request: bytes) -> bytes:
        return answer if b"/shell/begin" in request else b""

    with answering(tmp_path / "s", answers):
        done = launched(tmp_path, "block", "bash", "-c", "echo $A; exit 6")
    assert (done.returncode, done.stdout) == (6, "é\n")
    assert "not recorded yet" in done.stderr


def test_git_that_was_run_is_not_said_not_to_be(tmp_path: Path) -> None:
    """Whoever is told so calls it again."""

    def answers(request: bytes) -> bytes:
        return b"" if b"/git/end" in request else b'HTTP/1.0 200 OK\r\n\r\n{"env": {}, "after": "t"}'

    (tmp_path / "a").write_text("a\n")
    (tmp_path / "b").write_text("b\n")
    (tmp_path / "state").mkdir()
    first = programs(str(tmp_path / "state"))
    environment = os.environ | {
        "PATH": f"{first}{os.pathsep}{os.environ['PATH']}",
        "COMMONHOLD_SOCKET": str(tmp_path / "s"),
    }
    words = ("git", "diff", "--no-index", "--stat", "a", "b")
    with answering(tmp_path / "s", answers):
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1 file changed" in done.stdout
    assert done.stderr.startswith("commonhold: git was run, and nobody could be told that it has ended: ")
    assert "Next: " in done.stderr
