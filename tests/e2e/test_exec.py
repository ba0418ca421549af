"""`commonhold exec`: what a shell command is kept from while it runs, and what becomes of what it wrote."""

import itertools
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
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT, make_repository
from tests.e2e.daemon_process import Serving, kept, place, serving
from tests.patience import until
from tests.processes import is_alive

from commonhold.agents.git.session_indexes import programs
from commonhold.client.launcher import launching
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.events import Committed
from commonhold.kernel.purposes import HELD_FOR_TURN
from commonhold.kernel.texts import NOBODY
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.sandbox.probing import offered

pytestmark = pytest.mark.slow
can_mount = pytest.mark.skipif(not offered().is_enforced, reason="nothing can be mounted here")
HOLDER = "claude:26baef9a-0000-4000-8000-000000000000"
SHORT = "claude:26baef9a"
BESIDE = pytest.mark.parametrize("key", ["", "README.md"], ids=["alone", "beside others"])
NUMBERS = itertools.count()
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
        self.ann = "ann"

    def words(self, *command: str, agent: str = "ann", when_down: str = "block") -> list[str]:
        holder = self.ann if agent == "ann" else agent
        return launching(http_address(str(self.daemon.state)), holder, when_down, command)

    def run(self, *command: str, cwd: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        words = self.words(*command, **more)
        return subprocess.run(words, cwd=self.root / cwd, capture_output=True, text=True, check=False)

    def line(self, line: str, cwd: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return self.run("bash", "-c", line, cwd=cwd, **more)

    def commits(self) -> list[tuple[str, list[str], str]]:
        with self.daemon.session() as session:
            events = [each.event for each in session.log(after=0, limit=100_000)]
        return [
            ("ann" if event.holder == self.ann else event.holder, [file.path for file in event.files], event.unadmitted)
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
    served.ann = f"ann-{next(NUMBERS)}"  # one that has read nothing, and is told of nothing
    yield served
    for agent in (served.ann, "bob", HOLDER, "claude:s", "claude:s/part"):
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


ORDINARY = {
    "a program": f"{sys.executable} -c \"open('src/prices.py', 'a').write('# x')\"",
    "a loop": "for f in src/*.py; do sed -i '$a # x' $f; done",
    "find and xargs": "find src -name '*.py' | xargs sed -i '$a # x'",
    "a cache": "mkdir -p .ruff_cache/0.1 && echo x > .ruff_cache/0.1/a && mv .ruff_cache/0.1/a .ruff_cache/b",
    "an archive": "tar cf x.tar src",
    "a folder": "mkdir -p deep/down && mv lib/other.py deep/down/ && ln deep/down/other.py deep/link",
    "what is above": 'mkdir "$PWD.beside" && rmdir "$PWD.beside"',
    "a temporary file": 'rm "$(mktemp)"',
}


@pytest.mark.parametrize(
    ("words", "intent"),
    [
        (("sed", "-i", "s/items/them/", "src/prices.py"), "$ sed -i s/items/them/ src/prices.py"),
        (("bash", "-c", "true &&\n  echo 'a b' >> README.md"), "$ true && echo 'a b' >> README.md"),
    ],
)
def test_what_it_was_run_for_is_the_whole_command(shell: Shell, words: tuple[str, ...], intent: str) -> None:
    assert shell.run(*words).returncode == 0
    with shell.daemon.session() as session:
        events = [each.event for each in session.log(after=0, limit=100_000)]
    assert [event.intent for event in events if isinstance(event, Committed)][-1] == intent


def test_a_here_document_of_a_shell_is_a_command(shell: Shell) -> None:
    with shell.daemon.session("bob") as session:
        session.acquire("src/use.py#show", task="bob's work")
    done = shell.line("bash <<'END'\ntouch build/ran\nsed -i s/1/2/ src/use.py\nEND\n")
    assert (done.returncode, "bob holds src/use.py" in done.stderr) == (1, True), done.stderr
    assert not (shell.root / "build/ran").exists()


def test_our_command_is_there_and_acts_for_the_session(shell: Shell) -> None:
    line = "commonhold acquire lib/ && commonhold leases && commonhold exec -- git commit -qm x --allow-empty"
    words = ("env", "-u", "COMMONHOLD_AGENT", f"PATH={os.defpath}", *shell.words("bash", "-c", line))
    done = subprocess.run(words, cwd=shell.root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("ann") == 1


@pytest.mark.parametrize(
    ("call", "holder"),
    [
        ("commonhold acquire lib/", ""),
        ("COMMONHOLD_AGENT=bob commonhold acquire lib/", "bob"),
        ("commonhold acquire lib/ --agent bob", "bob"),
    ],
)
def test_a_name_that_the_agents_program_was_started_with_is_not_its_sessions(
    shell: Shell, call: str, holder: str
) -> None:
    done = shell.run("env", "COMMONHOLD_AGENT=person", *shell.words("bash", "-c", call))
    assert done.returncode == 0, done.stderr
    with shell.daemon.session() as session:
        assert [lease.holder for lease in session.leases() if "file:lib/" in lease.keys] == [holder or shell.ann]


@pytest.mark.parametrize("what", ORDINARY)
def test_whoever_is_alone_writes_what_it_likes(shell: Shell, what: str) -> None:
    done = shell.line(ORDINARY[what])
    assert (done.returncode, done.stderr) == (0, "")


def test_whoever_is_alone_is_not_restricted_at_all(shell: Shell) -> None:
    line = "grep NoNewPrivs /proc/self/status; readlink /proc/self/ns/mnt /proc/self/ns/user; echo $TMPDIR"
    bare = subprocess.run(("bash", "-c", line), cwd=shell.root, capture_output=True, text=True, check=True)
    assert shell.line(line).stdout == bare.stdout


def test_what_nobody_could_tell_from_its_words_is_its_sessions_too(shell: Shell) -> None:
    assert shell.run(sys.executable, "-c", "open('src/made.txt', 'a').write('x')").stderr == ""
    assert shell.commits()[-1] == ("ann", ["src/made.txt"], "")


@contextmanager
def held(shell: Shell, key: str, agent: str = HOLDER) -> Iterator[None]:
    """What another holds while the block lasts."""
    with shell.daemon.session(agent) as session:
        lease = session.acquire(key, task="bob's work", ttl_seconds=540).lease
        assert lease is not None
        yield
        session.release(lease.id)


@can_mount
@pytest.mark.parametrize("what", ORDINARY)
def test_beside_others_all_but_their_files_can_be_written(shell: Shell, what: str) -> None:
    with held(shell, "README.md"):
        done = shell.line(ORDINARY[what])
    assert (done.returncode, done.stderr) == (0, "")


OVER = {
    "in place": "echo x >> src/$f.py",
    "replaced": "sed -i s/1/2/ src/$f.py",
    "renamed over": "echo x > src/new && mv -f src/new src/$f.py",
    "removed": "rm -f src/$f.py",
    "moved away": "mv src/$f.py lib/",
    "by its folder": "cd src && echo x > $f.py",
    "with its folder": "rm -rf s${f/use/rc}",
}


@can_mount
@pytest.mark.parametrize("what", OVER)
def test_what_another_holds_stays_and_each_time_it_is_said_why(shell: Shell, what: str) -> None:
    before = (shell.root / "src/use.py").read_bytes()
    with held(shell, "src/use.py#show"):
        for _ in range(2):
            done = shell.line(f"f=use; {OVER[what]}")
            assert done.returncode != 0
            assert f'- {SHORT} holds src/use.py for "bob\'s work", for at most 9 min more' in done.stderr
            assert "commonhold acquire --wait 90 src/use.py -- true" in done.stderr
    assert (shell.root / "src/use.py").read_bytes() == before


@can_mount
def test_the_step_that_is_named_waits_and_then_the_command_works(shell: Shell) -> None:
    line = "f=use; echo x >> src/$f.py"
    with held(shell, "src/use.py"):
        step = shell.line(line).stderr.splitlines()[-1].rpartition(": ")[2].split()
        assert step[0] == "commonhold"
        environment = os.environ | {"COMMONHOLD_AGENT": shell.ann, "COMMONHOLD_DAEMON": "on"}
        waiting = subprocess.Popen([sys.executable, "-m", *step], cwd=shell.root, env=environment)
    assert waiting.wait() == 0
    assert shell.line(line).returncode == 0


@can_mount
def test_nothing_is_said_of_what_others_hold_if_that_is_not_why(shell: Shell) -> None:
    with held(shell, "src/use.py"):
        for line in ("f=x; echo x > src/$f.txt", "grep nothing src/use.py", "exec nosuchprogram", "python3 -c pass"):
            assert "others hold" not in shell.line(line).stderr


@can_mount
def test_of_a_folder_that_another_holds_only_what_git_ignores_can_be_written(shell: Shell) -> None:
    (shell.root / "src/build").mkdir()
    with held(shell, "src/"):
        assert "bob" in shell.line("f=new; echo x > src/$f.txt").stderr
        assert shell.line("f=new; echo x > src/build/$f.o; echo x > lib/$f.txt").stderr == ""
    assert not (shell.root / "src/new.txt").exists()


@can_mount
def test_of_a_whole_tree_that_another_holds_git_and_what_it_ignores_can_be_written(shell: Shell) -> None:
    with held(shell, "./"):
        assert (
            shell.line("f=new; echo x > build/$f.o; git update-ref refs/heads/x HEAD; git branch -D x").returncode == 0
        )
        assert "holds ./ for" in shell.line("f=new; echo x > $f.txt").stderr


def test_a_subagent_is_not_kept_from_what_its_own_session_edits(shell: Shell) -> None:
    with shell.daemon.session("claude:s") as session:
        lease = session.acquire("src/use.py", acquisition_id=HELD_FOR_TURN).lease
        assert lease is not None
        for line in ("sed -i s/1/2/ src/use.py", "f=use; echo x >> src/$f.py"):
            done = shell.line(line, agent="claude:s/part")
            assert (done.returncode, done.stderr) == (0, "")
        session.release(lease.id)


def test_what_a_command_has_while_it_runs_keeps_no_other_from_it(shell: Shell) -> None:
    with running(shell, "echo a > src/both.txt") as end:
        until(lambda: read_if_there(shell.root / "src/both.txt") == "a\n")
        for line in ("echo b >> src/both.txt", "f=both; echo c >> src/$f.txt"):
            done = shell.line(line, agent="bob")
            assert (done.returncode, done.stderr) == (0, "")
        end()
    assert (shell.root / "src/both.txt").read_text() == "a\nb\nc\n"


def read_if_there(path: Path) -> str:
    return path.read_text() if path.exists() else ""


# Where neither mounts nor namespaces can be had: in a namespace that allows no other one, without that right.
UNABLE = (
    *("unshare", "--user", "--map-root-user", "bash", "-c"),
    'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-sys_admin "$@"',
    "bash",
)


@can_mount
def test_what_is_written_by_another_name_of_a_held_file_is_told(shell: Shell) -> None:
    """A file can be made read-only at one of its names alone."""
    os.link(shell.root / "README.md", shell.root / "alias.md")
    try:
        with held(shell, "README.md"):
            done = shell.line("f=alias; echo other > $f.md")
    finally:
        (shell.root / "alias.md").unlink()
    assert done.returncode == 0
    assert f"{SHORT} holds file:README.md" in done.stderr
    assert "gets a notice that you overwrote it" in done.stderr


@pytest.mark.parametrize("way", ["settings", "machine"])
def test_where_nothing_can_be_mounted_what_is_written_over_is_told_and_can_be_had_again(shell: Shell, way: str) -> None:
    before = (shell.root / "src/use.py").read_text()
    if way == "settings":
        (shell.root / "commonhold.toml").write_text('shell = "watch"\n')
    elif subprocess.run((*UNABLE, "true"), capture_output=True, check=False).returncode:
        pytest.skip("no such namespace can be had here")
    words = shell.words("bash", "-c", f"f=use; sed -i s/1/{len(way)}/ src/$f.py; echo x > src/new.txt; exit 3")
    with held(shell, "src/use.py"):
        outer = UNABLE if way == "machine" else ()
        done = subprocess.run((*outer, *words), cwd=shell.root, capture_output=True, text=True, check=False)
    assert (done.returncode, (shell.root / "src/new.txt").read_text()) == (3, "x\n")
    notice = f'{SHORT} holds file:src/use.py#show for "bob\'s work", and gets a notice that you overwrote it'
    assert notice in done.stderr
    assert "could not write" not in done.stderr
    back = re.search(r"restore it with `commonhold (show \S+ --to \S+)`", done.stderr)
    assert back
    assert (shell.root / "src/use.py").read_text() != before
    subprocess.run((sys.executable, "-m", "commonhold", *back[1].split()), cwd=shell.root, check=True)
    assert (shell.root / "src/use.py").read_text() == before


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
    assert '- bob holds src/use.py for "bob\'s work", for at most 30 min more' in done.stderr
    assert "Next: do other work, or wait until it is free, then run it again: commonhold acquire" in done.stderr
    assert not (shell.root / "build/ran").exists()


def test_names_that_no_key_can_have_are_written_and_not_told(shell: Shell) -> None:
    odd = b"build/../lib/\xff.txt"
    (Path(os.fsdecode(os.fsencode(shell.root) + b"/" + odd))).write_bytes(b"x")
    done = shell.line("echo x > $'lib/two\\nlines'; echo x > lib/one; rm lib/*.txt; ls lib")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "one\nother.py\ntwo\nlines\n")
    assert shell.commits()[-1] == ("ann", ["lib/one"], "")


def test_what_could_not_have_been_committed_is_recorded_and_left_for_review(shell: Shell) -> None:
    done = shell.line("echo 'def broken(:' >> src/prices.py")
    assert done.returncode == 0
    assert "recorded the command's writes, but would have refused them (PARSE_INVALID)" in done.stderr
    assert "commonhold review show found-" in done.stderr
    assert "broken" in (shell.root / "src/prices.py").read_text()
    holder, paths, unadmitted = shell.commits()[-1]
    assert (holder, paths) == ("ann", ["src/prices.py"])
    assert unadmitted.startswith("PARSE_INVALID")


@BESIDE
def test_exit_codes_and_streams_are_the_commands(shell: Shell, key: str) -> None:
    with held(shell, key) if key else nullcontext():
        exit_codes_and_streams(shell)


def exit_codes_and_streams(shell: Shell) -> None:
    done = subprocess.run(shell.words("cat"), cwd=shell.root, input=b"\0\xff", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"\0\xff")
    assert [shell.line(line).returncode for line in ("exit 7", "kill -KILL $$", "nosuchcommand")] == [7, 137, 127]
    assert shell.run("/nosuchcommand").returncode == 127
    assert shell.run("/").returncode == 126


def test_what_is_closed_early_ends_the_command_as_it_would_without_us(shell: Shell) -> None:
    done = shell.line("yes | head -1; echo ${PIPESTATUS[0]}")
    assert done.stdout == "y\n141\n"


@BESIDE
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command(shell: Shell, number: signal.Signals, key: str) -> None:
    words = shell.words(sys.executable, "-c", LISTEN)
    with (
        held(shell, key) if key else nullcontext(),
        subprocess.Popen(words, cwd=shell.root, stdout=subprocess.PIPE, start_new_session=True, text=True) as child,
    ):
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
    until(lambda: not is_alive(inner))
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


@can_mount
def test_a_command_inside_of_another_one_is_kept_from_the_same(shell: Shell) -> None:
    """An agent that a shell command of an agent starts has shell commands, too."""
    inner = shell.words("bash", "-c", "f=other; echo x > lib/mine.txt; echo x > lib/$f.py", agent="bob")
    with held(shell, "lib/other.py"):
        done = shell.line(f"f=x; echo x > lib/$f.txt; {shlex.join(inner)}")
    assert done.returncode == 1
    assert "lib/other.py: Read-only file system" in done.stderr
    assert (shell.root / "lib/mine.txt").read_text() == "x\n"


def test_two_at_once_are_each_told_their_own(shell: Shell) -> None:
    one = running(shell, "echo a > src/ann.txt")
    with one as end_one, running(shell, "echo b > lib/bob.txt", "bob") as end_other:
        until(lambda: (shell.root / "src/ann.txt").exists() and (shell.root / "lib/bob.txt").exists())
        end_one()
        end_other()
    assert shell.commits()[-2:] == [("ann", ["src/ann.txt"], ""), ("bob", ["lib/bob.txt"], "")]


def test_of_two_that_could_have_written_a_file_the_last_to_end_is_not_credited(shell: Shell, tmp_path: Path) -> None:
    """Neither writes before both have begun: what one wrote while it was alone is its own."""
    for each in ("1", "2"):
        lines = (
            f"touch {tmp_path}/begun-{each}",
            f"until [ -e {tmp_path}/go ]; do sleep 0.05; done",
            f"echo {each} > src/either-{each}.txt",
        )
        (tmp_path / f"{each}.sh").write_text("\n".join(lines) + "\n")
    one = running(shell, f"sh {tmp_path}/1.sh")
    with one as end_one, running(shell, f"sh {tmp_path}/2.sh", "bob") as end_other:
        until(lambda: (tmp_path / "begun-1").exists() and (tmp_path / "begun-2").exists())
        (tmp_path / "go").touch()
        until(lambda: (shell.root / "src/either-1.txt").exists() and (shell.root / "src/either-2.txt").exists())
        end_one()
        end_other()
    credited = {by for by, paths, _ in shell.commits() for path in paths if path.startswith("src/either")}
    assert credited <= {NOBODY}


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
    assert 'bob holds src/ for "bob\'s work"' in done.stderr


def test_git_goes_on_as_ever(shell: Shell) -> None:
    done = shell.line(
        "echo more >> README.md && git add README.md && git -c user.name=t -c user.email=t@x commit -qm more"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert shell.run("git", "status", "--short").stdout == ""
    assert shell.run("git", "log", "-1", "--format=%s").stdout == "more\n"


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


@can_mount
def test_no_daemon_begins_where_others_files_are_read_only(tmp_path: Path) -> None:
    """It would outlive the command, and could not write them for their holders."""
    root = make_repository(tmp_path / "work")
    (root / "held.txt").write_text("x\n")
    cli = (sys.executable, "-m", "commonhold")
    with serving(root) as daemon:
        with daemon.session("bob") as bob:
            bob.acquire("held.txt", task="bob's work")
        stop = shlex.join((*cli, "daemon", "stop"))
        start, ask = shlex.join((*cli, "daemon", "start")), shlex.join((*cli, "acquire", "new.txt"))
        environment = {**os.environ, "COMMONHOLD_DAEMON": "on", "COMMONHOLD_AGENT": "ann"}
        words = Shell(daemon).words("bash", "-c", f"f=x; echo > $f.txt; {stop}; {ask}; {start}")
        done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert not daemon.is_served
    assert "granted" in done.stdout
    assert "a daemon that began in this shell command could not write" in done.stderr


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
        "env": {"A": "é"},
        "masked": [],
        "kept": [],
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
    assert done.stderr.startswith("commonhold: git was run, but its end could not be reported: ")
    assert "Next: " in done.stderr
