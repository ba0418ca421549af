"""What a command of Codex's meets first: sourced by a real bash, with a program in place of the launcher."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.unit.client.guards import guarded, told

from commonhold.agents.codex_shell import variables

pytestmark = pytest.mark.slow

TOLD = ["-I", "-S", "{launcher}", "--codex", "/a socket", "block", "/a state", "/a root"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return guarded(tmp_path, "codex_guard.sh")


def ran(place: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The end of a bash that Codex would start for a call."""
    known = {
        "guard": str(place / "guard.sh"),
        "python": str(place / "python"),
        "launcher": str(place / "launch.py"),
        "socket": "/a socket",
        "when_down": "block",
        "state": "/a state",
        "root": "/a root",
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "CODEX_TOOL_CALL_ID": "call 1", **variables(known)}
    return subprocess.run(
        ["bash", *words], env=environment | more, cwd=place, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("flags", ["-c", "-lc"])
def test_the_launcher_gets_the_script_as_it_is(flags: str, place: Path) -> None:
    script = "printf '%s|' \"it's\" $#\nbash -c 'echo nested'; exit 5"
    done = ran(place, flags, script)
    assert (done.returncode, done.stdout) == (5, "it's|0|nested\n")
    assert told(place)[:8] == [word.format(launcher=place / "launch.py") for word in TOLD]
    shell, *rest = told(place)[8:]
    assert (Path(shell).name, rest) == ("bash", [flags, script])
    environment = (place / "python.env").read_text(encoding="utf-8")
    assert "COMMONHOLD" not in environment
    assert "BASH_ENV" not in environment


@pytest.mark.parametrize("more", [{"CODEX_TOOL_CALL_ID": ""}, {"SHLVL": "2"}])
def test_what_is_no_call_of_the_model_is_left_alone(more: dict[str, str], place: Path) -> None:
    """A command that its user types is no call, and what the user's profile starts is no shell of Codex's."""
    assert ran(place, "-c", "echo ran $COMMONHOLD_SOCKET", **more).stdout == "ran\n"
    assert not (place / "python.told").exists()


def test_a_script_in_a_file_is_left_alone(place: Path) -> None:
    (place / "script").write_text("echo ran $1 $BASH_ENV\n", encoding="utf-8")
    assert ran(place, "script", "word").stdout == "ran word\n"
    assert not (place / "python.told").exists()


@pytest.mark.parametrize("gone", ["python", "launch.py"])
def test_without_the_launcher_nothing_runs(gone: str, place: Path) -> None:
    (place / gone).unlink()
    done = ran(place, "-c", "touch ran")
    assert done.returncode == 126
    assert "Next: commonhold install" in done.stderr
    assert not (place / "ran").exists()
