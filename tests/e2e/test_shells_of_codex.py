"""Shell commands of Codex, started as it starts them: where they can ask, and where its sandbox lets them not."""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.daemon_process import serving
from tests.e2e.test_shells_of_agents import SESSION, WRITING, Place, can_mount, held, repository
from tests.patience import until

pytestmark = pytest.mark.slow
SHUT_OFF = Path(__file__).with_name("shut_off.py")
# As Codex 0.171.0 makes it, where it knows what the shell of its user has set up; that sets PATH again.
RESTORING = """\
__CODEX_SNAPSHOT_OVERRIDE_SET_0="${{BASH_ENV+x}}"
__CODEX_SNAPSHOT_OVERRIDE_0="${{BASH_ENV-}}"

if . {snapshot} >/dev/null 2>&1; then :; fi

if [ -n "${{__CODEX_SNAPSHOT_OVERRIDE_SET_0}}" ]; then export BASH_ENV="${{__CODEX_SNAPSHOT_OVERRIDE_0}}"
else unset BASH_ENV; fi

exec '{shell}' -c {command}"""
WAYS = pytest.mark.parametrize("is_shut_off", [False, True], ids=["open", "shut off"])


class Codex:
    """Codex in a repository with a daemon."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.root = place.root
        self.snapshot = place.home / "snapshot-bash-1.sh"

    def environment(self, part: str = "") -> dict[str, str]:
        """What a shell finds: what the settings say, and which call of which session it runs."""
        settings = tomllib.loads((self.root / ".codex/config.toml").read_text(encoding="utf-8"))
        inner = {"CODEX_SESSION_ID": SESSION, "CODEX_THREAD_ID": part or SESSION}
        call = {"CODEX_TOOL_CALL_ID": f"call-{self.place.calls}"}
        usual = {"PATH": os.environ["PATH"], "HOME": str(self.place.home)}
        chosen: dict[str, str] = settings["shell_environment_policy"]["set"]
        return usual | inner | call | chosen

    def shell(
        self, script: str, *, is_shut_off: bool, cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """What comes of a script in a shell that Codex starts."""
        running = self.started(script, is_shut_off=is_shut_off, cwd=cwd, **variables)
        output, complaint = running.communicate()
        return subprocess.CompletedProcess(running.args, running.returncode, output, complaint)

    def started(
        self, script: str, *, is_shut_off: bool, cwd: Path | None = None, **variables: str
    ) -> "subprocess.Popen[str]":
        """Such a shell, as it runs."""
        before = [sys.executable, str(SHUT_OFF)] if is_shut_off else []
        return subprocess.Popen(
            [*before, "bash", "-c", script],
            cwd=cwd or self.root,
            env=self.environment() | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def script(self, command: str, shell: str = "/bin/bash") -> str:
        return RESTORING.format(snapshot=shlex.quote(str(self.snapshot)), shell=shell, command=shlex.quote(command))

    def runs(
        self, command: str, *, is_shut_off: bool, shell: str = "/bin/bash", part: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """A command of its model: the hook before it, its shell, the hook after it."""
        self.place.calls += 1
        told = {"agent_id": part} if part else {}
        assert self.place.hook("codex", "PreToolUse", command, **told) is None
        done = self.shell(self.script(command, shell), is_shut_off=is_shut_off, CODEX_THREAD_ID=part or SESSION)
        answer = self.place.hook("codex", "PostToolUse", command, **told)
        self.place.told = json.dumps(answer, ensure_ascii=False).replace('\\"', '"')
        return done

    def put_back(self, text: str) -> None:
        """Write the notes as they were; the session hears of it now, and not in the next test."""
        (self.root / "notes.txt").write_text(text, encoding="utf-8")
        self.runs("true", is_shut_off=False)

    def left(self) -> list[Path]:
        """The files that hooks have left for launchers."""
        return list(Path(self.place.daemon.state, "foretold").iterdir())


@pytest.fixture(scope="module")
def codex(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codex]:
    root, home = tmp_path_factory.mktemp("codex") / "it's work", tmp_path_factory.mktemp("home")
    repository(root, home, "codex")
    with serving(root) as daemon:
        yield Codex(Place(daemon, home))


@WAYS
def test_a_command_is_its_subagents_and_ends_as_it_would(codex: Codex, *, is_shut_off: bool) -> None:
    command = f'cd src && echo "it\'s" | tee here{is_shut_off}.txt; bash -c \'echo "$BASH_ENV"\'; exit 3'
    done = codex.runs(command, is_shut_off=is_shut_off, part="part")
    assert (done.returncode, done.stdout, done.stderr) == (3, "it's\n\n", "")
    assert codex.place.commits()[-1] == (f"codex:{SESSION}/part", [f"src/here{is_shut_off}.txt"])
    assert codex.left() == []


@WAYS
@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
def test_alone_it_writes_what_it_likes(codex: Codex, shell: str, *, is_shut_off: bool) -> None:
    done = codex.runs("python3 -c \"open('made' + '.txt', 'a').write('x')\"", is_shut_off=is_shut_off, shell=shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert codex.place.commits()[-1] == (f"codex:{SESSION}", ["made.txt"])


@can_mount
def test_what_another_holds_it_cannot_write_where_that_can_be_mounted(codex: Codex) -> None:
    with held(codex.place, "notes.txt"):
        done = codex.runs(WRITING, is_shut_off=False)
        assert "ann holds notes.txt" in done.stderr
        beside = codex.runs("f=beside; echo x > $f.txt", is_shut_off=False)
    assert (beside.returncode, beside.stderr) == (0, "")


def test_in_its_own_sandbox_what_it_writes_over_is_told_by_the_hook_after(codex: Codex) -> None:
    before = (codex.root / "notes.txt").read_text(encoding="utf-8")
    with held(codex.place, "notes.txt"):
        done = codex.runs(WRITING, is_shut_off=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'ann holds file:notes.txt for "rework one", and gets a notice that you overwrote it' in codex.place.told
    codex.put_back(before)


def test_git_in_it_is_the_sessions_own_where_that_can_ask(codex: Codex) -> None:
    assert codex.runs("command -v git", is_shut_off=False).stdout.startswith(str(codex.place.daemon.state))
    shut_off = codex.runs("command -v git; git rev-parse --is-inside-work-tree", is_shut_off=True)
    assert not shut_off.stdout.startswith(str(codex.place.daemon.state))
    assert shut_off.stdout.endswith("true\n")


def test_what_goes_on_behind_is_seen_to_end_though_it_tells_nobody(codex: Codex) -> None:
    """No hook tells its end. What another command names meanwhile is that one's."""
    codex.place.calls += 1
    command = f"echo x > src/behind.txt; touch {codex.place.home}/begun; read -r < {codex.place.home}/end"
    os.mkfifo(codex.place.home / "end")
    codex.place.hook("codex", "PreToolUse", command)
    running = codex.started(codex.script(command), is_shut_off=True)
    until((codex.place.home / "begun").exists)
    (codex.root / "other").mkdir()
    assert codex.runs("echo x > other/another.txt", is_shut_off=True, part="another").returncode == 0
    assert codex.place.commits()[-1] == (f"codex:{SESSION}/another", ["other/another.txt"])
    (codex.place.home / "end").write_text("\n", encoding="utf-8")
    assert running.communicate() == ("", "")
    codex.place.hook("codex", "UserPromptSubmit", "")
    assert codex.place.commits()[-1] == (f"codex:{SESSION}", ["src/behind.txt"])
    codex.place.hook("codex", "Stop", "")
    assert codex.left() == []


def test_what_no_hook_has_told_of_is_the_sessions_or_is_not_run(codex: Codex, tmp_path: Path) -> None:
    codex.place.calls += 1
    assert codex.shell("echo x > untold.txt", is_shut_off=False).returncode == 0
    assert codex.place.commits()[-1] == (f"codex:{SESSION}", ["untold.txt"])
    done = codex.shell("echo x > never.txt", is_shut_off=True)
    assert done.returncode == 4
    assert "Next: trust Commonhold's hooks with /hooks" in done.stderr
    assert not (codex.root / "never.txt").exists()
    assert codex.shell("pwd", is_shut_off=True, cwd=tmp_path).stdout == f"{tmp_path}\n"
    allowed = codex.shell("echo ran", is_shut_off=True, COMMONHOLD_WHEN_DOWN="allow")
    assert (allowed.stdout, "without being watched over" in allowed.stderr) == ("ran\n", True)


def test_a_command_of_its_user_is_let_be(codex: Codex) -> None:
    done = codex.shell("command -v git; echo x >> notes.txt", is_shut_off=False, CODEX_TOOL_CALL_ID="")
    assert not done.stdout.startswith(str(codex.place.daemon.state))
    assert (codex.root / "notes.txt").read_text(encoding="utf-8") == "alpha\nx\n"
    codex.put_back("alpha\n")


@WAYS
def test_without_a_sandbox_it_is_only_watched(codex: Codex, *, is_shut_off: bool) -> None:
    for shell in ("watch", "off"):
        (codex.root / "commonhold.toml").write_text(f'shell = "{shell}"\n', encoding="utf-8")
        done = codex.runs("python3 -c \"open('notes' + '.txt', 'a')\"", is_shut_off=is_shut_off)
        assert (done.returncode, done.stderr) == (0, "")
    (codex.root / "commonhold.toml").unlink()
