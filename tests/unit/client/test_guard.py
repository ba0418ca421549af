"""What a command of OpenCode's meets first: sourced by a real bash, with a program in place of the launcher."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.unit.client.guards import guarded, told

pytestmark = pytest.mark.slow

TOLD = ["-I", "-S", "{launcher}", "--call", "call 1", "/a socket", "opencode:s/p", "block"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return guarded(tmp_path, "guard.sh")


def ran(place: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The end of a bash that this process starts, as the plugin has it."""
    variables = {
        "PATH": os.environ["PATH"],
        "BASH_ENV": "$COMMONHOLD_GUARD",
        "COMMONHOLD_GUARD": str(place / "guard.sh"),
        "COMMONHOLD_GUARDED": str(os.getpid()),
        "COMMONHOLD_PYTHON": str(place / "python"),
        "COMMONHOLD_LAUNCHER": str(place / "launch.py"),
        "COMMONHOLD_SOCKET": "/a socket",
        "COMMONHOLD_WHEN_DOWN": "block",
        "COMMONHOLD_HOLDER": "opencode:s/p",
        "COMMONHOLD_CALL": "call 1",
    }
    return subprocess.run(
        ["bash", *words], env=variables | more, cwd=place, capture_output=True, text=True, check=False
    )


def test_the_launcher_gets_the_command_as_it_is(place: Path) -> None:
    command = "printf '%s|' \"it's\" $#\nbash -c 'echo nested'; exit 5"
    done = ran(place, "-c", command)
    assert (done.returncode, done.stdout) == (5, "it's|0|nested\n")
    shell, *rest = told(place)[8:]
    assert told(place)[:8] == [word.format(launcher=place / "launch.py") for word in TOLD]
    assert (Path(shell).name, rest) == ("bash", ["-c", command])
    environment = (place / "python.env").read_text(encoding="utf-8")
    assert "COMMONHOLD" not in environment
    assert "BASH_ENV" not in environment


def test_the_users_own_file_is_read_as_without_us(place: Path) -> None:
    (place / "own").write_text("own=read\n", encoding="utf-8")
    own = {"COMMONHOLD_OWN_BASH_ENV": "$WHERE/own", "WHERE": str(place)}
    assert ran(place, "-c", 'echo "$own $BASH_ENV"', **own).stdout == "read $WHERE/own\n"
    assert len(told(place)) == 11
    (place / "script").write_text('echo "$own $1"\n', encoding="utf-8")
    assert ran(place, "script", "word", **own).stdout == "read word\n"


def test_a_shell_that_another_started_or_that_has_no_command_is_left_alone(place: Path) -> None:
    assert ran(place, "-c", "echo ran", COMMONHOLD_GUARDED="1").stdout == "ran\n"
    (place / "script").write_text("echo ran $1\n", encoding="utf-8")
    assert ran(place, "script", "word").stdout == "ran word\n"
    assert not (place / "python.told").exists()


@pytest.mark.parametrize("gone", ["python", "launch.py"])
def test_without_the_launcher_nothing_runs(gone: str, place: Path) -> None:
    (place / gone).unlink()
    done = ran(place, "-c", "touch ran")
    assert done.returncode == 126
    assert "Next: commonhold install" in done.stderr
    assert not (place / "ran").exists()
