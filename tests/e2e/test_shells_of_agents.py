"""Shell commands of agents: our program takes the place of some agents' shells, others are watched between hooks."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import GIT
from tests.e2e.daemon_process import Serving, serving

from commonhold.client import hook_program
from commonhold.client.launcher import LAUNCHER
from commonhold.kernel.events import Committed
from commonhold.kernel.keys import file_key
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.sandbox.probing import offered

pytestmark = pytest.mark.slow
SESSION = "00000000-0000-4000-8000-000000000001"
# As Claude Code 2.1.332 makes it; what it sources sets PATH again.
SCRIPT = (
    "source {home}/snapshot-bash-1.sh 2>/dev/null || true && {{ \\builtin shopt -u extglob || \\builtin setopt "
    "NO_EXTENDED_GLOB; }} >/dev/null 2>&1 || true && {{ \\builtin unalias -- 'which'; \\builtin unset -f -- 'which'; "
    "}} >/dev/null 2>&1 || true && eval {command} < /dev/null && pwd -P >| {home}/claude-1-cwd"
)
# As Gemini 0.61.0 makes it.
OF_GEMINI = """\
shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file={file}
(
  trap 'jobs -p > "$_bgpids_file"' EXIT
{command}
)
__code=$?
exit $__code"""
can_mount = pytest.mark.skipif(not offered().is_enforced, reason="nothing can be mounted here")
WRITING = "python3 -c \"open('notes' + '.txt', 'a').write('x')\""
RUNNING = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"


class Place:
    """A repository with a daemon in which Claude Code, Codex and Gemini were installed."""

    def __init__(self, daemon: Serving, home: Path) -> None:
        self.daemon = daemon
        self.root = daemon.root
        self.home = home
        self.calls = 0
        self.told = ""

    def hook(self, agent: str, event: str, command: str, **more: Any) -> Any:
        """What the hook of an event answers."""
        payload: dict[str, Any] = {
            "session_id": SESSION,
            "hook_event_name": event,
            "cwd": str(self.root),
            "tool_name": "Bash",
        }
        payload |= {"tool_input": {"command": command}, "tool_use_id": f"call-{self.calls}", **more}
        words = [
            sys.executable,
            "-I",
            "-S",
            hook_program.__file__,
            agent,
            http_address(str(self.daemon.state)),
            "block",
            "20",
        ]
        done = subprocess.run(words, input=json.dumps(payload).encode(), capture_output=True, check=True)
        return json.loads(done.stdout) if done.stdout else None

    def program(self, script: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """The program that the settings name, as Claude Code starts it."""
        settings = json.loads((self.root / ".claude/settings.local.json").read_text(encoding="utf-8"))
        line = f"{shlex.quote(settings['env']['CLAUDE_CODE_SHELL_PREFIX'])} {shlex.quote(script)}"
        inner = {"AI_AGENT": "claude-code_2-1-332_agent", "SHELL": "/bin/bash", "CLAUDE_CODE_SESSION_ID": SESSION}
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), **inner, **variables}
        return subprocess.run(
            ["bash", "-c", line], cwd=cwd or self.root, env=environment, capture_output=True, text=True, check=False
        )

    def claude(self, command: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        """A command of Claude Code's model: its hook, then its script."""
        self.calls += 1
        assert self.hook("claude", "PreToolUse", command, **more) is None
        return self.program(SCRIPT.format(home=self.home, command=shlex.quote(command)), cwd)

    def gemini(self, command: str, told: str = "", start: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """A command of Gemini's model: its hook, then its bash, both from one process unless `start` begins another."""
        more = {"tool_name": "run_shell_command", "tool_input": {"command": told or command}}
        assert self.hook("gemini", "BeforeTool", command, **more) is None
        done = self.shell_of_gemini(command, *start)
        self.hook("gemini", "AfterTool", command, **more)
        return done

    def shell_of_gemini(self, command: str, *start: str) -> subprocess.CompletedProcess[str]:
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GEMINI_CLI": "1"}
        variables["BASH_ENV"] = str(self.root / ".gemini/commonhold-shell")
        words = [*start, "bash", "-c", OF_GEMINI.format(file=shlex.quote(f"{self.home}/bgpids"), command=command)]
        return subprocess.run(words, cwd=self.root, env=variables, capture_output=True, text=True, check=False)

    def told_folder(self) -> str:
        return (self.home / "claude-1-cwd").read_text(encoding="utf-8").strip()

    def remove(self, path: str) -> None:
        """Remove a file, and let the daemon record that at once, so that no later test meets it."""
        (self.root / path).unlink()
        with self.daemon.session() as session:
            session.record_external_changes([path])

    def commits(self) -> list[tuple[str, list[str]]]:
        with self.daemon.session() as session:
            events = [each.event for each in session.log(after=0, limit=100_000)]
        return [(each.holder, [file.path for file in each.files]) for each in events if isinstance(each, Committed)]


def repository(root: Path, home: Path, *agents: str) -> None:
    """A repository in which these agents were installed."""
    (root / "src").mkdir(parents=True)
    (root / "src/app.py").write_text("def one():\n    return 1\n", encoding="utf-8")
    (root / "notes.txt").write_text("alpha\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run((*GIT, *words), cwd=root, check=True)
    (home / "snapshot-bash-1.sh").write_text("export PATH=/usr/local/bin:/usr/bin:/bin\n", encoding="utf-8")
    install = [sys.executable, "-m", "commonhold", "install", *agents, "--yes"]
    environment = os.environ | {"HOME": str(home), "BASH_ENV": "", "CODEX_HOME": ""}
    subprocess.run(install, cwd=root, env=environment, capture_output=True, check=True)


@contextmanager
def held(place: Place, path: str) -> Iterator[None]:
    """What another holds while the block lasts."""
    with place.daemon.session("ann") as ann:
        lease = ann.acquire(str(file_key(path)), task="rework one").lease
        assert lease is not None
        yield
        ann.release(lease.id)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root, home = tmp_path_factory.mktemp("shells") / "it's work", tmp_path_factory.mktemp("home")
    repository(root, home, "claude", "codex", "gemini")
    with serving(root) as daemon:
        yield Place(daemon, home)


def test_a_command_is_its_subagents_and_ends_as_it_would(place: Place) -> None:
    done = place.claude('cd src && echo "it\'s" | tee here.txt; exit 3', agent_id="part")
    assert (done.returncode, done.stdout) == (3, "it's\n")
    assert place.commits()[-1] == (f"claude:{SESSION}/part", ["src/here.txt"])
    assert place.claude("cd src").returncode == 0
    assert place.told_folder() == f"{place.root}/src"


def test_alone_it_writes_what_it_likes_wherever_it_runs(place: Place, tmp_path: Path) -> None:
    for cwd in (place.root, tmp_path):
        done = place.claude(f"touch {tmp_path}/out; f=made; echo x >> {shlex.quote(str(place.root))}/$f.txt", cwd)
        assert (done.returncode, done.stderr) == (0, "")
    assert place.commits()[-1] == (f"claude:{SESSION}", ["made.txt"])
    place.remove("made.txt")


@can_mount
def test_what_another_holds_it_cannot_write(place: Place) -> None:
    with held(place, "notes.txt"):
        done = place.claude(WRITING)
    assert done.returncode == 1
    assert "Read-only file system" in done.stderr
    assert 'ann holds notes.txt for "rework one"' in done.stderr


def test_git_in_it_is_the_sessions_own(place: Place) -> None:
    done = place.claude("command -v git")
    assert done.stdout.startswith(str(place.daemon.state))


def test_a_script_that_no_hook_has_told_of_is_the_sessions(place: Place) -> None:
    done = place.program(SCRIPT.format(home=place.home, command="'echo x > untold.txt'"))
    assert done.returncode == 0, done.stderr
    assert place.commits()[-1] == (f"claude:{SESSION}", ["untold.txt"])


def test_hooks_and_servers_of_the_user_pass(place: Place) -> None:
    own = "claude-code_2-1-332_harness"
    done = place.program("echo x >> notes.txt; exit 7", AI_AGENT=own)
    assert done.returncode == 7
    assert (place.root / "notes.txt").read_text(encoding="utf-8") == "alpha\nx\n"
    (place.root / "notes.txt").write_text("alpha\n", encoding="utf-8")
    script = SCRIPT.format(home=place.home, command=shlex.quote("command -v git"))
    assert place.program(script, AI_AGENT=own).stdout.startswith(str(place.daemon.state)), "that is a command's script"


def test_a_claude_that_names_no_session_runs_nothing(place: Place) -> None:
    done = place.program(SCRIPT.format(home=place.home, command="'touch ran'"), CLAUDE_CODE_SESSION_ID="")
    assert done.returncode == 126
    assert "commonhold: the command was not run" in done.stderr
    assert not (place.root / "ran").exists()


def test_where_its_python_is_gone_nothing_runs(place: Place) -> None:
    program = place.root / ".claude/commonhold-shell"
    text = program.read_text(encoding="utf-8")
    program.write_text(text.replace(sys.executable, "/nonexistent/python"), encoding="utf-8")
    try:
        done = place.program("touch ran")
    finally:
        program.write_text(text, encoding="utf-8")
    assert done.returncode == 126
    assert "Next: commonhold install" in done.stderr
    assert not (place.root / "ran").exists()


def test_a_command_of_geminis_is_its_sessions_and_ends_as_it_would(place: Place) -> None:
    pids = place.home / "bgpids"
    pids.unlink(missing_ok=True)
    # What goes on behind ends once the shell has written down that it does.
    behind = f"until [ -s {pids} ]; do sleep 0.02; done &"
    done = place.gemini(f'cat > "new one" <<X\nit\'s\nX\n{behind} command -v git; exit 3')
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith(str(place.daemon.state))
    assert pids.read_text(encoding="utf-8").strip().isdigit()
    assert place.commits()[-1] == (f"gemini:{SESSION}", ["new one"])


@pytest.mark.parametrize("told", ["echo x >> known.txt", 'bash -c "echo x >> known.txt"'])
def test_a_command_that_geminis_shell_comes_with_is_watched_no_more(told: str, place: Place) -> None:
    """As Gemini runs it, which takes a shell around a command off."""
    more = {"tool_name": "run_shell_command", "tool_input": {"command": told}}
    assert place.hook("gemini", "BeforeTool", "", **more) is None
    assert place.shell_of_gemini("echo x >> known.txt").returncode == 0
    (place.root / "later.txt").write_text("x\n", encoding="utf-8")
    place.hook("gemini", "AfterTool", "", **more)
    assert place.commits()[-1] == (f"gemini:{SESSION}", ["known.txt"])
    place.remove("later.txt")


@can_mount
def test_what_gemini_may_not_write_it_cannot_whichever_process_runs_it(place: Place) -> None:
    """A process that no hook came from is a holder of its own."""
    another = (sys.executable, "-c", RUNNING)
    with held(place, "notes.txt"):
        assert "ann holds notes.txt" in place.gemini(WRITING).stderr
        assert "ann holds notes.txt" in place.shell_of_gemini(WRITING, *another).stderr
    assert place.shell_of_gemini("echo x > by_another.txt", *another).returncode == 0
    holder, files = place.commits()[-1]
    assert files == ["by_another.txt"]
    assert holder.startswith("gemini:")
    assert holder != f"gemini:{SESSION}"


def test_what_gemini_keeps_in_its_own_sandbox_is_watched(place: Place, tmp_path: Path) -> None:
    (tmp_path / "bwrap").symlink_to(sys.executable)
    done = place.gemini("command -v git; echo x > kept.txt", start=(str(tmp_path / "bwrap"), "-c", RUNNING))
    assert not done.stdout.startswith(str(place.daemon.state))
    assert place.commits()[-1] == (f"gemini:{SESSION}", ["kept.txt"])


def test_what_an_agent_runs_itself_is_told_from_hook_to_hook(place: Place) -> None:
    place.calls += 1
    assert place.hook("codex", "PreToolUse", "make") is None
    (place.root / "made.txt").write_text("x\n", encoding="utf-8")
    place.hook("codex", "PostToolUse", "make")
    assert place.commits()[-1] == (f"codex:{SESSION}", ["made.txt"])


def test_a_call_that_the_launcher_comes_with_is_watched_no_more(place: Place) -> None:
    place.calls += 1
    assert place.hook("codex", "PreToolUse", "echo x > launched.txt") is None
    words = ["--call", f"call-{place.calls}", http_address(str(place.daemon.state)), f"codex:{SESSION}", "block"]
    command = ["bash", "-c", "echo x > launched.txt; exit 3"]
    done = subprocess.run([sys.executable, "-I", "-S", LAUNCHER, *words, *command], cwd=place.root, check=False)
    assert done.returncode == 3
    (place.root / "later.txt").write_text("x\n", encoding="utf-8")
    place.hook("codex", "PostToolUse", "echo x > launched.txt")
    assert place.commits()[-1] == (f"codex:{SESSION}", ["launched.txt"])
    place.remove("later.txt")


def test_what_it_plainly_must_not_write_is_refused_before(place: Place) -> None:
    with place.daemon.session("ann") as ann:
        lease = ann.acquire("src/app.py#one", task="rework one").lease
        assert lease is not None
        answer = place.hook("codex", "PreToolUse", "sed -i s/1/2/ src/app.py")
        ann.release(lease.id)
    output = answer["hookSpecificOutput"]
    assert output["permissionDecision"] == "deny"
    assert 'ann holds src/app.py for "rework one"' in output["permissionDecisionReason"]


def test_what_changed_while_a_command_waited_and_never_ran_is_laid_on_nobody(place: Place) -> None:
    place.calls += 1
    file = place.root / "read.txt"
    file.write_text("x\n", encoding="utf-8")
    with place.daemon.session("ann") as ann:
        ann.record_read("read.txt")
    assert place.hook("codex", "PreToolUse", "make") is None
    file.write_text("y\n", encoding="utf-8")
    place.hook("codex", "Stop", "")
    assert place.commits()[-1] == ("outside", ["read.txt"])
